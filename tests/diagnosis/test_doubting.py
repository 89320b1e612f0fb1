"""A certain fault becomes a possible one by what the ticket states beside it."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Severity
from podpath.checks.ground import Unsettling
from tests.diagnosis.tickets import HANG, PROSE, find

BACK = "[   27.005530] tg3 0000:02:00.0 enp2s0f0: Link is up at 1000 Mbps, full duplex"


@pytest.mark.parametrize(
    ("prose", "lines", "certain"),
    [
        (PROSE, (HANG, BACK), False),
        (PROSE, (HANG, BACK, HANG.replace("23.7", "99.1"), BACK.replace("27.0", "99.9")), True),
        ("The host is sometimes not reachable for seconds.", (HANG, BACK), True),
    ],
)
def test_a_hang_from_which_the_card_came_back_is_over(
    prose: str, lines: tuple[str, ...], *, certain: bool
) -> None:
    """Unless it came again, or people say that it comes and goes."""
    found = find("device-hangs", *lines, prose=prose)

    assert (found.certainty == 1.0) is certain
    assert (Unsettling.RECOVERED in found.reasoning) is not certain


API = 'plugin/kubernetes: Get "https://10.43.0.1:443/version": dial tcp 10.43.0.1:443: i/o timeout'


def test_a_possible_error_that_its_log_is_done_with_is_only_seen_as_well() -> None:
    """What is asked for is another thing."""
    denied = "07:10:12 ERROR open /proc/sys/net/ipv4/conf/vip0/rp_filter: read-only file system"
    again = find("sysctl-not-set", denied, prose="The address does not answer any more.")
    done = find("sysctl-not-set", denied, "07:10:13 INFO successful add IP", prose="It fails.")

    assert (Severity.FAULT, True) == (again.severity, bool(again.asks))
    assert (Severity.RISK, False) == (done.severity, bool(done.asks))


WAITING = (
    'level=warning msg="Waiting for k8s node information" '
    'error="required IPv4 PodCIDR not available"'
)


RECEIVED = 'level=info msg="Received own node information from API server" v4Prefix=10.77.3.0/24'


@pytest.mark.parametrize(
    ("lines", "severity"),
    [((WAITING,), Severity.FAULT), ((WAITING, RECEIVED), Severity.RISK)],
)
def test_a_wait_that_ended_is_only_seen_as_well(lines: tuple[str, ...], severity: Severity) -> None:
    """The last word counts."""
    found = find("pod-range-missing", *lines, prose="Pods have no network.")

    assert severity == found.severity
