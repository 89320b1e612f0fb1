"""The program behind sudo, nsenter, kubectl exec and pipes."""

from __future__ import annotations

import pytest

from podpath.evidence.commands.command import (
    Command,
    asked_object,
    expand_braces,
    parse_command,
    parse_family,
)
from podpath.net.provenance import Source


@pytest.mark.parametrize(
    ("text", "program", "arguments", "netns"),
    [
        ("ip route", "ip", ("route",), None),
        ("sudo -u root /sbin/ip -4 route", "ip", ("-4", "route"), None),
        ("ip netns exec blue sysctl -a", "sysctl", ("-a",), "blue"),
        ("ip -n blue addr", "ip", ("addr",), "blue"),
        ("nsenter -t 4711 -n ip r", "ip", ("r",), "pid 4711"),
        ("nsenter --net=/proc/29080/ns/net arp -n", "arp", ("-n",), "pid 29080"),
        ("nsenter --net=/var/run/netns/cni-1234 route -n", "route", ("-n",), "cni-1234"),
        ("nsenter -t 1 -m lsmod", "lsmod", (), None),
        ("kubectl -n kube-system exec -it pod/cilium-x -c agent -- ip rule", "ip", ("rule",), None),
        (
            "docker exec web cat /proc/sys/net/ipv4/ip_forward",
            "cat",
            ("/proc/sys/net/ipv4/ip_forward",),
            "container web",
        ),
        ("bash -c 'sysctl -n net.ipv4.ip_forward'", "sysctl", ("-n", "net.ipv4.ip_forward"), None),
        ("LANG=C ip -br a", "ip", ("-br", "a"), None),
        ("ip a; ip r", "ip", ("a",), None),
        ("ip route 2>&1", "ip", ("route",), None),
        ("kubectl -n shop exec web-0 -- ip a", "ip", ("a",), "pod/shop/web-0"),
        ("ip netns exec blue bash", "", (), "blue"),
        ("", "", (), None),
        (None, "", (), None),
    ],
)
def test_the_program_that_printed_is_found(
    text: str | None, program: str, arguments: tuple[str, ...], netns: str | None
) -> None:
    """Wrappers are taken off, and where they enter a namespace they name it."""
    assert Command(program, arguments, (), netns) == parse_command(text)


def test_filters_are_kept() -> None:
    """What the output was piped through says that it may be a part."""
    assert (("grep", "-B1", "a b"), ("head",)) == parse_command(
        'ip l | grep -B1 "a b" | head'
    ).filters


def test_an_option_is_the_word_behind_its_name() -> None:
    """`dev eth0` is found wherever it stands."""
    command = parse_command("ip route show table 100 dev eth0")

    assert ("100", "eth0", None) == (
        command.option("table"),
        command.option("dev", "oif"),
        command.option("via"),
    )


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("ip r", ("route", ())),
        ("ip -4 -d route show table 100", ("route", ("table", "100"))),
        ("ip -f inet6 a s dev eth0", ("address", ("dev", "eth0"))),
        ("bridge -j fdb show br cni0", ("fdb", ("br", "cni0"))),
        ("ip monitor", None),
        ("ip", None),
        ("route -n", None),
        ("", None),
    ],
)
def test_the_object_of_ip_and_its_selectors_are_told(text: str, asked: object) -> None:
    """Abbreviations are those that ip(8) takes."""
    assert asked == asked_object(parse_command(text))


@pytest.mark.parametrize(
    ("command", "name", "family"),
    [
        ("ip -6 route", "x", 6),
        ("ip -f inet6 rule", "x", 6),
        ("ip -4 addr", "x", 4),
        ("ip6tables -S", "x", 6),
        ("ip route", "x", None),
        (None, "b/ip6-route.json", 6),
        (None, "b/ip-route.json", 4),
        (None, "ticket.md", None),
    ],
)
def test_the_family_is_told_by_the_command_or_the_file(
    command: str | None, name: str, family: int | None
) -> None:
    """Where neither says it, it is unknown."""
    assert family == parse_family(Source(name=name, lines=(), command=command))


def test_braces_stand_for_words() -> None:
    """Each part in its order, and those of each further pair of braces within it."""
    assert list(expand_braces("conf/{all,eth0}/{a,b}")) == [
        "conf/all/a",
        "conf/all/b",
        "conf/eth0/a",
        "conf/eth0/b",
    ]
    assert list(expand_braces("a{b}c")) == ["a{b}c"]
