"""What forbids the all-clear, as values: each way to break its promise is a class, with the lines
that it stands on.

`clearance` finds them; `report` makes sentences of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath.datapath.tracing.trace import Assumption, Undecided
from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled
from podpath.net.probe import Probe
from podpath.net.provenance import Inferred, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingWalked:
    """No connection in question was walked."""

    suggested: tuple[Probe, ...] = ()
    """Connections between ends that the evidence shows: one of them may be the one that fails."""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SomeBranchesFail:
    """A connection fails under some answer to what is not known, or by some choice of the
    kernel's.
    """

    probe: Probe
    failing: int
    of: int
    turned: tuple[Assumption, ...] = ()
    """What the first failing branch takes for granted otherwise than the likeliest."""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailsOtherwise:
    """A connection fails in another state of the node that the evidence leaves possible."""

    probe: Probe
    fact: str
    meaning: str
    ask: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchesTruncated:
    """A connection has more branches than were walked."""

    probe: Probe
    walked: int
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWalkedToTheEnd:
    """A walk met something that is not modeled or cannot be known."""

    probe: Probe
    outcome: Undecided
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotShown:
    """Walks passed a listing that no output shows, or not whole, and took what is not there for
    absent.
    """

    what: str
    netns: str
    ask: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesLeftOut:
    """A connection fails only if rules that the evidence leaves out do not let it pass before."""

    probe: Probe
    assumed: tuple[Assumption, ...]
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestsOnInference:
    """A connection was walked over what nothing states: a namespace, a route or an owner of an
    address that was guessed.
    """

    probe: Probe
    guesses: tuple[Inferred, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the lines that the guesses were concluded from."""
        return tuple(
            dict.fromkeys(guess.source for guess in self.guesses if guess.source is not None)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplaintUnexplained:
    """People say that something fails, and no walk shows it fail."""

    probe: Probe | None
    """The connection that they mean; None where the evidence does not have its ends."""
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowsNotWalked:
    """Of a set of flows that is asked about, some were not walked: they are no connections of this
    node, or the bound on walks is met.
    """

    said: tuple[str, ...]
    """Their destinations and ports."""
    spans: tuple[Span, ...] = ()


Forbids = (
    NothingWalked
    | SomeBranchesFail
    | FailsOtherwise
    | BranchesTruncated
    | NotWalkedToTheEnd
    | NotModelled
    | LinesUnread
    | InputCut
    | NotShown
    | RulesLeftOut
    | RestsOnInference
    | ComplaintUnexplained
    | FlowsNotWalked
)
"""One reason why "nothing wrong" may not be said."""
