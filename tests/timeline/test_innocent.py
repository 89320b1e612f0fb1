"""Logs of a busy node on which nothing breaks: nothing is claimed about them.

The same with 100,000 lines of each kind: `python -m tests.timeline.innocent`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from podpath.net.provenance import Source
from podpath.timeline.build import ToldFailure, build_chronicle
from podpath.timeline.chain_files import load_chains
from podpath.timeline.reading import read_logs
from tests.timeline.innocent import CLOCK, KINDS, START, Kind, claims, judge, make_log

LINES = 1500
HOUR = timedelta(hours=1)
MOMENTS = (START + timedelta(minutes=25), START + timedelta(minutes=48))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.partition(".")[0][:20])
def test_a_busy_program_is_innocent(kind: Kind) -> None:
    """Each line is read, and no chain is found and no suspect named, whatever moment is asked
    about.
    """
    log = make_log(kind, LINES, HOUR)
    read = read_logs([log], CLOCK)

    assert (LINES, ()) == (sum(len(one.events) for one in read.readings), read.gaps)
    assert [] == [claim for _, one in judge([log], MOMENTS) for claim in claims(one)]


def test_a_busy_node_is_innocent_and_one_guilty_line_is_found() -> None:
    """All kinds together claim nothing; with one command among them that writes, that is named."""
    logs = [make_log(kind, LINES // 3, HOUR) for kind in KINDS]
    moment = MOMENTS[0]
    guilty = (
        f"{moment - timedelta(seconds=20):%b %d %H:%M:%S} node-7 sudo[4711]:      ops : "
        "TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/sysctl --system"
    )
    with_guilty = [
        replace(log, lines=_insert(log, guilty)) if log.name == "messages" else log for log in logs
    ]
    told = ToldFailure(failed_at=moment.timestamp(), timeout=10, last_ok=moment.timestamp() - 120)
    found = build_chronicle(read_logs(with_guilty, CLOCK), load_chains(), told)

    assert [] == [claim for _, one in judge(logs, MOMENTS[:1]) for claim in claims(one)]
    assert ["sysctl-by-hand"] == [story.chain.name for story in found.stories]


def _insert(log: Source, line: str) -> tuple[str, ...]:
    return tuple(sorted((*log.lines, line), key=lambda one: one[:15]))
