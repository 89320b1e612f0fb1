"""Leases: a renewal is told from a first lease and from one of another address."""

from __future__ import annotations

import pytest

from podpath.timeline.build import ToldFailure, build_chronicle
from podpath.timeline.chain_files import load_chains
from podpath.timeline.clock import Clock
from podpath.timeline.leases import compare_lease
from podpath.timeline.reading import read_logs
from tests.timeline.samples import NOW, source

MANAGED = "<info>  [1741772943.2500] dhcp4 (eth0): state changed new lease, address="
LEASES = {
    "NetworkManager[812]": (f"{MANAGED}10.0.0.7", f"{MANAGED}10.0.0.8"),
    "systemd-networkd[9]": (
        "eth0: DHCPv4 address 10.0.0.7/24 via 10.0.0.1",
        "eth0: DHCPv4 address 10.0.0.8/24, gateway 10.0.0.1 acquired from 10.0.0.1",
    ),
    "dhclient[9]": (
        "bound to 10.0.0.7 -- renewal in 1500 seconds.",
        "bound to 10.0.0.8 -- renewal in 1500 seconds.",
    ),
}


def _log(*messages: tuple[str, str]) -> str:
    return "".join(
        f"Mar 12 09:{minute:02}:03 node-7 {program}: {message}\n"
        for minute, (program, message) in enumerate(messages, 40)
    )


def _compare(text: str) -> list[str]:
    (reading,) = read_logs([source(text, "messages")], Clock(now=NOW)).readings
    return [compare_lease(event) for event in reading.events]


@pytest.mark.parametrize("program", LEASES)
def test_a_renewal_is_of_the_same_address(program: str) -> None:
    """Each lease is held against the one before it."""
    same, other = LEASES[program]
    text = _log((program, same), (program, same), (program, other), ("sshd[7]", "hello"))

    assert _compare(text) == ["leased", "renewed", "changed", "leased"]


def test_devices_have_leases_of_their_own() -> None:
    """A lease of one device says nothing of another's."""
    same, _ = LEASES["NetworkManager[812]"]
    text = _log(
        ("NetworkManager[812]", same), ("NetworkManager[812]", same.replace("eth0", "eth1"))
    )

    assert _compare(text) == ["leased", "leased"]


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (("10.0.0.7", "10.0.0.7"), [("address eth0 leased", False)]),
        (
            ("10.0.0.7", "10.0.0.8"),
            [("address eth0 changed", True), ("address eth0 leased", False)],
        ),
        (("10.0.0.8",), [("address eth0 leased", False)]),
    ],
)
def test_who_is_named(addresses: tuple[str, ...], expected: list[tuple[str, bool]]) -> None:
    """A renewal is no suspect, a change is named, and a lease whose like is not known is shown."""
    lines = [("NetworkManager[812]", MANAGED + address) for address in addresses]
    logs = read_logs([source(_log(*lines), "messages")], Clock(now=NOW))
    (reading,) = logs.readings
    failed = ToldFailure(failed_at=reading.events[-1].time + 5, timeout=1)
    found = build_chronicle(logs, load_chains(), failed).suspects

    assert [(one.mark.words, one.score >= 0.5) for one in found] == expected
