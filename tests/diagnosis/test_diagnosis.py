"""When a connection may be said to work."""

from __future__ import annotations

import pytest

from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict
from podpath.testing.nodes import probe

ASKED, OTHER = probe("tcp 10.0.0.1 > 10.0.0.2:80"), probe("tcp 10.0.0.1 > 10.0.0.3:80")


@pytest.mark.parametrize(
    ("verdict", "reachable", "denied", "works"),
    [
        (Verdict.NONE, Reachability.ALWAYS, OTHER, True),
        (Verdict.FAULT, Reachability.ALWAYS, OTHER, True),
        (Verdict.POSSIBLE, Reachability.ALWAYS, OTHER, False),
        (Verdict.NONE, Reachability.SOMETIMES, OTHER, False),
        (Verdict.NONE, Reachability.UNDECIDED, OTHER, False),
        (Verdict.NONE, Reachability.ALWAYS, ASKED, False),
    ],
)
def test_a_connection_works_where_nothing_speaks_against_it(
    verdict: Verdict, reachable: Reachability, denied: object, *, works: bool
) -> None:
    """Not where the answer is open, nor where people say that this connection fails."""
    answer = Diagnosis(verdict=verdict, findings=(), denied=frozenset((denied,)))  # type: ignore[arg-type]  # a probe

    assert works == answer.is_shown_to_work(
        Conversation(probe=ASKED, branches=(), verdict=reachable, truncated=False)
    )


@pytest.mark.parametrize(
    ("reachable", "working", "seen"),
    [
        (Reachability.NEVER, ASKED, True),
        (Reachability.SOMETIMES, ASKED, True),
        (Reachability.NEVER, OTHER, False),
        (Reachability.ALWAYS, ASKED, False),
        (Reachability.UNDECIDED, ASKED, False),
    ],
)
def test_what_the_evidence_shows_to_work_is_not_said_to_fail(
    reachable: Reachability, working: object, *, seen: bool
) -> None:
    """A walk that ends elsewhere lacks a fact."""
    answer = Diagnosis(
        verdict=Verdict.POSSIBLE,
        findings=(),
        working=frozenset((working,)),  # type: ignore[arg-type]  # a probe
    )
    asked = Conversation(probe=ASKED, branches=(), verdict=reachable, truncated=False)

    assert seen == answer.is_seen_to_work(asked)
