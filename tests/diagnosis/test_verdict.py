"""The three verdicts and the exit codes that are published for them."""

from __future__ import annotations

from podpath.diagnosis.verdict import Verdict


def test_every_verdict_has_an_exit_code_of_its_own() -> None:
    """Scripts tell a fault, an open question and the all-clear apart; 2 is left for what could not
    be read.
    """
    assert {"fault": 1, "possible": 3, "none": 0} == {
        verdict.value: verdict.exit_code for verdict in Verdict
    }
