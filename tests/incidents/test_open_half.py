"""The open half of the gathered incidents: no answer misleads, and none is worth less than it
was.
"""

from __future__ import annotations

import json

import pytest

import podpath
from podpath.net.errors import EvidenceError
from scripts.score_incidents import Incident, Outcome, judge, read_incidents, read_recorded

RANKS = list(Outcome)
MISLEADING = {Outcome.FALSE_ALL_CLEAR, Outcome.WRONG, Outcome.REFUSED}
RECORDED = read_recorded()


def diagnose(incident: Incident) -> Outcome:
    """Diagnose an incident's ticket and judge the answer."""
    try:
        answer = podpath.diagnose([str(incident.folder / "ticket.md")])
    except EvidenceError:
        return Outcome.REFUSED
    return judge(incident, answer.exit_code, json.loads(answer.json()))


@pytest.mark.parametrize(
    "incident", read_incidents("open"), ids=lambda incident: incident.folder.name
)
def test_no_answer_misleads_or_is_worth_less_than_it_was(incident: Incident) -> None:
    """An answer may get better, and then is recorded anew; where it misled when it was recorded,
    that is known.
    """
    outcome = diagnose(incident)
    recorded = RECORDED[incident.folder.name]
    assert outcome not in MISLEADING - {recorded}
    assert RANKS.index(outcome) <= RANKS.index(recorded)
