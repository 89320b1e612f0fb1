"""How a report may look: colors, signs, width. The caller decides; the report only asks for a kind
of text by its meaning.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from podpath.report.escape import escape

SGR: dict[str, str] = {
    "bad": "1;31", "good": "32", "warn": "1;33", "head": "1", "mark": "1;31", "dim": "2",
    "command": "36",
}  # fmt: skip
"""The parameters of the terminal sequence by the meaning of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What the reader's terminal can show, and how much the reader wants to see."""

    color: bool = False
    unicode: bool = True
    """False where the output's encoding has ASCII only."""
    verbose: bool = False
    """True: every gap, near miss and assumption; False: the first screen, with counts of them."""
    brief: bool = False
    """True: three lines of a diagnosis, the verdict, the line that decides, the cure or the
    question.
    """
    width: int = 100
    """Columns that prose is wrapped to. Commands and evidence are never wrapped, so that they can
    be copied.
    """

    link: Callable[[str, int], str | None] | None = None
    """Gives the address of a line of a source by its name, where the reader can follow one."""

    def place(self, name: str, line: int) -> str:
        """Spell a place as compilers do, `file:line`, as a hyperlink where the reader can follow
        it (OSC 8).
        """
        text = f"{escape(name)}:{line}"
        address = self.link(name, line) if self.link is not None else None
        if address is None:
            return text
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"

    def paint(self, meaning: str, text: str) -> str:
        """Return the text in the color of its meaning, or as it is where colors are off."""
        if self.color and text:
            return f"\x1b[{SGR[meaning]}m{text}\x1b[0m"
        return text

    @property
    def arrived(self) -> str:
        """The sign for a packet that arrived."""
        return self.paint("good", "✓" if self.unicode else "ok")

    @property
    def broken(self) -> str:
        """The sign for the place where a path breaks."""
        return self.paint("bad", "✗" if self.unicode else "XX")

    @property
    def doubtful(self) -> str:
        """The sign for what is undecided."""
        return self.paint("warn", "?")

    @property
    def hop(self) -> str:
        """The sign between two hops."""
        return " › " if self.unicode else " > "

    @property
    def forth(self) -> str:
        """The sign of the original direction."""
        return "→" if self.unicode else "->"

    @property
    def back(self) -> str:
        """The sign of the reply direction."""
        return "←" if self.unicode else "<-"

    def wrap(self, text: str, first: str = "", rest: str | None = None) -> list[str]:
        """Break prose into lines: the first one starts with `first`, the others with `rest` (as
        wide a blank by default).
        """
        follow = " " * len(first) if rest is None else rest
        width = max(self.width, len(first) + 24)
        return textwrap.wrap(
            text,
            width,
            initial_indent=first,
            subsequent_indent=follow,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [first.rstrip()]


PAGE_STYLE = Style(color=True, verbose=True, width=1000)
"""How a page shows a text: the reader's window breaks its lines."""


def render_head(style: Style, color: str, word: str, text: str) -> list[str]:
    """Write a verdict's word and what it says."""
    lines = style.wrap(escape(text), f"{word}: ", "  ")
    painted = style.paint(color, f"{word}:")
    return [painted + lines[0][len(word) + 1 :], *lines[1:]]
