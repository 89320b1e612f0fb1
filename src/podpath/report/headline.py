"""The first line of a diagnosis: one word for the verdict, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from podpath.checks.finding import WEIGHTY
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict
from podpath.report.claims import spell_claim
from podpath.report.style import Style, render_head


def render_headline(diagnosis: Diagnosis, style: Style) -> list[str]:
    """Say the verdict and what it comes to: a cause, the likeliest possibility and what would tell,
    or what was walked.
    """
    weighty = [finding for finding in diagnosis.findings if finding.severity in WEIGHTY]
    if diagnosis.verdict is Verdict.FAULT:
        weighty = [finding for finding in weighty if finding.certainty == 1] or weighty
    match diagnosis.verdict:
        case Verdict.FAULT if not weighty:
            return render_head(style, "bad", "FAULT", "no finding explains it")
        case Verdict.FAULT:
            word = "CAUSE" if weighty[0].severity == "cause" else "FAULT"
            where = f"on {diagnosis.node}: " if diagnosis.node else ""
            return render_head(style, "bad", word, where + spell_claim(weighty[0].claim))
        case Verdict.POSSIBLE if diagnosis.forbids:
            return render_head(style, "warn", "UNDECIDED", _undecided(diagnosis))
        case Verdict.POSSIBLE:
            count = len(weighty)
            first = spell_claim(weighty[0].claim).rstrip(".") if weighty else ""
            what = f"{count} possible causes, most likely: {first}"
            if count < 2:
                what = f"one possible cause: {first}"
            if not count:
                what = "nothing in the evidence explains the failure"
            tell = f"; next, provide: {diagnosis.questions[0].ask}" if diagnosis.questions else ""
            return render_head(style, "warn", "UNDECIDED", what + tell)
        case Verdict.NONE:
            return render_head(
                style, "good", "NOTHING WRONG FOUND", _walked_in_words(diagnosis.conversations)
            )
        case _:
            assert_never(diagnosis.verdict)


def _walked_in_words(conversations: Sequence[Conversation]) -> str:
    """Say what was walked, and how much of it works whatever is not known."""
    works = sum(conversation.verdict is Reachability.ALWAYS for conversation in conversations)
    if len(conversations) == 1:
        what = "works end to end" if works else "was walked and remains undecided"
        return f"{conversations[0].probe} {what}"
    return f"{works} of {len(conversations)} walked connections work"


def _undecided(diagnosis: Diagnosis) -> str:
    """Say in one line what is missing, what was looked at, and the one thing to give next.

    Whoever reads half of it must not take it for an all-clear, so what is missing stands first and
    nothing that was walked is said to work.
    """
    from podpath.report.clearance_words import name_forbids  # noqa: PLC0415 - slow to load

    walked = diagnosis.conversations
    several = f"{len(walked)} connections" if len(walked) > 1 else ""
    looked = "".join(f"; looked at {several or one.probe}" for one in walked[:1])
    asked = f"; next, provide: {diagnosis.questions[0].ask}" if diagnosis.questions else ""
    return f"{name_forbids(diagnosis.forbids)}{looked}{asked}"
