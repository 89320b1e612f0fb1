"""The answer of a diagnosis, as data: the reports render it, the command's exit code follows from
it.

Verdict, exit code, headline and JSON say one thing: all follow from `verdict`, and "nothing wrong"
with a reason against it cannot be built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from podpath.checks.finding import Finding
from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.failures import Failure
from podpath.datapath.tracing.trace import Conversation
from podpath.diagnosis.complained import Complained
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.meeting import PacketComparison
from podpath.diagnosis.verdict import Verdict
from podpath.net.probe import Probe
from podpath.net.provenance import Gap
from podpath.node.case import Contradiction


class BreakingValue(NamedTuple):
    """A value by which a connection that works would fail."""

    meaning: str
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A fact that is missing, the command that tells it, and what each answer would mean."""

    fact: str | Reason
    """What is not known: a fact, or what a walk could not decide."""
    ask: str
    decides: tuple[str | BreakingValue, ...]
    """One line for each possible value: `1 or 2: the reply is dropped at lxc1234; 0: look at
    FORWARD next`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Everything that podpath has to say about a case."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    """The cause first."""
    conversations: tuple[Conversation, ...] = ()
    questions: tuple[Question, ...] = ()
    """The most telling first."""
    contradictions: tuple[Contradiction, ...] = ()
    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = ()
    """What the reader should know about how the answer was reached: boundaries that are not
    modeled, and the like.
    """
    partings: tuple[PacketComparison, ...] = ()
    """Where what captures show departs from what the walk of a failing connection predicts."""
    complained: tuple[Complained, ...] = ()
    """The connections that were walked because prose complains of them, with how their ends were
    found.
    """
    node: str = ""
    """Which node it is about; empty where the evidence is of one only."""
    denied: frozenset[Probe] = frozenset()
    """Connections that people say fail, whatever the walk makes of them."""
    working: frozenset[Probe] = frozenset()
    """Connections that the evidence shows to work: where a walk does not deliver one, it lacks a
    fact.
    """
    forbids: tuple[Forbids, ...] = ()
    """What forbids the all-clear, the weightiest first; empty where it is given, or where a cause
    decides the verdict anyway.
    """
    owners: OwnerPlaces = NOBODY
    """Whose the lines of the evidence are."""

    def __post_init__(self) -> None:
        """Refuse an all-clear that something forbids."""
        if self.verdict is Verdict.NONE and self.forbids:
            raise AssertionError(f"an all-clear, though {len(self.forbids)} things forbid it")

    def is_shown_to_work(self, conversation: Conversation) -> bool:
        """Tell whether a connection that a walk delivers may be said to work.

        Not where anything forbids the all-clear or leaves the answer open, and not where people say
        that it fails: then the walk has only shown no fault.
        """
        return (
            conversation.verdict == "ALWAYS"
            and self.verdict is not Verdict.POSSIBLE
            and conversation.probe not in self.denied
        )

    def is_seen_to_work(self, conversation: Conversation) -> bool:
        """Tell whether the evidence shows a connection to work that a walk does not always
        deliver.
        """
        return conversation.verdict in {"NEVER", "SOMETIMES"} and conversation.probe in self.working

    @property
    def exit_code(self) -> int:
        """0 nothing wrong found, 1 a fault found, 3 undecided for lack of evidence."""
        return self.verdict.exit_code
