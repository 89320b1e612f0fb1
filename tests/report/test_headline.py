"""The first line: one word for the verdict, and what it comes to."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.report.headline import render_headline
from podpath.report.style import Style
from tests.diagnosis.scenes import GOOD, OUTSIDE, POD, attempt, case, cilium_node, known
from tests.report import diagnoses


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
    assert said.startswith("UNDECIDED: one cause is possible: The reverse-path filter drops")
    assert said.endswith("sysctl net.ipv4.conf.all.rp_filter would tell")
