"""What an iptables command asked for."""

from __future__ import annotations

import pytest

from podpath.evidence.iptables.command import IptablesCommand, parse_iptables_command
from podpath.net.provenance import Source


def asked(command: str | None, name: str = "ticket.md") -> IptablesCommand:
    """Read a command line."""
    return parse_iptables_command(Source(name=name, lines=(), command=command))


@pytest.mark.parametrize(
    ("command", "action", "table", "chain", "family"),
    [
        ("iptables -t filter -nvL FORWARD", "L", "filter", "FORWARD", 4),
        ("iptables -nvL -t nat", "L", "nat", None, 4),
        ("sudo /sbin/iptables --table=mangle --list-rules", "S", "mangle", None, 4),
        ("iptables -tnat -S PREROUTING", "S", "nat", "PREROUTING", 4),
        ("ip6tables -L", "L", "filter", None, 6),
        ("ip netns exec pod ip6tables-save -c", "save", None, None, 6),
        ("nsenter -t 4711 -n iptables-save -t raw", "save", "raw", None, 4),
        (
            "kubectl exec -n kube-system kube-proxy-7xk2p -- iptables -w 5 -L INPUT 3 -n",
            "L",
            "filter",
            "INPUT",
            4,
        ),
        ("cat /etc/iptables/rules.v4", "", None, None, None),
        (None, "", None, None, None),
    ],
)
def test_table_and_chain_are_found(
    command: str | None, action: str, table: str | None, chain: str | None, family: int | None
) -> None:
    """Options stand in any order, together or apart, behind any wrapper; listings are of filter
    unless told.
    """
    found = asked(command)

    assert (found.action, found.shown_table, found.chain, found.family) == (
        action,
        table,
        chain,
        family,
    )


@pytest.mark.parametrize(
    ("program", "flavour"),
    [("iptables-legacy-save", "legacy"), ("ip6tables-nft", "nft"), ("iptables", None)],
)
def test_the_program_may_say_the_flavour(program: str, flavour: str | None) -> None:
    """Plain `iptables` is one or the other."""
    assert asked(f"{program} -S").flavour == flavour


@pytest.mark.parametrize(
    ("command", "filtered"),
    [
        ("iptables-save", False),
        ("iptables-save | tee rules.txt | less", False),
        ("iptables-save | grep -v LOG", True),
        ("iptables -nvL | head -20", True),
        ("iptables-save | sort", True),
    ],
)
def test_filters_are_told_from_pagers(command: str, filtered: bool) -> None:  # noqa: FBT001  # a table's column
    """What leaves lines out, or moves them, shows a part."""
    assert asked(command).filtered is filtered


def test_one_rule_asked_for_is_seen() -> None:
    """`iptables -L INPUT 3` prints one rule of the chain."""
    assert (asked("iptables -nvL INPUT 3").number, asked("iptables -nvL INPUT").number) == (3, None)


@pytest.mark.parametrize(
    ("name", "program", "family", "flavour"),
    [
        ("bundle/netns/host/iptables-save.txt", "iptables-save", 4, None),
        ("bundle/netns/pod/ip6tables-legacy-save.txt", "ip6tables-legacy-save", 6, "legacy"),
        ("node1.iptables-nft-save", "iptables-nft-save", 4, "nft"),
        ("ticket.md", "", None, None),
    ],
)
def test_a_file_name_stands_for_the_command(
    name: str, program: str, family: int | None, flavour: str | None
) -> None:
    """Collected files are named after what printed them."""
    found = asked(None, name)

    assert (found.program, found.family, found.flavour) == (program, family, flavour)
