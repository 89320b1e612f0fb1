"""The first line: one word for the verdict, and what it comes to."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.forbids import ComplaintUnexplained
from podpath.diagnosis.verdict import Verdict
from podpath.net.probe import Probe
from podpath.report.headline import render_headline
from podpath.report.style import Style
from podpath.report.walked_text import render_walked
from tests.diagnosis.scenes import (
    GOOD,
    OUTSIDE,
    POD,
    attempt,
    bridged_node,
    case,
    cilium_node,
    known,
    whole,
)
from tests.report import diagnoses

SOUND = diagnose(case(whole(bridged_node("1"))), (Probe.parse(f"tcp {POD}:5000 > {OUTSIDE}:80"),))
FORBIDS = ComplaintUnexplained(probe=None, spans=())


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(diagnoses.diagnoses)
def test_one_of_four_words_begins_it(diagnosis: Diagnosis) -> None:
    """Whatever was found, the word is one of a closed set."""
    first = render_headline(diagnosis, Style())[0]
    assert first.partition(":")[0] in {"CAUSE", "FAULT", "UNDECIDED", "NOTHING WRONG FOUND"}


def test_a_possibility_is_named_with_the_question() -> None:
    """Whoever reads no further knows what to look at."""
    diagnosis = diagnose(
        case(cilium_node(known(GOOD), rp_filter=None), attempt(f"tcp {POD}:5000 > {OUTSIDE}:80"))
    )
    said = " ".join(line.strip() for line in render_headline(diagnosis, Style()))
    assert said.startswith("UNDECIDED: one possible cause: The reverse-path filter drops")
    assert said.endswith("next, provide: sysctl net.ipv4.conf.all.rp_filter")


def test_what_is_open_is_never_said_to_work() -> None:
    """A walk that delivers what people say fails has shown no fault, and no more: neither the first
    line nor the list of walks calls it working.
    """
    open_still = replace(SOUND, verdict=Verdict.POSSIBLE, forbids=(FORBIDS,))
    denied = replace(SOUND, denied=frozenset({SOUND.conversations[0].probe}))

    assert SOUND.is_shown_to_work(SOUND.conversations[0])
    for diagnosis in (open_still, denied):
        assert not diagnosis.is_shown_to_work(diagnosis.conversations[0])
        assert "not shown to fail" in " ".join(render_walked(diagnosis, Style()))
    said = " ".join(render_headline(open_still, Style()))
    assert said.startswith("UNDECIDED: 1 reported failure is not explained; looked at tcp ")
    assert " works" not in said
