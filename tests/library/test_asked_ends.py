"""Ends that are probably mistyped."""

from __future__ import annotations

import pytest

from podpath.library.asked_ends import doubt_ends
from podpath.library.given import Pasted
from podpath.library.reading import read
from podpath.net.probe import Probe
from tests.library.samples import RP_FILTER

BUNDLE = RP_FILTER / "bundle"


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ("tcp 10.88.5.62 > 192.168.77.11:6443", ("10.88.5.62", "10.88.5.61 (pod/orders/")),
        ("tcp 10.88.5.61 > 192.168.77.41:80", ("192.168.77.41", "192.168.77.40 (host)")),
        ("tcp 10.88.5.61 > 10.88.5.174:80", ()),  # both are there
        ("tcp 10.88.5.61 > 192.168.77.11:6443", ()),  # a capture shows it
        ("tcp 10.88.5.61 > 203.0.113.7:80", ()),  # like nothing else
        ("tcp pod/orders/nobody > 192.168.77.11:80", ()),  # its walk says so
    ],
)
def test_only_what_is_like_something_else_is_doubted(probe: str, expected: tuple[str, ...]) -> None:
    """An address nobody speaks of is common: it may be anywhere in the world."""
    said = doubt_ends((read(BUNDLE),), (probe,))
    assert [] == [word for word in expected if word not in " ".join(said)]
    assert bool(expected) == bool(said)


def test_a_whole_address_is_looked_for() -> None:
    """That another begins with it says nothing."""
    text = "root@n:~# ip addr\n2: eth0: <UP> mtu 1500\n    inet 192.0.2.10/24 scope global eth0\n"
    case = read(Pasted(text))
    asked = Probe.parse("tcp 192.0.2.1 > 192.0.2.10:80")
    assert 1 == len(doubt_ends((case,), (asked,)))
    spoken = read(Pasted(f"{text}root@n:~# ping 192.0.2.1\nPING 192.0.2.1 (192.0.2.1)\n"))
    assert () == doubt_ends((spoken,), (asked,))
