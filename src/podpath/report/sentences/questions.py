"""What is asked, and what each answer would mean, in words."""

from __future__ import annotations

from podpath.datapath.reasons import Reason
from podpath.diagnosis.diagnosis import BreakingValue
from podpath.report.sentences.failures import spell_failure
from podpath.report.sentences.reasons import spell_reason


def spell_fact(fact: str | Reason) -> str:
    """Say what a question is about."""
    if isinstance(fact, str):
        return fact
    return spell_reason(fact)


def spell_answer(answer: str | BreakingValue) -> str:
    """Say what an answer would mean."""
    if isinstance(answer, str):
        return answer
    return f"{answer.meaning}: {spell_failure(answer.failure)}"
