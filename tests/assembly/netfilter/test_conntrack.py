"""Outputs of conntrack to entries."""

from __future__ import annotations

import pytest

from podpath.assembly.netfilter.conntrack import ConntrackAssembly, assemble_conntrack
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.netfilter import ConnTuple
from tests.assembly.evidence_text import Output, read_outputs

SYN = (
    "tcp      6 118 SYN_SENT src=10.0.0.1 dst=10.96.0.9 sport=53084 dport=80 [UNREPLIED] "
    "src=10.244.1.7 dst=10.0.0.1 sport=8080 dport=53084 mark=16384 zone=3 use=1"
)


def conntrack(*outputs: Output) -> ConntrackAssembly:
    """Put outputs together."""
    return assemble_conntrack(read_outputs(*outputs))


def way(src: str, dst: str, protocol: int, sport: int, dport: int) -> ConnTuple:
    """Make one direction."""
    return ConnTuple(Address.parse(src), Address.parse(dst), protocol, sport, dport)


def test_an_entry_is_translated() -> None:
    """Both directions, state, mark and zone."""
    (entry,) = conntrack(Output("conntrack -L", SYN)).listing.items

    assert entry.original == way("10.0.0.1", "10.96.0.9", protocols.TCP, 53084, 80)
    assert entry.reply == way("10.244.1.7", "10.0.0.1", protocols.TCP, 8080, 53084)
    assert (entry.state, entry.replied, entry.mark, entry.zone, entry.timeout) == (
        "SYN_SENT",
        False,
        0x4000,
        3,
        118,
    )


def test_an_assured_entry_stays_one() -> None:
    """By it is known that both ends went on with a stream of UDP."""
    line = (
        "udp 17 118 src=10.244.0.2 dst=10.96.0.9 sport=5353 dport=53 "
        "src=10.244.2.7 dst=10.244.0.2 sport=8080 dport=5353 [ASSURED] mark=0 use=1 id=3136"
    )
    plain = line.replace(" [ASSURED]", "").replace("5353", "5354")

    first, second = conntrack(Output("conntrack -L", f"{line}\n{plain}")).listing.items

    assert (first.assured, second.assured) == (True, False)
    assert first.replied


@pytest.mark.parametrize(
    ("command", "complete"),
    [
        ("conntrack -L", True),
        ("conntrack -L -o extended,id", True),
        ("cat /proc/net/nf_conntrack", True),
        ("conntrack -L | grep 10.96.0.9", False),
        ("conntrack -L -p tcp", False),
        ("conntrack -L -s 10.0.0.1", False),
        (None, False),
    ],
)
def test_only_a_listing_of_all_entries_lists_all(command: str | None, complete: bool) -> None:  # noqa: FBT001  # a column
    """Anything that narrows it leaves connections out."""
    assert conntrack(Output(command, SYN)).listing.complete is complete


def test_an_empty_table_is_one() -> None:
    """conntrack says how many entries it showed."""
    found = conntrack(
        Output(
            "conntrack -L", "conntrack v1.4.7 (conntrack-tools): 0 flow entries have been shown."
        )
    )

    assert (found.listing.items, found.listing.complete) == ((), True)


def test_an_echo_has_its_identifier_for_ports() -> None:
    """ICMP has no ports; conntrack compares the identifier."""
    text = (
        "icmp 1 29 src=10.0.0.1 dst=10.0.0.2 type=8 code=0 id=77 src=10.0.0.2 dst=10.0.0.1 type=0 "
        "code=0 id=77 mark=0 use=1"
    )
    (entry,) = conntrack(Output("conntrack -L", text)).listing.items

    assert (entry.original.sport, entry.original.dport, entry.reply.sport) == (77, 77, 77)


def test_a_missing_reply_mirrors_the_original() -> None:
    """With a gap that says so."""
    found = conntrack(Output("conntrack -L", SYN.partition(" src=10.244")[0]))

    assert found.listing.items[0].reply == way("10.96.0.9", "10.0.0.1", protocols.TCP, 80, 53084)
    assert [gap.why for gap in found.gaps] == [
        "the reply direction is not all there: taken to mirror the original one"
    ]


def test_a_connection_without_its_ports_is_a_gap() -> None:
    """No packet could be told to be of it."""
    found = conntrack(Output("conntrack -L", SYN.replace("sport=53084", "sport=XXXXX", 1)))

    assert found.listing.items == ()
    assert [gap.why for gap in found.gaps] == ["the ports of the connection are not all there"]


def test_one_connection_is_one_entry() -> None:
    """Two outputs some seconds apart show it twice; later and other hosts' outputs do not count
    beside them.
    """
    found = conntrack(
        Output("conntrack -L", SYN, label="On a good host:"),
        Output("conntrack -L", SYN.replace("118", "90")),
        Output("conntrack -L", SYN),
        Output("conntrack -L", SYN.replace("53084", "53085"), label="After the fix:"),
    )

    assert [(entry.original.sport, entry.timeout) for entry in found.listing.items] == [(53084, 90)]
