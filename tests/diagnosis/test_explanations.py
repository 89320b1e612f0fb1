"""What makes an explanation certain: all of it stated, and nothing that speaks against it."""

from __future__ import annotations

import re

from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.explanations import Explanation, is_certain
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.questions import _decides
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import Judgement, Supposition, World
from podpath.testing.nodes import given_node, probe

ASKED = probe("tcp 10.0.0.1 > 10.0.0.2:80")


def judged(fit: Fit, *, fails: bool) -> Judgement:
    """Judge a connection that was seen to fail or to work."""
    conversation = Conversation(
        probe=ASKED, branches=(), verdict=Reachability.UNDECIDED, truncated=False
    )
    return Judgement(Symptom(probe=ASKED, fails=fails), conversation, None, fit)


def explanation(*judgements: Judgement) -> Explanation:
    """Return a world without a guess, and what it makes of connections."""
    return Explanation(world=World(given_node(), ()), judgements=judgements, blames=())


def test_an_explanation_breaks_what_worked_and_fails_in_it() -> None:
    """A connection that failed and works in it is contradicted, not broken."""
    worked = judged(Fit.CONTRADICTS, fails=False)
    failed = judged(Fit.CONTRADICTS, fails=True)

    assert (1, 1) == (explanation(worked).broken, explanation(worked).contradicted)
    assert (0, 1) == (explanation(failed).broken, explanation(failed).contradicted)


def test_what_breaks_a_connection_that_works_is_never_certain() -> None:
    """However much of it is stated."""
    sound = explanation(judged(Fit.KEEPS, fails=False))
    broken = explanation(judged(Fit.CONTRADICTS, fails=False))

    assert is_certain(sound, (sound,))
    assert not is_certain(broken, (broken,))


def test_possibilities_are_counted_from_one() -> None:
    """As a list on paper is."""
    guess = Supposition("FORWARD", "it drops", "it accepts", "iptables -S FORWARD", None)
    first, second = (
        Explanation(world=World(given_node(), made), judgements=(), blames=())
        for made in ((guess,), ())
    )

    assert ["possibility 1", "possibility 2"] == [
        word
        for line in _decides((first, second), 0, guess)
        for word in re.findall(r"possibility \d", line)
    ]
