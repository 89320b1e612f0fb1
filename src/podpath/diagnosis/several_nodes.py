"""Evidence of several nodes: each is diagnosed by itself, and the answer is that of the node where
something is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict

_ORDER = (Verdict.FAULT, Verdict.POSSIBLE, Verdict.NONE)
_MEANINGS = {
    Verdict.FAULT: "a fault was found there too",
    Verdict.POSSIBLE: "it is undecided there",
    Verdict.NONE: "nothing wrong was found there",
}


def choose_answer(names: Sequence[str], answers: Sequence[Diagnosis]) -> Diagnosis:
    """Return the answer of the first node at fault, else of one that is undecided, and say what
    became of the others.
    """
    if len(answers) == 1:
        return answers[0]
    chosen = min(range(len(answers)), key=lambda at: _ORDER.index(answers[at].verdict))
    others = [
        f"{name}: {_MEANINGS[answer.verdict]}; --node {name} shows its answer"
        for at, (name, answer) in enumerate(zip(names, answers, strict=True))
        if at != chosen
    ]
    note = (
        f"The evidence covers {len(names)} nodes; this answer is about {names[chosen]}. "
        f"{'. '.join(others)}."
    )
    return replace(answers[chosen], node=names[chosen], notes=(note, *answers[chosen].notes))
