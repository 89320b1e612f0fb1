"""Which connections are walked once more under every answer to what is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.conclusion import _look_further, _weigh_possibilities
from podpath.diagnosis.explanations import Explanation
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Judgement, World
from podpath.testing.nodes import given_netns, given_node, listening, probe

ASKED = probe("tcp 10.0.0.1 > 10.0.0.2:80 from pod")
NODE = given_node(
    given_netns("host", "a peer pod:eth0", "b peer far:eth0"),
    given_netns("pod", "eth0 10.0.0.1/24 peer host:a"),
    given_netns("far", "eth0 10.0.0.2/24 peer host:b", netns={"sockets": listening(80)}),
)


def judged(fit: Fit, *, asked: bool) -> Judgement:
    """Judge a connection that nobody says anything of."""
    branch = Branch(assumptions=(), traces=(), works=True)
    conversation = Conversation(
        probe=ASKED, branches=(branch,), verdict=Reachability.ALWAYS, truncated=False
    )
    symptom = replace(Symptom(probe=ASKED, fails=None), asked=asked)
    return Judgement(symptom, conversation, branch, fit, world=World(NODE, ()))


@pytest.mark.parametrize(
    ("fit", "asked", "further"),
    [
        (Fit.OPEN, True, True),
        (Fit.OPEN, False, False),
        (Fit.UNDECIDED, True, False),
        (Fit.EXPLAINS, True, False),
    ],
)
def test_only_what_is_asked_about_and_open_is_walked_further(
    fit: Fit,
    asked: bool,  # noqa: FBT001 # a row
    further: bool,  # noqa: FBT001 # a row
) -> None:
    """The rest has its answer, or nobody wants one."""
    before = judged(fit, asked=asked)

    assert further is (_look_further(before).conversation is not before.conversation)


def test_what_breaks_a_connection_that_works_is_told_only_where_nothing_better_is() -> None:
    """The explanation that breaks the least comes first, and those that break more are left out."""
    kept, broken = (
        judged(fit, asked=False)._replace(symptom=Symptom(probe=ASKED, fails=False))
        for fit in (Fit.KEEPS, Fit.CONTRADICTS)
    )
    sound, harmful = (
        Explanation(world=World(NODE, ()), judgements=(one,), blames=()) for one in (kept, broken)
    )

    assert (kept,) == _weigh_possibilities((sound, harmful), (), ()).judgements
