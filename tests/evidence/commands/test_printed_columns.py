"""Which columns of a listing a filter leaves."""

from __future__ import annotations

import pytest

from podpath.evidence.commands.printed_columns import parse_printed


@pytest.mark.parametrize(
    ("filters", "columns", "every"),
    [
        ("awk '{print $1,$6}'", (1, 6), True),
        ("awk '{ print $6 \" -> \" $1; }'", (6, 1), True),
        ("sort | awk '{print $1\"\\t\"$3}' | column -t", (1, 3), True),
        ("awk '/default/ {print $3, $5}'", (3, 5), False),
        ("awk 'NR>1{print $2}'", (2,), False),
        ("awk '$3 == \"Running\" {print $1}'", (1,), False),
        ("grep web | awk '{print $1}'", (1,), False),
        ("awk '{print $1}' | tail -2", (1,), False),
        ("tr -s ' ' | cut -d' ' -f3,1", (1, 3), True),
    ],
)
def test_columns(filters: str, columns: tuple[int, ...], *, every: bool) -> None:
    """In the order in which they are shown; lines may be missing where a filter chooses them."""
    found = parse_printed(f"kubectl get pods | {filters}")

    assert found is not None
    assert (columns, every) == (found.columns, found.every)


@pytest.mark.parametrize(
    "filters",
    [
        "grep web",
        "awk '{print}'",
        "awk '{print $0}'",
        "awk '{print $00}'",
        f"awk '{{print ${'9' * 5000}}}'",
        f"tr -s ' ' | cut -d' ' -f{'9' * 5000}",
        "awk '{sum += $2} END {print sum}'",
        "awk -F: '{print $2}'",
        "awk '{print $1}' | awk '{print $1}'",
        "awk '{print $1}' | uniq -c",
        "awk '{print $1 \"is\" $2}'",
        "cut -d: -f1",
        "cut -d' ' -f2",
        "wc -l",
        "sed s/a/b/ | awk '{print $1}'",
    ],
)
def test_what_does_more_than_choose_columns(filters: str) -> None:
    """Whatever changes words, counts lines or splits at other signs leaves no listing."""
    assert parse_printed(f"ip route | {filters}") is None


@pytest.mark.parametrize(
    ("line", "words"),
    [("web-0  10.0.0.9", ("web-0", "10.0.0.9")), ("a => b", ("a", "b")), ("one", None)],
)
def test_words(line: str, words: tuple[str, ...] | None) -> None:
    """A line with more or fewer of them has lost its columns."""
    found = parse_printed("kubectl get pods | awk '{print $1,$6}'")

    assert found is not None
    assert words == found.split(line)


def test_no_command() -> None:
    """Nothing is known of its filters."""
    assert parse_printed(None) is None
