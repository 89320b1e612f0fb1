"""A block of a document while it is being gathered: a command with its output, or an output whose
command is not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from podpath.evidence.commands.typed import TypedCommand
from podpath.evidence.documents.prompts import Prompt
from podpath.evidence.documents.regions import DocumentLine
from podpath.evidence.documents.shapes import OutputShape
from podpath.net.provenance import Source


@dataclass(slots=True, kw_only=True)
class Block:
    """Lines that belong together, in the order of the document. Mutable while the splitter works,
    and local to it.
    """

    label: str | None
    """The prose that introduces it."""
    prompt: Prompt | None = None
    typed: TypedCommand | None = None
    """The command that printed it; None where none is shown."""
    typed_lines: list[DocumentLine] = field(default_factory=list)
    """The lines the command stands in."""
    netns: str | None = None
    lines: list[DocumentLine] = field(default_factory=list)
    """Its output; blank lines within it are kept, so that numbers stay right."""
    shape: OutputShape | None = None
    """The shape of its latest line that has one."""
    steps: tuple[TypedCommand, ...] = ()
    """The commands of its line that this and what follows may be the output of."""
    is_code: bool = False
    """True for a paragraph that is set off as code by its indentation: it ends at a blank line."""

    @property
    def indent(self) -> int:
        """The column that its first line starts at."""
        for first in (*self.typed_lines[:1], *self.lines[:1]):
            return len(first.text) - len(first.text.lstrip())
        return 0

    @property
    def program(self) -> str:
        """The program that printed it; empty where none is shown."""
        return self.typed.program if self.typed is not None else ""

    def take(
        self, line: DocumentLine, blanks: list[DocumentLine], shape: OutputShape | None
    ) -> None:
        """Add a line of output, after the blank lines before it."""
        if self.lines:
            self.lines.extend(blanks)
        self.lines.append(line)
        if shape is not None:
            self.shape = shape

    def sources(self, name: str, order: int, *, typed_is_evidence: bool) -> list[Source]:
        """Make its sources: the command as typed, where that is evidence by itself, and then what
        it printed.
        """
        made: list[Source] = []
        if typed_is_evidence and self.typed_lines:
            made.append(self._source(name, self.typed_lines, order))
        if self.lines or (self.typed is not None and not typed_is_evidence):
            made.append(self._source(name, self.lines, order + len(made)))
        return made

    def _source(self, name: str, lines: list[DocumentLine], order: int) -> Source:
        start = lines[0] if lines else self.typed_lines[0]
        prompt = self.prompt.text if self.prompt is not None else ""
        return Source(
            name=name,
            lines=dedent(
                [line.text for line in lines],
                len(self.prompt.indent) if self.prompt is not None else None,
            ),
            first_line=start.number,
            command=(self.typed.text or self.typed.raw) if self.typed is not None else None,
            typed=self.typed.raw if self.typed is not None and self.typed.wrapped else "",
            prompt=prompt or None,
            netns=self.netns,
            label=self.label,
            order=order,
        )


def dedent(lines: list[str], most: int | None = None) -> tuple[str, ...]:
    """Take the white space off that all lines start with, at most so many characters; blank lines
    become empty.
    """
    full = [line for line in lines if line.strip()]
    if not full:
        return tuple("" for _ in lines)
    low, high = min(full), max(full)
    common = 0
    while common < len(low) and low[common] == high[common] and low[common] in " \t":
        common += 1
    cut = common if most is None else min(common, most)
    return tuple(line[cut:] if line.strip() else "" for line in lines)


def join_command(lines: list[str]) -> str:
    r"""Join the lines of a command that was wrapped with `\` (and the `>` that a shell prints
    before them).
    """
    parts = [lines[0].rstrip()]
    for line in lines[1:]:
        parts[-1] = re.sub(r"\\$", "", parts[-1]).rstrip()
        parts.append(re.sub(r"^>\s+", "", line.strip()))
    return " ".join(part for part in parts if part).removesuffix("\\").rstrip()
