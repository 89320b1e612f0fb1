"""Tests for what conntrack makes of packets at the hooks."""

from __future__ import annotations

import pytest

from podpath.datapath.conntrack.connection import Template, Zone
from podpath.datapath.netfilter.tracking import attach_answer, conntrack_table
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.datapath.vocabulary import CtInfo
from podpath.datapath.walk.skb import attached, is_untouched
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.report.sentences import spell_reason
from podpath.xtables.matches.conntrack import packet_state
from tests.datapath.given import Given, Sender, echo, given, given_rules, tcp, udp

SYN, ACK = protocols.SYN, protocols.ACK
TRACKED = given_rules("FORWARD -m conntrack --ctstate NEW")
POD, SERVER = "10.244.0.5", "198.51.100.7"


def states(node: Given, *packets: tuple[Packet, str, str]) -> list[str]:
    """Return what each packet is to conntrack, one after another through the router."""
    sender = Sender(node)
    return [sender.forward(packet, iif=iif, oif=oif)[1].ctinfo for packet, iif, oif in packets]


def out(packet: Packet) -> tuple[Packet, str, str]:
    """Send a packet from the pods to the world."""
    return packet, "cni0", "eth0"


def back(packet: Packet) -> tuple[Packet, str, str]:
    """Send a packet from the world to the pods."""
    return packet, "eth0", "cni0"


def test_packets_of_a_connection_are_new_then_established() -> None:
    """The first packet is NEW, its answer and all later ones ESTABLISHED."""
    assert ["NEW", "NEW", "ESTABLISHED", "ESTABLISHED"] == states(
        given(TRACKED), out(udp()), out(udp()), back(udp(SERVER, POD, 53, 40000)), out(udp())
    )


def test_gre_that_was_answered_is_assured() -> None:
    """By the packet after the first answer, whichever way that goes (nf_conntrack_gre_packet)."""
    sender = Sender(given(TRACKED))
    there = udp()._replace(protocol=protocols.GRE, sport=0, dport=0)
    again = there._replace(src=there.dst, dst=there.src)
    ways = ((there, "cni0", "eth0"), (again, "eth0", "cni0"), (again, "eth0", "cni0"))
    seen = []
    for packet, iif, oif in ways:
        connection = attached(sender.forward(packet, iif=iif, oif=oif)[1])
        assert connection is not None
        seen.append(connection.assured)

    assert [False, False, True] == seen


def test_without_conntrack_nothing_is_tracked() -> None:
    """Where no rule needs conntrack, packets have no state."""
    assert [""] == states(given(given_rules("FORWARD -p tcp")), out(tcp()))


def test_a_dropped_first_packet_leaves_no_entry() -> None:
    """Only a packet that gets through confirms its connection."""
    sender = Sender(given(given_rules("FORWARD -m conntrack --ctstate NEW -j DROP")))
    sender.forward(tcp())

    assert [] == list(conntrack_table(sender.walk, sender.given.netns))


def test_an_error_is_related_to_what_it_quotes() -> None:
    """An ICMP error belongs to the connection of the packet inside it, if it went to that
    connection's sender.
    """
    error = Packet(
        Address.parse("198.51.100.1"), Address.parse(POD), 1, icmp_type=3, icmp_code=1, quoted=tcp()
    )
    stray = error._replace(dst=Address.parse("10.244.0.6"))
    unknown = error._replace(quoted=tcp(dport=9))
    bare = error._replace(quoted=None)

    assert ["NEW", "RELATED", "INVALID", "INVALID", "INVALID"] == states(
        given(TRACKED), out(tcp()), back(error), back(stray), back(unknown), back(bare)
    )


def test_an_error_about_an_untracked_packet_has_a_state_and_no_connection() -> None:
    """Rules call it invalid, and NOTRACK leaves it alone."""
    sender = Sender(given(TRACKED))
    cause, error = sender.skb(udp()), sender.skb(echo())
    cause.ctinfo = CtInfo.UNTRACKED
    attach_answer(error, cause)

    assert ("INVALID", False) == (packet_state(error), is_untouched(error))


def test_echo_replies_need_a_request() -> None:
    """An answer without its question is invalid."""
    assert ["INVALID", "NEW", "ESTABLISHED"] == states(
        given(TRACKED),
        back(echo(SERVER, POD, reply=True)),
        out(echo()),
        back(echo(SERVER, POD, reply=True)),
    )


def test_neighbour_discovery_is_untracked() -> None:
    """ICMPv6's own messages pass conntrack by; its errors and echoes do not."""
    here, there = Address.parse("fd00::5"), Address.parse("fd00::7")
    node = given(given_rules("FORWARD -m conntrack --ctstate NEW"), family=6)
    solicitation = Packet(here, there, protocols.ICMPV6, icmp_type=135)
    request = Packet(here, there, protocols.ICMPV6, 7, 7, icmp_type=128)
    answer = Packet(there, here, protocols.ICMPV6, 7, 7, icmp_type=129)
    error = Packet(there, here, protocols.ICMPV6, icmp_type=1, quoted=request)

    assert ["UNTRACKED", "NEW", "ESTABLISHED", "RELATED"] == states(
        node, out(solicitation), out(request), back(answer), back(error)
    )


def test_neighbour_discovery_loses_what_a_ct_target_hung_on_it() -> None:
    """After conntrack no match finds an entry on it, whatever zone a rule asked for."""
    sender = Sender(given(given_rules("FORWARD -m conntrack --ctstate NEW"), family=6))
    here, there = Address.parse("fd00::5"), Address.parse("fd00::7")
    skb = sender.skb(Packet(here, there, protocols.ICMPV6, icmp_type=136))
    skb.template = Template(Zone(5))
    sender.send(skb, "PREROUTING")

    assert (None, CtInfo.UNTRACKED) == (attached(skb), skb.ctinfo)


def test_bad_checksums_are_invalid_where_packets_come_in() -> None:
    """The checksum is looked at in PREROUTING, unless nf_conntrack_checksum is 0."""
    broken = tcp()._replace(bad_checksum=True)
    lenient = given(TRACKED, sysctls={"net.netfilter.nf_conntrack_checksum": "0"})

    assert (["INVALID"], ["NEW"]) == (
        states(given(TRACKED), out(broken)),
        states(lenient, out(broken)),
    )


def test_an_entry_of_the_evidence_is_used_and_quoted() -> None:
    """A packet of a connection in the evidence is ESTABLISHED at once, and its step quotes the
    entry.
    """
    span = Span(Source(name="conntrack.txt", lines=("tcp 6 ...",)), 1, 1)
    one, two = Address.parse(POD), Address.parse(SERVER)
    entry = ConntrackEntry(
        original=ConnTuple(one, two, 6, 40000, 80), reply=ConnTuple(two, one, 6, 80, 40000),
        state="ESTABLISHED", replied=True, span=span,
    )  # fmt: skip
    sender = Sender(given(conntrack=(entry,)))
    skb = sender.skb(tcp(flags=ACK))
    sender.send(skb, "PREROUTING")

    assert ("ESTABLISHED", (span,)) == (skb.ctinfo, sender.walk.trace.steps[0].spans)


def test_a_udp_entry_of_the_evidence_is_assured_by_its_next_packet() -> None:
    """It is older than the two seconds that the kernel waits; one that nobody answered is not."""
    one, two = Address.parse(POD), Address.parse(SERVER)
    ends = ConnTuple(one, two, 17, 40000, 53), ConnTuple(two, one, 17, 53, 40000)
    for replied in (True, False):
        span = Span(Source(name="conntrack.txt", lines=("udp 17 ...",)), 1, 1)
        entry = ConntrackEntry(original=ends[0], reply=ends[1], replied=replied, span=span)
        sender = Sender(given(conntrack=(entry,)))
        skb = sender.skb(Packet(one, two, 17, 40000, 53))
        sender.send(skb, "PREROUTING")

        assert skb.connection is not None
        assert replied is skb.connection.assured


def test_loopback_keeps_its_connection() -> None:
    """A packet that comes back over lo is not looked up again."""
    sender = Sender(given(given_rules("OUTPUT -m conntrack --ctstate NEW")))
    skb = sender.skb(udp("192.0.2.1", "192.0.2.1"), iif=None, oif="lo")
    sender.send(skb, "OUTPUT", "POSTROUTING")
    connection = skb.connection
    sender.send(skb, "PREROUTING")

    assert connection is skb.connection
    assert [] == sender.walk.trace.steps


def test_a_template_puts_the_packet_into_a_zone() -> None:
    """What a CT target hung on the packet decides where its connection is looked up."""
    sender = Sender(given(TRACKED))
    skb = sender.skb(tcp())
    skb.template = Template(Zone(9), "ftp")
    sender.send(skb, "PREROUTING")

    assert skb.connection is not None
    assert (Zone(9), "ftp") == (skb.connection.zone, skb.connection.helper)


@pytest.mark.parametrize("count", ["262144", "262131"])
def test_a_full_table_turns_new_connections_away_or_not(count: str) -> None:
    """Where the evidence counts as many entries as may be, or nearly, a new connection forks:
    dropped, or another one goes.
    """
    limits = {"count": count, "max": "262144"}
    node = given(
        TRACKED,
        sysctls={f"net.netfilter.nf_conntrack_{key}": value for key, value in limits.items()},
    )

    def run(choices: Choices) -> tuple[str, str, int]:
        sender = Sender(node, choices)
        verdict, _ = sender.forward(tcp())
        first = sender.walk.trace.steps[0]
        quoted = sum("nf_conntrack_" in span.text for span in first.spans)
        return type(verdict).__name__, spell_reason(first.reason), quoted

    assert [
        ("Drop", "nf_conntrack: table full, dropping packet", 2),
        ("Accept", "tcp 10.244.0.5:40000 > 198.51.100.7:80", 0),
    ] == list(explore(run).results)


def test_a_clash_at_the_end_drops_the_packet() -> None:
    """Two first packets with one tuple: the one that comes second to its end is dropped, but for
    UDP.
    """
    for make, kind in ((tcp, "Drop"), (udp, "Accept")):
        sender = Sender(given(TRACKED))
        first, second = (sender.skb(make(), iif="cni0", oif="eth0") for _ in range(2))
        for skb in (first, second):
            sender.send(skb, "PREROUTING", "FORWARD")
        sender.send(first, "POSTROUTING")

        assert kind == type(sender.send(second, "POSTROUTING")).__name__


def test_only_confirmed_connections_are_found_again() -> None:
    """A retransmitted first packet is NEW, whether the first one was confirmed or not."""
    sender = Sender(given(TRACKED))
    for _ in range(2):
        skb = sender.skb(tcp(), iif="cni0", oif="eth0")
        sender.send(skb, "PREROUTING", "FORWARD")

    assert "NEW" == skb.ctinfo


@pytest.mark.parametrize(
    ("protocol", "state"), [(protocols.TCP, "CLOSE"), (protocols.ICMP, "SYN_SENT")]
)
def test_an_answer_carries_the_connection_of_what_it_answers(protocol: int, state: str) -> None:
    """A reset or error goes the other way of the rejected packet's connection; a reset closes
    it.
    """
    sender = Sender(given(TRACKED))
    _, cause = sender.forward(tcp())
    answer = sender.skb(Packet(Address.parse(SERVER), Address.parse(POD), protocol), iif=None)
    attach_answer(answer, cause)

    assert cause.connection is not None
    assert (cause.connection, "RELATED", True, state) == (
        answer.connection,
        answer.ctinfo,
        answer.reply,
        cause.connection.state,
    )
