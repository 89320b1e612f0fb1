"""The examples of docs/library.md are true: each runs by itself, and says what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^## (?P<title>\d+\. .+?)$.*?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
EXAMPLES = {found["title"]: found["code"] for found in EXAMPLE.finditer(PAGE)}


def test_there_are_five() -> None:
    """The page says so."""
    assert [str(number) for number in range(1, 6)] == [
        title.partition(".")[0] for title in EXAMPLES
    ]


@pytest.mark.parametrize("title", EXAMPLES)
def test_example_runs(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a prompt is what it gives."""
    monkeypatch.chdir(ROOT)
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(EXAMPLES[title], {}, title, "docs/library.md", 0)
    failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append).failed

    assert failed == 0, "".join(said)
    assert len(test.examples) >= 3
