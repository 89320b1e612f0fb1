"""Which node's answer is given where the evidence is of several."""

from __future__ import annotations

import pytest

from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.several_nodes import choose_answer
from podpath.diagnosis.verdict import Verdict

FAULT, POSSIBLE, NONE = (
    Diagnosis(verdict=verdict, findings=(), notes=("its own note",))
    for verdict in (Verdict.FAULT, Verdict.POSSIBLE, Verdict.NONE)
)


def test_one_node_is_answered_as_it_is() -> None:
    """Nothing is said of others."""
    assert FAULT is choose_answer(("n1",), (FAULT,))


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ((NONE, POSSIBLE, FAULT), "n3"),
        ((NONE, FAULT, FAULT), "n2"),
        ((NONE, POSSIBLE, NONE), "n2"),
        ((NONE, NONE, NONE), "n1"),
    ],
)
def test_the_worst_nodes_answer_is_given(answers: tuple[Diagnosis, ...], chosen: str) -> None:
    """The first of them, with its own notes after the one about the others."""
    answer = choose_answer(("n1", "n2", "n3"), answers)

    assert (chosen, "its own note") == (answer.node, answer.notes[1])


def test_what_became_of_the_others_is_told() -> None:
    """Each with the option that shows its answer."""
    (note, _) = choose_answer(("n1", "n2", "n3", "n4"), (NONE, FAULT, POSSIBLE, FAULT)).notes

    assert note == (
        "The evidence covers 4 nodes; this answer is about n2. "
        "n1: nothing wrong was found there; --node n1 shows its answer. "
        "n3: it is undecided there; --node n3 shows its answer. "
        "n4: a fault was found there too; --node n4 shows its answer."
    )
