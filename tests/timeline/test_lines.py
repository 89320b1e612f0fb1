"""The account of a log's lines."""

from __future__ import annotations

import re

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.lines import split_tagged, stamps_in


def test_a_tagged_line() -> None:
    """Host, program and message are told apart; the process id belongs to none of them."""
    assert ("systemd", "Started x: y", "node-7") == split_tagged("node-7 systemd[1]: Started x: y")[
        :3
    ]


def test_a_tagged_line_without_a_host() -> None:
    """journalctl can leave the host out."""
    assert ("kernel", "eth0: link is down", "") == split_tagged(
        "kernel: [  12.500000] eth0: link is down"
    )[:3]


def test_a_line_without_a_tag() -> None:
    """What has no tag is a message as a whole."""
    assert ("", "no tag here", "node-7") == split_tagged("node-7 no tag here")[:3]


def test_stamps_stand_in_one_of_the_groups() -> None:
    """The group that a line's head has is read, or the head's beginning where none is named; a line
    without the head has none.
    """
    source = Source(name="a.log", lines=())
    grouped = stamps_in(
        re.compile(r"run (?P<one>\S+ \S+)$|at (?P<other>\S+ \S+)$"), "one", "other"
    )(source, Clock(now=0.0))
    first = stamps_in(re.compile(r"\d{4}\S+ \S+ ok$"))(source, Clock(now=0.0))

    assert (
        60.0
        == grouped("run 1970-01-01 00:01")
        == grouped("at 1970-01-01 00:01")
        == first("1970-01-01 00:01 ok")
    )
    assert None is grouped("1970-01-01 00:01")
    assert None is first("1970-01-01 00:01 bad")
