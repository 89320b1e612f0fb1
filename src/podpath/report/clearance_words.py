"""What forbids the all-clear, in words and as JSON objects: one sentence for each reason, and one
word for each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.diagnosis.forbids import (
    BranchesTruncated,
    ComplaintUnexplained,
    FailsOtherwise,
    FlowsNotWalked,
    Forbids,
    NothingWalked,
    NotShown,
    NotWalkedToTheEnd,
    RestsOnInference,
    RulesLeftOut,
    SomeBranchesFail,
)
from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled
from podpath.report.borders import quote_object
from podpath.report.escape import escape
from podpath.report.owner_words import owned_objects
from podpath.report.sentences import spell_reason

QUOTED = 20
"""Lines that a reason quotes in JSON: of unread ones, `gaps` has all."""


def name_forbids(forbids: Sequence[Forbids]) -> str:
    """Name the kinds of reasons in the order of their weight, each once: `3 lines were not read, 2
    listings are not shown`.
    """
    counts: dict[type[Forbids], int] = {}
    for one in forbids:
        counts[type(one)] = counts.get(type(one), 0) + _count(one)
    return ", ".join(_NAMES[kind][count != 1].format(count) for kind, count in counts.items())


_NAMES: dict[type[Forbids], tuple[str, str]] = {
    NothingWalked: ("no connection was walked", "no connection was walked"),
    SomeBranchesFail: (
        "{0} connection fails in some branches",
        "{0} connections fail in some branches",
    ),
    FailsOtherwise: (
        "{0} connection fails if another output is right",
        "{0} connections fail if another output is right",
    ),
    BranchesTruncated: ("{0} walk was not finished", "{0} walks were not finished"),
    NotWalkedToTheEnd: ("{0} walk is undecided", "{0} walks are undecided"),
    NotModelled: ("{0} thing is not modeled", "{0} things are not modeled"),
    LinesUnread: (
        "{0} part of the evidence was not read",
        "{0} parts of the evidence were not read",
    ),
    RestsOnInference: (
        "{0} walk rests on something not shown",
        "{0} walks rest on things not shown",
    ),
    InputCut: ("{0} input was truncated", "{0} inputs were truncated"),
    ComplaintUnexplained: (
        "{0} reported failure is not explained",
        "{0} reported failures are not explained",
    ),
    FlowsNotWalked: ("{0} set of flows was not walked", "{0} sets of flows were not walked"),
    NotShown: ("{0} listing is incomplete", "{0} listings are incomplete"),
    RulesLeftOut: (
        "{0} failure depends on rules that are not shown",
        "{0} failures depend on rules that are not shown",
    ),
}
"""How one of a kind, and several, are named."""


def _count(one: Forbids) -> int:
    return len(one.gaps) if isinstance(one, LinesUnread | InputCut) else 1


def say_forbids(one: Forbids) -> str:  # noqa: C901, PLR0911  # one arm for each kind of reason
    """Say in a sentence why "nothing wrong" may not be said."""
    match one:
        case NothingWalked(suggested=suggested):
            example = f": {suggested[0]}?" if suggested else "?"
            return f"No failing connection is known. Which one fails{example}"
        case SomeBranchesFail(probe=probe, failing=failing, of=of, turned=turned):
            when = "; ".join(f"{made.fact} is {made.meaning}" for made in turned)
            return (
                f"{probe} fails in {failing} of {of} "
                f"branches{f', first where {when}' if when else ''}."
            )
        case FailsOtherwise(probe=probe, fact=fact, meaning=meaning):
            return f"{probe} does not work if {fact} is {meaning}."
        case ComplaintUnexplained(probe=probe):
            return (
                f"The ticket says that something fails, but the walk delivers {probe}."
                if probe is not None
                else ("The ticket says that something fails, but not between which endpoints.")
            )
        case FlowsNotWalked(said=said):
            return f"These flows were not walked: {'; '.join(said)}."
        case BranchesTruncated(probe=probe, walked=walked):
            return f"{probe} has more branches than the {walked} walked."
        case NotWalkedToTheEnd(probe=probe, outcome=outcome):
            return f"{probe} was not walked to its end: {spell_reason(outcome.reason)}."
        case NotModelled(what=what):
            return f"Not modeled: {what}."
        case LinesUnread(gaps=gaps):
            return (
                f"{_places(len(gaps))} of the evidence could not be read and may hold the deciding "
                "line."
            )
        case InputCut(gaps=gaps):
            return f"Only part of the input was read: {gaps[0].why}."
        case NotShown(what=what, netns=netns):
            return (
                f"No output shows all of {what} in netns {netns}; whatever is not shown was "
                "assumed absent."
            )
        case RulesLeftOut(probe=probe, assumed=assumed):
            facts = "; ".join(f"{made.fact}: {made.meaning}" for made in assumed)
            return f"{probe} fails only if this holds: {facts}."
        case RestsOnInference(probe=probe, guesses=guesses):
            return f"{probe} was walked on an assumption that no output confirms: {guesses[0].why}."
        case _:
            assert_never(one)


def _places(count: int) -> str:
    return "One part" if count == 1 else f"{count} parts"


def forbids_object(one: Forbids, owners: OwnerPlaces = NOBODY) -> dict[str, object]:
    """Return a reason as JSON: its kind, a sentence, and the lines that it stands on, with whose
    they are.
    """
    return {
        "kind": type(one).__name__,
        "says": escape(say_forbids(one)),
        "evidence": [quote_object(span) for span in one.spans[:QUOTED]],
        "whose": owned_objects(owners.list_owned(one.spans[:QUOTED])),
    }
