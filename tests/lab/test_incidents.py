"""Built-in incidents as data."""

from __future__ import annotations

import pytest

from podpath.checks.registry import CHECKS
from podpath.datapath.conversations.conversation import converse
from podpath_lab.incidents.registry import INCIDENTS


def test_there_are_twenty_and_each_says_what_broke() -> None:
    """Every incident has a sentence of its own and a name that is its key."""
    assert len(INCIDENTS) >= 20
    assert len({incident.summary for incident in INCIDENTS.values()}) == len(INCIDENTS)
    assert all(incident.name == name for name, incident in INCIDENTS.items())


@pytest.mark.parametrize("name", INCIDENTS)
def test_each_attempt_is_a_connection_of_its_own(name: str) -> None:
    """Tries come from different ports, but where the fault lies with an earlier connection."""
    incident = INCIDENTS[name]
    assert (incident.asked(0) == incident.asked(1)) is incident.same_port


@pytest.mark.parametrize("name", INCIDENTS)
def test_checks_that_an_incident_names_exist(name: str) -> None:
    """An incident can only ask for checks that are in the manual."""
    assert set(INCIDENTS[name].checks) <= {check.name for check in CHECKS}


def test_a_node_that_needs_no_preparation_works_in_the_model() -> None:
    """Where nothing but the draft makes the node, the model lets the probe through."""
    plain = [incident for incident in INCIDENTS.values() if not incident.prepared_by]
    assert plain
    assert all(
        converse(incident.build().freeze(), incident.asked()).verdict == "ALWAYS"
        for incident in plain
    )
