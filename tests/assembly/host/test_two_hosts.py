"""Two outputs that look like two states of one host, and are of two."""

from __future__ import annotations

import pytest

from podpath.assembly.host.two_hosts import are_two_hosts
from podpath.assembly.scenes.scene import ReadSource, set_scene
from podpath.checks.host.state_changed import check
from podpath.evidence.documents.document import split_document
from podpath.evidence.recognition import read
from tests.checks.pasted import ticket_of

RED = """default via 10.9.0.1 dev ens3
10.9.0.0/24 dev ens3 proto kernel scope link src 10.9.0.11
10.40.0.0/24 dev cni0 proto kernel scope link src 10.40.0.1"""
BLUE = """default via 10.9.0.1 dev ens3
10.9.0.0/24 dev ens3 proto kernel scope link src 10.9.0.12
10.40.0.0/24 via 10.9.0.11 dev ens3"""
LAPTOP = """default via 10.77.0.1 dev wlan0
10.77.0.0/24 dev wlan0 proto kernel scope link src 10.77.0.23
172.29.8.0/24 via 10.77.0.5 dev wlan0"""
JOINED = """default via 10.77.0.1 dev wlan0
10.77.0.0/24 dev wlan0 proto kernel scope link src 10.77.0.23
172.29.8.0/24 dev wg0 scope link"""
GATEWAY = "default via 192.0.2.1 dev bond0\n172.29.8.0/24 dev bond0 scope link"
TICKET = """\
Pods do not reach 10.40.0.9, nor the lab.

{}

```
{}$ ip route
{}
```

{}

```
{}$ ip route
{}
```
"""


def scenes_of(text: str) -> list[ReadSource]:
    """Read a ticket's outputs."""
    sources = split_document("ticket.md", text.split("\n"))
    readings = [(source, read(source)) for source in sources]
    return [
        set_scene(source, reading, number)
        for number, (source, reading) in enumerate(readings)
        if reading is not None and reading.records
    ]


def ticket(
    first: str, one: str, second: str, other: str, prompts: tuple[str, str] = ("", "")
) -> str:
    """Write a ticket of two outputs, each below its heading."""
    return TICKET.format(first, prompts[0], one, second, prompts[1], other)


NORTH = "default via 203.0.113.97 dev eth0\n203.0.113.96/27 dev eth0 scope link"
SOUTH = "default via 203.0.113.65 dev eth0\n203.0.113.64/27 dev eth0 scope link"
TWO = [
    ticket(
        "One of them:", NORTH, "And the other:", SOUTH, ("root@localhost:~", "root@localhost:~")
    ),
    ticket('The subnet "ok" of the office', NORTH, 'The subnet "slow" of the office', SOUTH),
    ticket("On the gateway:", GATEWAY, "The scanner, while it fails:", LAPTOP),
    ticket("On the gateway:", JOINED, "The scanner, while it fails:", LAPTOP),
    ticket("On node-red:", RED, "node-blue, while it fails:", BLUE),
    ticket("One that works:", RED, "And this one fails:", BLUE),
    ticket("It works with these:", GATEWAY, "It fails with those:", LAPTOP),
    ticket("Before:", JOINED, "After:", LAPTOP, ("root@red:~", "root@blue:~")),
    ticket("ip route", RED, "ip route", LAPTOP),
]
ONE = [
    ticket("Before the move:", NORTH, "After the move:", SOUTH),
    ticket("Before it starts:", LAPTOP, "After it has started:", JOINED),
    ticket("While it works:", RED, "When it fails:", BLUE),
    ticket("The routes:", GATEWAY, "The routes:", LAPTOP),
    ticket("ip route", RED, "ip route", RED.replace("10.9.0.11", "10.9.0.12")),
    ticket("On red:", JOINED, "While it fails:", LAPTOP),
    ticket("The laptop, before:", LAPTOP, "The laptop, after the VPN is up:", JOINED),
    ticket("Good, before the VPN is up:", LAPTOP, "Broken, after the VPN is up:", JOINED),
    ticket("On red:", JOINED, "On its LAN:", LAPTOP, ("root@red:~", "root@red:~")),
]


@pytest.mark.parametrize(
    ("text", "expected"), [*((text, True) for text in TWO), *((text, False) for text in ONE)]
)
def test_headings_addresses_and_devices_tell_hosts_apart(*, text: str, expected: bool) -> None:
    """A word of time in a heading says when, and not that it is the host of the heading before."""
    one, other = scenes_of(text)

    assert expected is are_two_hosts(one, other)


@pytest.mark.parametrize("text", TWO)
def test_what_differs_between_two_hosts_is_no_change(text: str) -> None:
    """It is not even a possible cause."""
    assert [] == list(check(ticket_of(text)))


def test_what_changed_on_one_host_stays_certain() -> None:
    """The headings say when, and an address stands in both outputs."""
    (finding,) = check(ticket_of(ONE[0]))

    assert 1.0 == finding.certainty
