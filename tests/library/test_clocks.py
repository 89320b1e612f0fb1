"""Clocks and zones of logs, as people write them."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from podpath.library.clocks import chronicle_logs, make_clock
from podpath.library.when import When
from podpath.net.errors import UsageError
from podpath.timeline.clock import Clock
from tests.timeline.samples import MESSAGES, source

NOW = "2025-03-20T12:00:00Z"


def test_zones_by_name_and_offset() -> None:
    """A zone without a name holds for all logs, one with a name for that log."""
    clock = make_clock(When(now=NOW, zones=("+08:00", "client=UTC")))

    assert (timedelta(hours=8), "client") == (clock.zone.utcoffset(None), clock.zones[0][0])
    assert clock.now == clock.printed == 1742472000.0


@pytest.mark.parametrize(
    ("when", "expected"),
    [(When(zones=("Nowhere/City",)), "expected a zone"), (When(now="soon"), "expected a moment")],
)
def test_unreadable_clocks_are_usage_errors(when: When, expected: str) -> None:
    """The message names what cannot be read."""
    with pytest.raises(UsageError, match=expected):
        make_clock(when)


def test_unreadable_timeout_is_a_usage_error() -> None:
    """A span of time needs a unit."""
    clock = Clock(now=1742472000.0, zone=UTC)
    with pytest.raises(UsageError, match="expected a span of time"):
        chronicle_logs([source(MESSAGES)], clock, When(failed_at="03:13:59", timeout="long"))


NESTED = (
    'Mar 12 11:13:45 kn-04 containerd[99]: time="2025-03-12T03:13:45Z" level=info msg="a"\n'
    "Mar 12 11:14:30 kn-04 systemd[1]: Started Dynamic System Tuning Daemon."
)


@pytest.mark.parametrize(
    ("zones", "hour"), [((), 3), (("UTC",), 11), (("client=UTC",), 3), (("+09:00",), 2)]
)
def test_moments_are_in_the_zone_that_the_logs_show(zones: tuple[str, ...], hour: int) -> None:
    """`--failed-at 11:14:00` is the wall clock of the node, as its logs have it, unless the user
    says which zone he means.
    """
    when = When(failed_at="11:14:00", last_ok="11:13:50", zones=zones, now=NOW)
    found = chronicle_logs([source(NESTED)], make_clock(when), when)
    window = found.window
    assert window is not None

    assert hour * 3600 + 840 == window.failed_at % 86_400
    assert window.failed_at - 10 == window.last_ok
