"""What a check or the diagnosis finds wrong, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from podpath.checks.ground import Ground, Unsettling
from podpath.net.failures import FailureKind
from podpath.net.provenance import Inferred, Span

if TYPE_CHECKING:  # what captures alone show names no walk, change or need, which are slow to load
    from podpath.checks.cause import Claim, PacketStory
    from podpath.checks.needs import Need
    from podpath.datapath.tracing.trace import Branch
    from podpath.node.change import Change


class Severity(StrEnum):
    """What a finding means to the connections in question, the gravest first."""

    CAUSE = "cause"
    """It explains a failure in the evidence."""
    FAULT = "fault"
    """It breaks something."""
    RISK = "risk"
    """It will break something."""
    NOTE = "note"
    """It is worth knowing."""


WEIGHTY = frozenset({Severity.CAUSE, Severity.FAULT})
"""What forbids an all-clear."""


class FollowUp(NamedTuple):
    """What would make an uncertain finding certain, or refute it."""

    fact: str
    """What is not known, in words."""
    command: str
    """The command that tells."""
    decides: str
    """What each answer would mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change that mends the fault."""

    title: str
    commands: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    """The same on the model, so that the cure can be walked; empty where the model has no word for
    it.
    """
    proven: str = ""
    """`simulated` where the walk on the changed node delivers on stated facts; `lab` where a real
    kernel did; empty where neither.
    """
    side_effects: tuple[str, ...] = ()
    """Other flows of the evidence that the change alters; empty when none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    check: str
    """The check's name as in the manual: `rp-filter`, `chain-order`."""
    severity: Severity
    claim: str | Claim
    """What names the cause: a sentence, or the cause itself where a walk found it."""
    evidence: tuple[Span, ...]
    """The lines that show it, the deciding one first."""
    reasoning: tuple[str | PacketStory | Ground | Unsettling, ...] = ()
    """The chain from the evidence to the claim, one sentence or packet a link."""
    breaks: tuple[str, ...] = ()
    """What does not work because of it."""
    repairs: tuple[Repair, ...] = ()
    prevention: str = ""
    """How it is kept from coming back."""
    certainty: float = 1.0
    """1 where the evidence decides it; below, a share among the possibilities."""
    asks: tuple[FollowUp, ...] = ()
    """What would settle it, where it is not certain."""
    marks: tuple[str, ...] = ()
    """The words within the evidence lines that decide: `INVALID`, `1002`; reports mark them."""
    about: frozenset[str] = frozenset()
    """The names and addresses of the one service that it breaks; empty where it may break more."""
    history: tuple[str, ...] = ()
    """What logs say led to it, in order; empty where none does."""
    rests_on: tuple[Inferred, ...] = ()
    """What it rests on that nothing states; where there is any, it is possible, and its cure is
    described, never commanded.
    """
    shown_by: Branch | None = None
    """The walk that shows it break; None for what no walk sees."""
    explains: frozenset[FailureKind] | None = None
    """The failures that it can make; None for those of its check's categories
    (`checks.explains`).
    """
    settled_by: frozenset[Ground] = frozenset()
    """What makes it certain, where the evidence states it beside its lines."""
    doubted_by: frozenset[Unsettling] = frozenset()
    """What makes it possible only, where the evidence states it beside its lines."""
    proves: frozenset[FailureKind] = frozenset()
    """Failures that hardly anything else makes where the quoted lines hold: one of these, stated of
    the same traffic, makes a finding certain that stands alone.
    """
    needed_for: frozenset[Need] = frozenset()
    """What cannot work without what it breaks: a statement that one of these fails makes a finding
    certain that stands alone.
    """
