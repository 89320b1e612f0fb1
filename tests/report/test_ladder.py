"""Ladders as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podpath.capture.sightings import LadderStep
from podpath.report.ladder import (
    MOST_STEPS,
    choose_steps,
    describe_post,
    letter,
    render_ladder,
    spell_ends,
)
from podpath.report.style import Style
from tests.capture.ladder_worlds import laid_out

WIDE = Style(width=200)
STEP = LadderStep(forward=True, what="ACK", time=0, packets=((1,), (1,)), lost=())


def test_a_ladder_shows_who_speaks_and_where_packets_end() -> None:
    """A column for each point, an arrow for each packet, a cross where one was lost."""
    lines = render_ladder(laid_out(), WIDE).splitlines()
    rows = [line for line in lines if " s " in line[:14]]

    assert "tcp 10.244.0.2:40000 > 10.96.0.1:80" == lines[0]
    assert "  A  pod1.pcap   tcp 10.244.0.2:40000 > 10.96.0.1:80" == lines[1]
    assert "destination rewritten" in lines[2]
    assert "source rewritten, in a tunnel 172.18.0.2 > 172.18.0.3, network 7" in lines[3]
    assert "clock +3.000000 s, within 0.000300 s" in lines[4]
    assert ["SYN", "SYN-ACK", "SYN-ACK", "ACK", "data", "FIN"] == [row.split()[2] for row in rows]
    assert 3 == rows[0].count("▶")
    assert rows[1].endswith("SYN-ACK lost between D and C")
    assert "✗─── #" in rows[1]
    assert 3 == rows[2].count("◀")
    assert rows[4].endswith("data 2897:4345 lost between C and D")
    assert rows[5].endswith("✗  FIN lost between A and B")


def test_the_manual_shows_a_ladder_that_is_drawn(repository: Path) -> None:
    """The example of docs/captures.md is what this draws."""
    page = (repository / "docs" / "captures.md").read_text(encoding="utf-8")

    assert render_ladder(laid_out(), Style(width=150)).strip() in page


def test_a_terminal_without_signs_gets_letters() -> None:
    """ASCII is enough."""
    text = render_ladder(laid_out(), Style(width=200, unicode=False))

    assert text.isascii()
    assert "---X" in text


def test_colors_are_only_around_signs() -> None:
    """The words of a loss are painted, its packets are not."""
    painted = render_ladder(laid_out(), Style(width=200, color=True))

    assert "\x1b[1;31m✗\x1b[0m" in painted
    assert painted.replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace(
        "\x1b[0m", ""
    ) == render_ladder(laid_out(), WIDE)


def test_names_are_escaped() -> None:
    """A file's name cannot move the cursor."""
    ladder = laid_out()
    hostile = replace(
        ladder, posts=(replace(ladder.posts[0], name="a\x1b[2J\u202eb"), *ladder.posts[1:])
    )

    assert "a\\x1b[2J\\u202eb" in render_ladder(hostile, WIDE)


def test_a_packet_that_a_point_missed_passes_it() -> None:
    """A point between two that show a packet, and that does not, has a dot."""
    ladder = laid_out()
    passed = replace(STEP, packets=((1,), (), (3,), (4,)))

    assert "·" in render_ladder(replace(ladder, steps=(passed,)), WIDE).splitlines()[-1]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((4, 5, 6), "#4-6"), ((4, 9), "#4,9"), ((4, 9, 11), "#4,9,.."), ((4,), "#4")],
)
def test_many_packets_are_spelled_shortly(numbers: tuple[int, ...], text: str) -> None:
    """Ranges, pairs, and the first two of many."""
    ladder = laid_out()
    row = render_ladder(
        replace(ladder, steps=(replace(STEP, packets=(numbers, (), (), ())),)), WIDE
    ).splitlines()[-1]

    assert text == row.split()[-1]


def test_long_connections_are_shortened() -> None:
    """The beginning, the end and what was lost stay; what is left out is counted."""
    steps = [STEP] * 200
    steps[100] = replace(STEP, lost=((0, 1, "ACK"),))
    chosen = list(choose_steps(steps))

    assert 200 == sum(each if isinstance(each, int) else 1 for each in chosen)
    assert [12, 5, 6] == _runs(chosen)
    assert list(steps[:MOST_STEPS]) == list(choose_steps(steps[:MOST_STEPS]))


def _runs(chosen: list[LadderStep | int]) -> list[int]:
    """Return the lengths of what stands between what was left out."""
    runs = [0]
    for each in chosen:
        if isinstance(each, int):
            runs.append(0)
        else:
            runs[-1] += 1
    return runs


def test_columns_and_ends_have_names() -> None:
    """Past Z columns are numbered; echoes have an identifier, not ports; unknown clocks are said to
    be unknown.
    """
    post = laid_out().posts[0]
    assert post.ends is not None

    assert ("A", "Z", "P26") == (letter(0), letter(25), letter(26))
    assert "icmp 10.244.0.2 > 10.96.0.1 id 40000" == spell_ends(post.ends._replace(protocol=1))
    unknown = replace(post, clock=replace(post.clock, nanoseconds=None))
    assert describe_post(unknown, None).endswith("its clock could not be compared")
    assert "shows nothing of it" == describe_post(replace(post, ends=None), None)


def test_an_empty_ladder() -> None:
    """Nothing to draw is said."""
    assert render_ladder(replace(laid_out(), posts=(), steps=()), WIDE).startswith("no packets")
