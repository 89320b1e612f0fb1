"""Prose is plain American English: what can be held by a machine.

Names of kernel files, messages and commands keep their spelling: they stand in backticks, in code
blocks, or are parts of longer words.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BRITISH = re.compile(
    r"(?<![\w/.`'\"-])(?:"
    r"(?:behavio|colo|favo|flavo|hono|neighbo)ur(?:s|ed|ing|able|ite)?"
    r"|(?:label|model|travel)l(?:ed|ing)"
    r"|(?:anal|catal)(?:yse|ogue)[sd]?"
    r"|(?:memo|normal|recogn|serial|summar)is(?:e[sd]?|ing|ation)"
    r"|artefacts?|centred?|grey|towards|whilst"
    r")(?![\w/.-]\w| table overflow)",
    re.IGNORECASE,
)
FOREIGN = re.compile(
    r"\b(?:for want of|without a word|now and then|made anew|it has to be: "
    r"|speaks? against it|good twin|mended?)\b"
)
"""Phrases that were everywhere once and that no engineer says."""
OPENING = re.compile(
    r"Gives? (?:back|how|none|None|the share|true|True|what|where|whether|which)\b"
)
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MANUAL = sorted(
    path
    for path in (ROOT / "src" / "podpath" / "checks").rglob("*")
    if path.suffix in {".py", ".toml"}
)


def named(path: Path) -> str:
    """Name a file as a test's id."""
    return str(path.relative_to(ROOT))


def comments_and_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each comment and each long string of a module with its line."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            is_prose = token.type == tokenize.STRING and token.string.lstrip("r")[:3] == '"""'
            if token.type == tokenize.COMMENT or is_prose:
                yield token.start[0], token.string


def prose_of(page: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of a page outside code blocks, without code in backticks and targets of
    links; a stage and a kind of event are called neighbour.
    """
    is_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)|\| neighbour (?=\|)|\[neighbour-", "", line)


@pytest.mark.parametrize("page", DOCS, ids=named)
def test_docs_are_spelled_as_in_america(page: Path) -> None:
    """A page has one spelling, that of the code."""
    found = [
        f"{number}: {word[0]}" for number, line in prose_of(page) for word in BRITISH.finditer(line)
    ]

    assert found == []


def test_docstrings_and_comments_are_spelled_as_in_america() -> None:
    """So is what the source says to its readers."""
    found = [
        f"{named(path)}:{number}: {word[0]}"
        for path in SOURCES
        for number, text in comments_and_docstrings(path)
        for word in BRITISH.finditer(re.sub(r"`[^`]*`", "", text))
    ]

    assert found == []


def test_docstrings_begin_with_what_happens() -> None:
    """A docstring opens with a verb that says what the function does."""
    found = [
        f"{named(path)}:{number}"
        for path in SOURCES
        for number, text in comments_and_docstrings(path)
        if OPENING.match(text.lstrip('r"'))
    ]

    assert found == []


def test_the_manual_has_no_phrase_that_nobody_says() -> None:
    """The texts that users read about faults are free of phrases that read as translated."""
    found = [
        f"{named(path)}: {phrase[0]}"
        for path in MANUAL
        for phrase in FOREIGN.finditer(" ".join(path.read_text(encoding="utf-8").split()))
        if f".{phrase[0]}" not in path.read_text(encoding="utf-8")
    ]

    assert found == []


@pytest.mark.parametrize(
    ("text", "is_british"),
    [
        ("its behaviour", True),
        ("neighbours that answer", True),
        ("modelled as data", True),
        ("net/core/neighbour.c:neigh_alloc", False),
        ("neighbour-failed", False),
        ("its behavior", False),
    ],
)
def test_the_spelling_is_recognized(text: str, *, is_british: bool) -> None:
    """The test itself knows words from names."""
    assert is_british is (BRITISH.search(text) is not None)
