"""What the checks of captures share."""

from __future__ import annotations

from podpath.capture.frames import CapturePoint
from podpath.checks.captured import is_bridge, is_group, is_mac, words_of
from podpath.checks.finding import Severity
from podpath.checks.looks import look_at_captures
from podpath.checks.registry import CHECKS
from podpath.net.addresses import IfName, Mac
from podpath.node.case import Case
from tests.checks.made_captures import (
    CLIENT,
    SERVER,
    case_of,
    case_of_captures,
    exchange,
    faults,
    handshake,
    tcp,
)
from tests.checks.nodes import link, netns, node

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"


HOST, PEER, ROUTER, STRANGER = (
    "02:00:00:00:00:01",
    "02:00:00:00:00:02",
    "02:00:00:00:00:03",
    "02:00:00:00:00:99",
)


def test_connection_that_works_is_no_fault() -> None:
    """A handshake, a request and its answer say nothing wrong."""
    assert list(look_at_captures(case_of(*handshake(), *exchange(0.1)))) == []


def test_every_finding_has_evidence_and_a_known_severity() -> None:
    """What captures show is quoted, and weighed as other findings are."""
    for finding in look_at_captures(
        case_of(*handshake(), tcp(1.2, BACK, "S.", 77_000, 1001), tcp(1.3, FORTH, ".", 0, 1))
    ):
        assert finding.evidence
        assert finding.severity in Severity


def test_captures_alone_have_checks_in_the_table() -> None:
    """A check that looks at captures says so in the manual."""
    assert "a capture" in {check.found_by for check in CHECKS}
    assert "a check or a capture" in {check.found_by for check in CHECKS}


def test_two_captures_are_two_points() -> None:
    """The same SYN in the captures of two hosts is no repetition."""
    captures = {
        "tcpdump -nn -i eth0": (*handshake(), *exchange(0.1)),
        "tcpdump -nn -i eth9": (*handshake(0.4), *exchange(0.5)),
    }

    assert faults(case_of_captures(captures)) == []


def test_bridges_are_told_by_kind_then_by_name() -> None:
    """A listing decides; without one the name does."""
    listed = Case(node=node(netns(links=[link("cni0", kind="veth"), link("lan7", kind="bridge")])))

    assert [False, True, True, False] == [
        is_bridge(listed, CapturePoint(0, "host", name))
        for name in (IfName("cni0"), "lan7", "docker0", None)
    ]


def test_macs_words_and_times() -> None:
    """Words in place of MACs are none, group MACs are nobody's, and times are spelled with their
    length.
    """
    assert is_mac(Mac(HOST))
    assert not is_mac(Mac("GATEWAY_MAC"))
    assert is_group(Mac("01:00:5e:00:00:01"))
    assert not is_group(Mac(HOST))
    assert words_of(36_000.0, 36_002.5) == "from 10:00:00.000000 to 10:00:02.500000 (2.5 s)"
    assert words_of(36_000.0, None) == "from 10:00:00.000000 on"
    assert "does not show" in words_of(None, None)
