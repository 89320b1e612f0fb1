"""The two tours of docs/architecture.md: a line of `iptables-save` and a probe go through the
functions that it names, in that order.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType

import pytest

import podpath
from podpath.library.given import Pasted

ROOT = Path(__file__).resolve().parents[1]
STOP = re.compile(r"^\| `(?P<room>\w+)\.(?P<name>[\w.]+)` \|", re.MULTILINE)
WAITING = ("iptables.rule_line.parse_rule_line", "netfilter.rules.assemble_rule")
"""Stops that are made by a lazy sequence when a packet comes to its chain."""
RULE = "-A FORWARD -s 10.1.0.0/24 -p tcp -m tcp --dport 80 -j DROP"
TICKET = f"""Pods cannot reach 203.0.113.9.

```
$ ip -br addr
eth0             UP             192.0.2.2/24
eth1             UP             10.1.0.1/24
$ ip route
default via 192.0.2.1 dev eth0
10.1.0.0/24 dev eth1 proto kernel scope link src 10.1.0.1
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.2
$ sysctl net.ipv4.ip_forward net.ipv4.conf.all.rp_filter
net.ipv4.ip_forward = 1
net.ipv4.conf.all.rp_filter = 0
$ iptables-save
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
{RULE}
COMMIT
```
"""
PROBE = "tcp 10.1.0.2 > 203.0.113.9:80 in eth1"


def list_tours() -> Iterator[list[tuple[str, str]]]:
    """Yield the stops of each tour, as room and function."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## One line and one probe")[2].partition("\n## ")[0]
    for tour in section.split("\nWhat becomes of ")[1:]:
        yield [(stop["room"], stop["name"]) for stop in STOP.finditer(tour)]


@pytest.fixture(scope="module")
def called() -> tuple[dict[str, int], str]:
    """Return when each function of podpath was first called by a diagnosis, and its answer."""
    first: dict[str, int] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("podpath."):
            name = f"{module.removeprefix('podpath.')}.{frame.f_code.co_qualname}"
            first.setdefault(name, len(first))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        answer = podpath.diagnose(Pasted(TICKET, "ticket.md"), probes=[PROBE]).text()
    finally:
        sys.setprofile(before)
    return first, answer


@pytest.mark.parametrize("tour", list(list_tours()), ids=["line", "probe"])
def test_stops_are_passed_in_their_order(
    tour: list[tuple[str, str]], called: tuple[dict[str, int], str]
) -> None:
    """And the answer at the end quotes the line."""
    first, answer = called
    passed = [first[f"{room}.{name}"] for room, name in tour if name not in WAITING]

    assert sorted(passed) == passed
    assert RULE in answer


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_for_a_packet_is_done_when_one_comes(
    name: str, called: tuple[dict[str, int], str]
) -> None:
    """No rule is parsed before a hook is passed."""
    ((room,),) = {(room,) for tour in list_tours() for room, stop in tour if stop == name}
    first, _ = called

    assert first["datapath.netfilter.hooks.traverse"] < first[f"{room}.{name}"]


def test_no_room_is_entered_twice() -> None:
    """Each has its stops in a row; the walks that `diagnosis` asks for return to it."""
    line, probe = ([room for room, _ in groupby(room for room, _ in tour)] for tour in list_tours())

    assert line == ["evidence", "assembly", "datapath", "diagnosis", "report"]
    assert probe == ["library", "net", "diagnosis", "datapath", "diagnosis", "report"]
