"""A fault that a message tells by itself, as a table of its room's file (`message_file`).

Words of the evidence come into a claim as they stand, each in its place; what stands in them is
never read as a template, and `report` escapes them as it escapes every claim. A command takes only
words that a shell takes as one plain word.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.ground import Ground, Unsettling
from podpath.checks.needs import Need
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

ASIDE = (" (", ")")
"""What stands around a value that is said aside: `The bond (bond0) ...`, and nothing where it is
not known.
"""
SPACED = (" ", "")
"""What stands around a value that follows a word."""
WIDTH = 118
"""Columns of a manual page."""

_PLACE = re.compile(r"\{(\w+)\}")
_PLAIN_WORD = re.compile(r"(?!-)[\w.:/@%+=,-]+", re.ASCII)


class Value(NamedTuple):
    """A place in a claim or command, and the value of the message that stands there."""

    place: str
    """Its name in the text, between braces."""
    names: tuple[str, ...] = ()
    """The values that may stand there, of which the first one counts; the place's own name where
    none is told.
    """
    default: str = ""
    """What stands there where no message has the value."""
    frame: tuple[str, str] = ("", "")
    """What stands before and after a value that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCheck:
    """What some kinds of message mean to the network, and the manual page of that fault."""

    name: str
    title: str
    """The page's first line, without the name."""
    kinds: tuple[MessageKind, ...]
    categories: tuple[Category, ...]
    claim: str
    """One sentence that names the cause; `{device}` is the place of a value."""
    breaks: str
    """What does not work because of it."""
    cure: str
    """What mends it, in words."""
    what: str
    why: str
    confirm: str
    """The commands that confirm it, a line each."""
    fix: str
    references: str
    values: tuple[Value, ...] = ()
    commands: tuple[str, ...] = ()
    """The cure as commands, with places as in the claim."""
    needs: tuple[str, str] | None = None
    """A value that a message must have to tell of this fault, and what it must be (empty:
    anything); None where all do.
    """
    severity: Severity = Severity.FAULT
    prevention: str = ""
    """How it is kept from coming back."""
    certainty: float = 1.0
    """1 only where the line alone proves that it breaks something."""
    ask: FollowUp | None = None
    """What decides, where the message leaves it open."""
    settled_by: frozenset[Ground] = frozenset()
    """What makes it certain, where the evidence states it beside the message."""
    doubted_by: frozenset[Unsettling] = frozenset()
    """What makes it possible only, where the evidence states it beside the message."""
    proves: frozenset[FailureKind] = frozenset()
    """Failures that make it certain where nothing else is found: hardly anything else makes them
    beside such a line.
    """
    proves_where: tuple[str, re.Pattern[str]] | None = None
    """A value that some message must have, and a pattern that it must hold, for `proves` to hold;
    None where every message proves them.
    """
    needed_for: frozenset[Need] = frozenset()
    """What cannot work without what it breaks, where nothing else is found."""

    @property
    def page(self) -> str:
        """The manual page."""
        sections = (
            ("What it is", self.what, ""),
            ("Why it breaks", self.why, ""),
            ("How to confirm", self.confirm, "  "),
            ("How to fix", self.fix, ""),
            ("References", self.references, ""),
        )
        return render_page(f"{self.name}: {self.title}", sections)

    def find(self, case: Case) -> Iterator[Finding]:
        """Report what was said of it."""
        said = [message for message in find_said(case, *self.kinds) if self.tells(message)]
        if said:
            yield replace(
                tell(self.name, said, self._read(said)),
                settled_by=self.settled_by,
                doubted_by=self.doubted_by,
                proves=self.proves if any(map(self._is_proof, said)) else frozenset(),
                needed_for=self.needed_for,
                about=self._list_services(said),
            )

    def _is_proof(self, message: Message) -> bool:
        if self.proves_where is None:
            return True
        name, pattern = self.proves_where
        return pattern.search(message.values.get(name, "")) is not None

    def tells(self, message: Message) -> bool:
        """Say whether a message of one of the kinds tells of this fault."""
        if self.needs is None:
            return True
        name, word = self.needs
        return name in message.values and word in {"", message.values[name]}

    def _list_services(self, said: Sequence[Message]) -> frozenset[str]:
        """Return the services that all of the messages say have no endpoint, without their
        namespaces; nothing where one names none.
        """
        if Category.NO_ENDPOINTS not in self.categories:
            return frozenset()
        names = [message.values.get("service", "").rpartition("/")[2] for message in said]
        return frozenset(names) if all(names) else frozenset()

    def _read(self, said: Sequence[Message]) -> Meaning:
        words: dict[str, str] = {}
        arguments: dict[str, str] = {}
        for value in self.values:
            known = get_value(said, *(value.names or (value.place,)))
            words[value.place] = _word(value, known)
            arguments[value.place] = _argument(value, known)
        return Meaning(
            claim=_put(self.claim, words),
            breaks=self.breaks,
            cure=self.cure,
            commands=tuple(_put(command, arguments) for command in self.commands),
            severity=self.severity,
            prevention=self.prevention,
            certainty=self.certainty,
            ask=self.ask,
        )


def _word(value: Value, known: str) -> str:
    """Return what stands at a place of a claim."""
    return f"{value.frame[0]}{known}{value.frame[1]}" if known else value.default


def _argument(value: Value, known: str) -> str:
    """Return what stands at a place of a command: a plain word, or the place's name for somebody to
    fill in.
    """
    words = (word for word in (known, value.default) if _PLAIN_WORD.fullmatch(word))
    return next(words, value.place.upper())


def _put(template: str, words: dict[str, str]) -> str:
    """Put words at their places in one pass, so that no word is read as a template."""
    return _PLACE.sub(lambda place: words[place[1]], template)


def render_page(title: str, sections: Iterable[tuple[str, str, str]]) -> str:
    """Return a manual page: its title, and each section's heading, text and hanging indent."""
    parts = [f"{heading}\n{_fill(text, hanging)}\n" for heading, text, hanging in sections]
    return "\n".join((f"{title}\n", *parts))


def _fill(text: str, hanging: str) -> str:
    """Break a section's lines at the page's width."""
    filler = textwrap.TextWrapper(
        width=WIDTH,
        initial_indent="    ",
        subsequent_indent=f"    {hanging}",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(filler.fill(line) for line in text.split("\n"))
