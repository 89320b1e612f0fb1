"""Where a fact came from: sources, spans of their text, gaps, and facts that are known or unknown.

Every answer of podpath quotes the line that decided it, so a `Span` travels with every value from
the reader to the report. A span keeps no text of its own: it points into its source's lines, so
that 150,000 rules cost 150,000 small tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """One command's output, one file or one block of a document. Compared by identity."""

    name: str
    """The file it stands in, as the user named it, e.g. `ticket.md` or
    `bundle/netns/host/sysctl.txt`.
    """
    lines: Sequence[str] = field(repr=False)
    """Its lines without line ends, exactly as they stand; none where a command printed nothing."""
    first_line: int = 1
    """The number that its first line has in the file."""
    format: str = ""
    """The recognized format, e.g. `iptables-save`; empty while it is not recognized."""
    command: str | None = None
    """The command line that printed it, where a prompt or a file name says so."""
    typed: str = ""
    """The whole command line, where the command is run by another one (`docker run IMAGE COMMAND`);
    empty where the two are the same.
    """
    prompt: str | None = None
    """The shell prompt before the command, e.g. `root@node1:~ #`: it names a host."""
    netns: str | None = None
    """The network namespace it was taken in; None where the evidence does not say (taken for the
    host's).
    """
    taken_at: float | None = None
    """When it was taken, in seconds since the epoch; None where the evidence does not say."""
    label: str | None = None
    """The line of prose just before a block (`On a good host:`); None where there is none."""
    order: int = 0
    """The place of the block in its document, from 0: later blocks may show a later state."""
    host: str | None = None
    """The node it was taken on, where the layout of a bundle says so; None where only a prompt may
    tell.
    """
    open_end: bool = False
    """True where it ends a console's text that shows prompts before its commands, and none after
    it: more of the output may have followed.
    """
    open_line: bool = False
    """True where it is at the same time the end of a text without a line end: the rest of its last
    line may be missing, too.
    """


class Span(NamedTuple):
    """Lines of a source, first and last included, by their number in the file."""

    source: Source
    line: int
    last_line: int

    @property
    def text(self) -> str:
        """The lines it stands for, joined by newlines; the command at its prompt, where that
        printed nothing.
        """
        if not self.source.lines and self.source.command is not None:
            return f"{self.source.prompt or '$'} {self.source.typed or self.source.command}"
        start = self.line - self.source.first_line
        return "\n".join(self.source.lines[start : self.last_line - self.source.first_line + 1])

    def __str__(self) -> str:
        """Spell it as compilers do: `file:line`."""
        return f"{self.source.name}:{self.line}"


class Placed(Protocol):
    """Whatever may stand in the evidence."""

    @property
    def span(self) -> Span | None:
        """Where it stands; None where nothing states it."""


def list_spans(things: Iterable[Placed]) -> tuple[Span, ...]:
    """Return where things stand, of those that stand anywhere."""
    spans = (thing.span for thing in things)
    return tuple(span for span in spans if span is not None)


class Cut(NamedTuple):
    """A part of an input that a limit kept from being read: the line that decides may stand in
    it.
    """

    source: str
    """The input, as the user named it; a member of an archive by its own name."""
    kept: int
    """Bytes of it that were read; 0 where it was left out."""
    whole: int | None
    """Its size in bytes; None where only what follows would tell."""
    option: str
    """What lifts the limit: `--max-size`."""


class GapKind(Enum):
    """What became of the lines of a gap, and so what an answer may rest on that does without
    them.
    """

    UNREAD = "unread"
    """They could not be read: they may hold what decides."""
    CUT = "cut"
    """They were left out by a limit on how much is read, or by damage."""
    DROPPED = "dropped"
    """They are packets that the kernel dropped before a capture had them, by its own count."""
    SELECTED = "selected"
    """They are packets that whoever captured or exported them left out, or may have."""
    NOT_MODELLED = "not modelled"
    """They were read, but the model does not know what they do."""
    ASIDE = "aside"
    """They are of a log or the like, which tells of a failure and never decides what becomes of a
    packet.
    """


class Gap(NamedTuple):
    """Something that stands in the evidence and could not be read or used, and why."""

    span: Span
    why: str
    """What was expected and what was seen instead, one line."""
    cut: Cut | None = None
    """The limit that kept it from being read; None where it could not be read at all."""
    kind: GapKind = GapKind.UNREAD


class Basis(Enum):
    """What a fact that no output lists is concluded from, and so what may be built on it."""

    IMPLIED = "implied"
    """The kernel makes it by itself from what is stated: the connected route of an address, `lo`,
    the default policy rules.
    """
    SHOWN = "shown"
    """A line shows it, though it is no listing: a captured frame, a command that made it, a route
    that names a device.
    """
    BEYOND = "beyond"
    """It is out there, where the model ends: a router of another network is taken to answer and to
    do its part.
    """
    GUESSED = "guessed"
    """No line says so: a namespace behind a veth, a route of the host, an address that stands for
    one. It may be otherwise.
    """


class Inferred(NamedTuple):
    """How a fact is known that no listing states; a fact without one is stated."""

    by: Basis
    why: str
    """What it was concluded from, in words."""
    source: Span | None = None
    """The line that it was concluded from; None where there is none."""
    ask: str = ""
    """What would tell, where a snapshot of the node would not."""

    @property
    def is_guess(self) -> bool:
        """Tell whether what rests on it is possible, and never certain."""
        return self.by is Basis.GUESSED


class Known(NamedTuple, Generic[T]):
    """A fact with its value."""

    value: T
    span: Span | None = None
    """The line that says so; None for what holds by the kernel's own rules (a connected route of an
    address, say).
    """
    because: str = ""
    """Why it is taken to hold, where the span alone does not show it."""
    inferred: Inferred | None = None
    """How it is known where no listing states it."""


class Option(NamedTuple, Generic[T]):
    """One value that an unknown fact may have."""

    value: T
    meaning: str
    """What it stands for, in words: `strict`, `as at ticket.md:40 (On a good host:)`, `no such
    rule`.
    """
    span: Span | None = None
    """The line that speaks for it, where two outputs disagree."""


class Unknown(NamedTuple, Generic[T]):
    """A fact that the evidence does not settle: a walk forks over its options."""

    fact: str
    """Its name, e.g. `net.ipv4.conf.all.rp_filter in netns host`."""
    ask: str
    """The command whose output tells."""
    options: tuple[Option[T], ...]
    """The values that it may have, the likeliest first; never empty."""
    why: str = "not in the evidence"
    """Why it is unknown: not in the evidence, elided, or two outputs disagree."""


Fact = Known[T] | Unknown[T]


class Listing(NamedTuple, Generic[T]):
    """Things of one kind that the evidence lists, and whether it lists them all."""

    items: tuple[T, ...]
    complete: bool
    """False where the listing is a fragment (a grep, an ellipsis, or nothing at all)."""
    ask: str
    """The command that prints the whole listing."""
    span: Span | None = None
    """Where the listing stands; None where the evidence holds none."""
    cut: bool = False
    """True where the text ends within the output that would be whole: what is shown may be less
    than there is.
    """
