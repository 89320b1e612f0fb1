"""What a recogniser looks at."""

from __future__ import annotations

import re

from podpath.evidence.formats import SAMPLE_LINES, SAMPLE_WIDTH, sample, share
from podpath.net.provenance import Source
from tests.evidence.consoles import block


def test_the_sample_leaves_out_blank_lines_and_ellipses() -> None:
    """Only lines that say something count."""
    assert ("a", "b") == sample(block("a\n\n...\n  \nb"))


def test_the_sample_is_small_whatever_the_source() -> None:
    """A log of a million lines, or a line of a million characters, costs no more."""
    source = Source(name="log", lines=("x" * 1_000_000,) * 1000)

    assert (SAMPLE_LINES, {SAMPLE_WIDTH}) == (
        len(sample(source)),
        {len(line) for line in sample(source)},
    )


def test_the_share_counts_matching_lines() -> None:
    """Half of the lines is 0.5, and nothing of nothing is 0."""
    assert (0.5, 0.0) == (share(["a", "b"], re.compile("a")), share([], re.compile("a")))
