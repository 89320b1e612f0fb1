"""Complaints as connections, in words."""

from __future__ import annotations

from podpath.diagnosis.complained import Choice, ChosenBy, Complained, Side
from podpath.net.probe import Probe
from podpath.report.complaint_words import say_complained
from tests.checks.nodes import span


def test_what_was_chosen_is_said() -> None:
    """The probe, and for each part whether it was named or chosen."""
    one = Complained(
        probe=Probe.parse("tcp 10.1.0.2 > 10.96.0.20:80"), kind=None,
        span=span("web cannot reach api"),
        choices=(
            Choice(Side.SOURCE, "web-1", ChosenBy.FIRST),
            Choice(Side.TARGET, "svc/shop/api", ChosenBy.NAMED),
        ),
    )  # fmt: skip

    said = say_complained(one)

    assert "tcp 10.1.0.2 > 10.96.0.20:80" in said
    assert "Source web-1 (the first of several shown); target svc/shop/api (named)." in said
