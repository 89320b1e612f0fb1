"""Diagnoses by the library."""

from __future__ import annotations

from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.reading import read
from podpath.library.when import When
from tests.library.samples import LOG, NO_FORWARDING, PROBE, RP_FILTER, SECOND_NODE

GOOD = Pasted(NO_FORWARDING.text.replace("= 0", "= 1"), "good.txt")


def test_cause_of_a_recorded_ticket() -> None:
    """The first finding is the cause, with its lines; connections and gaps are at hand."""
    answer = diagnose(RP_FILTER / "ticket.md")

    assert ("fault", 1, "rp-filter") == (answer.verdict, answer.exit_code, answer.findings[0].check)
    assert "net.ipv4.conf.all.rp_filter = 1" in {span.text for span in answer.findings[0].evidence}
    assert (len(answer.conversations), answer.questions) == (3, answer.diagnosis.questions)
    assert answer.gaps == answer.diagnosis.gaps


def test_probe_and_healthy_counterpart() -> None:
    """A probe is walked, and what differs from a node where it works is told."""
    answer = diagnose(read(NO_FORWARDING), [PROBE], good=GOOD)

    assert "ip-forward" == answer.findings[0].check
    assert "good.txt" in answer.json()


def test_answer_is_of_the_node_at_fault() -> None:
    """Of two nodes the one where something is wrong is told about, wherever its evidence stands."""
    answer = diagnose([SECOND_NODE, NO_FORWARDING], [PROBE])

    assert ("node1", "ip-forward") == (answer.diagnosis.node, answer.findings[0].check)


def test_logs_tell_what_led_to_it() -> None:
    """Logs among the evidence are joined with the diagnosis."""
    when = When(failed_at="03:13:59", timeout="10s", now="2025-03-12T04:00:00Z")
    answer = diagnose([RP_FILTER / "ticket.md", LOG], when=when)

    assert any("tuned" in line for line in answer.findings[0].history)
