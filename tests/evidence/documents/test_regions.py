"""Fences of all kinds, and what stands round them."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.regions import (
    DocumentLine,
    decode_line,
    is_fence,
    split_regions,
    strip_quote,
    unquote,
)


def _regions(text: str) -> list[tuple[bool, list[str]]]:
    lines = [decode_line(number, line) for number, line in enumerate(text.split("\n"), 1)]
    return [
        (region.fenced, [line.text for line in region.lines if line.text.strip()])
        for region in split_regions(lines)
    ]


FENCED = [
    "a\n```\nx\n```\nb", "a\n```console\nx\n```\nb", "a\n~~~~\nx\n~~~~\nb",
    "a\n  ```sh\n  x\n  ```\nb", "a\n{code:bash}\nx\n{code}\nb", "a\n{noformat}\nx\n{noformat}\nb",
    "a\n<pre>\nx\n</pre>\nb", "a\n<pre><code>x</code></pre>\nb", "a\n- ```\n  x\n  ```\nb",
]  # fmt: skip


@pytest.mark.parametrize("text", FENCED)
def test_fences(text: str) -> None:
    """Markdown's, Jira's and HTML's fences part a document; their own indentation is taken off."""
    assert [(False, ["a"]), (True, ["x"]), (False, ["b"])] == _regions(text)


def test_a_forgotten_end() -> None:
    """A fence that opens with a word while another is open ends that one."""
    assert [(True, ["x"]), (True, ["y"]), (False, ["b"])] == _regions(
        "```console\nx\n```console\ny\n```\nb"
    )


def test_no_end_at_all() -> None:
    """A fence that is never closed is text."""
    assert [(False, ["a", "x", "b"])] == _regions("a\n```\nx\n\nb")


def test_a_longer_fence_holds_shorter_ones() -> None:
    """What stands in the inner fence is the console."""
    assert [(False, ["see"]), (True, ["x"])] == _regions("````\nsee\n```\nx\n```\n````")


def test_lines_keep_their_numbers() -> None:
    """Numbers are those of the file."""
    lines = [
        DocumentLine(number, text)
        for number, text in enumerate(["a", "```", "x", "y", "```", "b"], 1)
    ]
    assert [[1], [3, 4], [6]] == [
        [line.number for line in region.lines] for region in split_regions(lines)
    ]


@pytest.mark.parametrize(
    ("text", "decoded"),
    [("&gt; &lt;a&gt; &amp;&quot;", '> <a> &"'), ("a?b=1&copy=2", "a?b=1&copy=2"), ("&#62;", ">")],
)
def test_entities(text: str, decoded: str) -> None:
    """Entities that end in a semicolon are decoded, and nothing else."""
    assert decoded == decode_line(1, text).text


def test_quotations() -> None:
    """Signs of quotation go where console stands in the run, and stay elsewhere."""
    lines = [
        DocumentLine(number, text)
        for number, text in enumerate(["> we see", "> $ ip a", "x", "> GET /"], 1)
    ]
    assert ["we see", "$ ip a", "x", "> GET /"] == [
        line.text for line in unquote(lines, [False, True, False, False])
    ]
    assert "a" == strip_quote("> > a")


def test_what_a_fence_is() -> None:
    """Inline code is none."""
    assert is_fence("```sh")
    assert not is_fence("```x``` is code")


@pytest.mark.parametrize(
    "text",
    ["a\n`x\ny`\nb", "a\n`x\ny`.\nb", "a `x\n\ny` b", "a\n- `x\n  y`\nb", "a\n`x\ny\n` b"],
)
def test_a_single_backtick_round_several_lines(text: str) -> None:
    """It parts a document as a fence does, whatever stands before and behind it."""
    before, (fenced, lines), behind = _regions(text)
    assert (False, ["a"]) == before
    assert fenced
    assert ["x", "y"] == [line.strip() for line in lines]
    assert (False, ["b"]) == behind


@pytest.mark.parametrize(
    "text",
    [
        "a `x\ny` b",
        "a `x\nb",
        "`a\nb\nuse `x` now",
        "it's a ` stray\nb`",
    ],
    ids=["wrapped", "open", "other-code", "stray"],
)
def test_a_backtick_that_parts_nothing(text: str) -> None:
    """A command that a sentence wraps over two lines, and signs without an end of their own."""
    assert [False] == [fenced for fenced, _ in _regions(text)]
