"""`ip route get`: the kernel's answers."""

from __future__ import annotations

import pytest

from podpath.evidence.records import StatementRecord
from podpath.net.statements import RouteAnswer
from tests.evidence.consoles import block, read


def answer(text: str, command: str | None = None) -> RouteAnswer:
    """Return the one answer of a block without gaps."""
    reading = read(block(text, command))
    assert not reading.gaps
    (found,) = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    assert isinstance(found, RouteAnswer)
    return found


def test_a_way_is_read_with_its_source() -> None:
    """`cache` belongs to the answer above it."""
    found = answer("10.96.0.10 via 192.168.1.1 dev eth0 src 192.168.1.5 uid 1000\n    cache")
    assert ("10.96.0.10", "192.168.1.1", "eth0", "192.168.1.5") == (
        str(found.dst), str(found.gateway), found.link, str(found.prefsrc),
    )  # fmt: skip


def test_the_question_for_a_packet_that_comes_in_is_known() -> None:
    """`from` and `iif` are what was asked with."""
    found = answer(
        "10.244.1.5 from 10.244.0.3 dev flannel.1\n    cache iif cni0",
        "ip route get 10.244.1.5 from 10.244.0.3 iif cni0",
    )
    assert ("10.244.0.3", "flannel.1") == (str(found.src), found.link)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("RTNETLINK answers: Network is unreachable", "Network is unreachable"),
        ("Error: ipv4: FIB table does not exist.", "ipv4: FIB table does not exist"),
    ],
)
def test_an_error_keeps_what_was_asked_for(text: str, error: str) -> None:
    """The command shows the address."""
    found = answer(text, "ip -4 route get 10.0.0.1 from 10.9.0.1 iif eth0")
    assert ("error", error, "10.0.0.1", "eth0") == (
        found.type,
        found.error,
        str(found.dst),
        found.iif,
    )


def test_a_type_is_kept() -> None:
    """An unreachable route answers as such."""
    assert (
        answer("unreachable 10.0.0.1 dev lo table 200 src 10.0.0.2 uid 0\n    cache").type
        == "unreachable"
    )


@pytest.mark.parametrize(
    ("cached", "expected"),
    [
        ("cache expires 537sec mtu lock 552", (552, True)),
        ("cache expires 599sec mtu 1440", (1440, False)),
        ("cache", (None, False)),
    ],
)
def test_the_mtu_of_the_path_stands_in_the_second_line(
    cached: str, expected: tuple[int | None, bool]
) -> None:
    """Where an ICMP error told it."""
    found = answer(f"172.17.0.3 dev docker0\n    {cached}", "ip route show cache")
    assert expected == (found.mtu, found.mtu_locked)
