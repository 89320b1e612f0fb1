"""The scorer of public logs: what it counts, and that it names no log of the sealed half."""

from __future__ import annotations

import time
from pathlib import Path

from scripts.score_logs import CORPORA, Score, render_clones, render_misses, render_table, score_log


def test_lines_that_belong_to_events_count(tmp_path: Path) -> None:
    """What goes on below a stamp and headings are read, blank lines count for nothing, and a text
    without stamps is not read.
    """
    log, prose = tmp_path / "log", tmp_path / "prose"
    log.write_text("E0312 09:49:03.500000 1 x.go:1] panic\n\tmain.main()\n\n", encoding="utf-8")
    prose.write_text("hello\nworld\n", encoding="utf-8")

    assert [(2, 2, True), (2, 0, False)] == [
        (score.lines, score.read, score.is_read)
        for score in (score_log(path, time.time()) for path in (log, prose))
    ]


def test_the_sealed_half_is_only_counted() -> None:
    """Its misses are in the table's figures, not among the names."""
    scores = [
        (
            CORPORA[0],
            [Score(Path("a"), "open", 10, 5), Score(Path("b"), "sealed", 10, 0)],
        )
    ]

    assert [f"| {CORPORA[0].name} | {half} | 1 | 0 |" for half in ("open", "sealed")] == [
        *render_table(scores)
    ][2:]
    assert ["a: 5 of 10 lines"] == [*render_misses(scores)]


def test_repositories_are_fetched_at_their_commits() -> None:
    """Three commands for each, the commit among them."""
    commands = [*render_clones(Path("/x"))]

    assert 3 * len(CORPORA) == len(commands)
    assert all(any(corpus.commit in line for line in commands) for corpus in CORPORA)
