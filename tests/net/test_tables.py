"""Configuration files become dataclasses, or are refused with the line of every fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from podpath.net.tables import TableError, find_line, parse_duration, parse_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A table of a table."""

    key: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    """A file."""

    name: str = "x"
    mode: Literal["fix", "watch"] = "watch"
    every: float = field(default=1.0, metadata={"parse": parse_duration})
    share: float = 0.5
    value: str | int = 0
    inner: Inner = field(default_factory=lambda: Inner(key="k"))
    items: tuple[Inner, ...] = ()
    words: tuple[str, ...] = ()


def refuse(text: str) -> list[str]:
    """Return the lines of the refusal."""
    with pytest.raises(TableError) as caught:
        parse_tables(text, "agent.toml", Outer)
    return str(caught.value).split("\n")


def test_a_file_becomes_its_dataclass() -> None:
    """Every kind of field is read, and what is not there has its default."""
    text = 'mode = "fix"\nevery = "500ms"\nshare = 2\nvalue = "0 1"\nwords = ["a"]\n'
    text += '[inner]\nkey = "k"\n[[items]]\nkey = "i"\ncount = 3'

    assert parse_tables(text, "agent.toml", Outer) == Outer(
        mode="fix",
        every=0.5,
        share=2.0,
        value="0 1",
        words=("a",),
        inner=Inner(key="k"),
        items=(Inner(key="i", count=3),),
    )


def test_an_unknown_key_is_refused_with_its_line() -> None:
    """A misspelt key is never silently left out: its line is named, and the key that was meant."""
    assert refuse('name = "x"\n\n# a comment\n[inner]\nkey = "k"\ncuont = 2') == [
        "agent.toml:6: expected one of key, count, saw the unknown key `cuont`; `count` is near"
    ]


def test_the_line_is_that_where_the_statement_begins() -> None:
    """A value over several lines is named by its first; the second of two tables by its own."""
    text = 'words = [\n  "a",\n  3,\n]\n[[items]]\nkey = "i"\n[[items]]\nkey = "j"\nextra = 1'

    assert refuse(text) == [
        "agent.toml:9: expected one of key, count, saw the unknown key `extra`",
        "agent.toml:1: expected a text, saw a whole number: 3",
    ] or refuse(text) == [
        "agent.toml:1: expected a text, saw a whole number: 3",
        "agent.toml:9: expected one of key, count, saw the unknown key `extra`",
    ]
    assert find_line("a = 1\nb.c = 2", ("b", "c")) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name = 3", "agent.toml:1: expected a text, saw a whole number: 3"),
        ('mode = "mend"', "agent.toml:1: expected one of fix, watch, saw a text: 'mend'"),
        (
            'every = "soon"',
            "agent.toml:1: expected a duration such as `500ms`, `10s` or `5m`, saw a text: 'soon'",
        ),
        ("inner = 1", "agent.toml:1: expected a table, saw a whole number: 1"),
        ("[[items]]", "agent.toml:1: expected the key `key`, saw none"),
        (
            "inner = {key = 'k', count = true}",
            "agent.toml:1: expected a whole number, saw true or false: True",
        ),
        ("words = 'a'", "agent.toml:1: expected a list, saw a text: 'a'"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(text: str, why: str) -> None:
    """What was expected and what was seen stand in the message."""
    assert refuse(text) == [why]


def test_what_is_no_toml_is_refused() -> None:
    """A syntax error is one clear line."""
    assert refuse("name =")[0].startswith("agent.toml: expected TOML, saw Invalid value (at")


@pytest.mark.parametrize(("text", "seconds"), [("10s", 10.0), ("5m", 300.0), (2, 2.0), ("0s", 0.0)])
def test_durations(text: str | int, seconds: float) -> None:
    """Durations carry a unit, or are seconds."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "10", "-1s", "1.5s", True, -2, "٣s"])
def test_bad_durations(text: str | int) -> None:
    """A text without a unit, a negative or broken number is none."""
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)
