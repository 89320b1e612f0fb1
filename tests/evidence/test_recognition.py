"""The table of formats and the choice among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.evidence import recognition
from podpath.evidence.recognition import FORMATS
from podpath.net.provenance import Source
from tests.evidence.consoles import RECORDED, block, load_console

EXPECTED = {
    "arp-an": "arp",
    "arp-n": "arp",
    "brctl-show": "brctl show",
    "brctl-showmacs": "brctl showmacs",
    "bridge-d-j-link": "bridge -j link",
    "bridge-d-link": "bridge link",
    "bridge-fdb": "bridge fdb",
    "bridge-fdb-br": "bridge fdb",
    "bridge-fdb-dev": "bridge fdb",
    "bridge-j-p-fdb": "bridge -j fdb",
    "bridge-link": "bridge link",
    "bridge-vlan": "bridge vlan",
    "ip-6-j-route": "ip -j route",
    "ip-6-route": "ip route",
    "ip-6-rule": "ip rule",
    "ip-addr": "ip addr",
    "ip-br-addr": "ip -br addr",
    "ip-br-link": "ip -br link",
    "ip-d-addr": "ip addr",
    "ip-d-j-link": "ip -j link",
    "ip-d-j-p-addr": "ip -j addr",
    "ip-d-j-p-link": "ip -j link",
    "ip-d-j-p-rule": "ip -j rule",
    "ip-d-j-route-all": "ip -j route",
    "ip-d-link": "ip link",
    "ip-d-route-all": "ip route",
    "ip-d-rule": "ip rule",
    "ip-j-addr": "ip -j addr",
    "ip-j-neigh": "ip -j neigh",
    "ip-j-p-route": "ip -j route",
    "ip-j-route": "ip -j route",
    "ip-j-rule": "ip -j rule",
    "ip-link": "ip link",
    "ip-neigh": "ip neigh",
    "ip-neigh-dev": "ip neigh",
    "ip-neigh-proxy": "ip neigh",
    "ip-o-addr": "ip addr",
    "ip-o-link": "ip link",
    "ip-o-route": "ip route",
    "ip-route": "ip route",
    "ip-route-all": "ip route",
    "ip-route-dev-eth0": "ip route",
    "ip-route-get": "ip route get",
    "ip-route-table-100": "ip route",
    "ip-rule": "ip rule",
    "ip-s-link": "ip link",
    "ip-s-neigh": "ip neigh",
    "ip-s-s-addr": "ip addr",
    "netstat-an": "ss",
    "netstat-rn": "route",
    "netstat-tlnp": "ss",
    "netstat-tulnpW": "ss",
    "proc-sys-cat": "sysctl",
    "proc-sys-cat-missing": "sysctl",
    "proc-sys-grep": "sysctl",
    "proc-sys-head": "sysctl",
    "route": "route",
    "route-6-n": "route",
    "route-n": "route",
    "ss-an": "ss",
    "ss-h": "ss",
    "ss-tln": "ss",
    "ss-tuln": "ss",
    "ss-tulnp": "ss",
    "sysctl-a": "sysctl",
    "sysctl-missing": "sysctl",
    "sysctl-n": "sysctl",
    "sysctl-one": "sysctl",
}
NEEDS_COMMAND = {"proc-sys-cat", "sysctl-n"}
"""Values without names: only the command tells what they are."""


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.txt")), ids=lambda path: path.stem)
def test_outputs_are_recognised_by_their_content(path: Path) -> None:
    """With the command that printed it, and without."""
    source = load_console(path)
    bare = Source(name="ticket.md", lines=source.lines)

    found = [
        recognition.recognise(one)
        for one in ((source,) if path.stem in NEEDS_COMMAND else (source, bare))
    ]

    assert {EXPECTED[path.stem]} == {one.name for one in found if one is not None}
    assert None not in found


def test_formats_have_names_of_their_own() -> None:
    """A name is how a source says what it is."""
    assert len(FORMATS) == len({row.name for row in FORMATS})


PROSE = (
    "We noticed this after the upgrade: pods on the node cannot reach the gateway any more.",
    "The default route points via eth0, which is fine.",
    "1. first, look at eth0: it is up\n2. then look at the routes",
    "Hi all,\n\nthanks for looking into this. Our nodes run 5.4 and flannel.\n\nBest,\nAnna",
    "- restart kubelet\n- check the iptables rules\n- send me 10.0.0.1's logs",
    "Version: 1.2.3\nStatus: open\nPriority: 5",
    "| node | state |\n|------|-------|\n| a    | UP    |",
    "for i in 1 2 3; do\n  echo $i\ndone",
    '{"name": "web", "port": 80}',
    "数据链路为: 容器 eth0 → 宿主机 lxcabcd",
    "",
    "   \n\n",
    "...",
)


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_not_evidence(text: str) -> None:
    """What people write around their evidence is recognised as nothing, and not read."""
    assert (None, None) == (recognition.recognise(block(text)), recognition.read(block(text)))


def test_a_command_alone_does_not_make_its_output() -> None:
    """What the shell or the tool refused is no output of the format."""
    for command, text in (
        ("ip route", "-bash: ip: command not found"),
        ("ip addr show dev eth9", 'Device "eth9" does not exist.'),
        ("route -n", "sudo: route: command not found"),
        ("ip -j route", "Error: argument is wrong"),
    ):
        found = recognition.recognise(block(text, command))
        assert found is None or found.name not in EXPECTED.values()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ip -d -j link", "ip -j link"),
        ("ip -j addr show dev eth0", "ip -j addr"),
        ("ip -6 -j route", "ip -j route"),
        ("ip -j rule", "ip -j rule"),
        ("ip -j neigh", "ip -j neigh"),
        ("bridge -j link", "bridge -j link"),
        ("bridge -j fdb", "bridge -j fdb"),
        ("bridge -j vlan", "bridge -j vlan"),
    ],
)
@pytest.mark.parametrize("text", ["[]", "[ ]", "[{},{}]", "[ {\n    },{\n    } ]"])
def test_an_empty_listing_is_what_its_command_asks_for(command: str, name: str, text: str) -> None:
    """JSON without a member looks alike for all; that it is empty is an answer."""
    found = recognition.recognise(block(text, command))

    assert found is not None
    assert (name, ()) == (found.name, found.read(block(text, command)).gaps)


@pytest.mark.parametrize("copies", [1, 3])
def test_leading_blanks_do_not_matter(copies: int) -> None:
    """A block that a document indents is recognised alike."""
    for name, expected in EXPECTED.items():
        source = load_console(RECORDED / f"{name}.txt")
        indented = Source(
            name="ticket.md",
            lines=tuple("    " * copies + line for line in source.lines),
            command=source.command,
        )
        found = recognition.recognise(indented)
        assert (name, expected) == (name, found.name if found is not None else None)
