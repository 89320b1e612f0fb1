"""A switch of the kernel whose stated value breaks just what people say is broken, as a row of a
table.

A value alone is no fault: most switches are off because nobody needs them. Prose alone states
nothing. A row says which value breaks which road, and how both are known; where they meet, the
value is the cause.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.ground import Ground
from podpath.checks.message_check import render_page
from podpath.net.provenance import Known, Span
from podpath.node.case import Case

Cut = Callable[[Case], tuple[Span, ...]]
"""What finds the sentences that say that a road is cut; none where they do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCheck:
    """A switch, the value that breaks a road, the road, and the manual page of that fault."""

    name: str
    title: str
    keys: tuple[str, ...]
    """The switch; `*` stands for any device."""
    value: str
    """The value that breaks it, which each of the stated keys has to have."""
    unless: frozenset[str] = frozenset()
    """Values of any of the keys by which it is not broken, whatever the others are."""
    categories: tuple[Category, ...]
    cuts: Cut
    """What people say that makes it certain."""
    may_cut: Cut
    """What people say by which it is possible."""
    possible: float
    claim: str
    breaks: str
    cure: str
    commands: tuple[str, ...]
    ask: FollowUp
    why: str
    references: str

    @property
    def page(self) -> str:
        """The manual page."""
        sections = (
            ("What it is", self.claim, ""),
            ("Why it breaks", self.why, ""),
            ("How to confirm", "\n".join((f"sysctl -a | grep {self.key}", self.ask.command)), "  "),
            ("How to fix", "\n".join((f"To {self.cure}:", *self.commands)), ""),
            ("References", self.references, ""),
        )
        return render_page(f"{self.name}: {self.title}", sections)

    @property
    def key(self) -> str:
        """The last word of its keys."""
        return self.keys[0].rpartition(".")[2]

    def find(self, case: Case) -> Iterator[Finding]:
        """Report the switch where people say that what it breaks is broken."""
        lines = self._list_lines(case)
        sure = self.cuts(case) if lines else ()
        said = sure or (self.may_cut(case) if lines else ())
        if not said:
            return
        yield Finding(
            check=self.name,
            severity=Severity.FAULT,
            claim=self.claim,
            evidence=tuple(dict.fromkeys((*lines, *said[:2]))),
            reasoning=(Ground.SYMPTOM,) if sure else (),
            breaks=(self.breaks,),
            repairs=(Repair(title=self.cure, commands=self.commands),),
            prevention="Set the value in a file in /etc/sysctl.d.",
            certainty=1.0 if sure else self.possible,
            asks=() if sure else (self.ask,),
            marks=(self.key, self.value),
        )

    def _list_lines(self, case: Case) -> tuple[Span, ...]:
        """Return the lines that state the value; none where another one of its keys undoes it."""
        stated: list[Known[str]] = []
        for key, fact in case.node.host.sysctls.items():
            if isinstance(fact, Known) and any(fnmatch.fnmatchcase(key, one) for one in self.keys):
                stated.append(fact)
        if any(fact.value in self.unless for fact in stated):
            return ()
        return tuple(
            fact.span for fact in stated if fact.value == self.value and fact.span is not None
        )
