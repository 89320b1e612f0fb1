"""Printed reports, word for word: what a person reads of a cause, of possibilities, of a sound node
and of a trace.

PODPATH_WRITE_SNAPSHOTS=1 writes them anew; the difference is then reviewed like code.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from podpath.checks.owned import place_conversations
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.diagnose import diagnose
from podpath.net.failures import FailureKind
from podpath.net.probe import Probe
from podpath.node.case import Case
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.json_documents import render_diagnosis_json, render_trace_json
from podpath.report.style import Style
from podpath.report.trace_text import render_trace
from tests.diagnosis.scenes import (
    BAD,
    GOOD,
    OUTSIDE,
    POD,
    attempt,
    bridged_node,
    case,
    cilium_node,
    disputed,
    handshake_capture,
    known,
    whole,
)

SNAPSHOTS = Path(__file__).parent / "snapshots"
PROBE = f"tcp {POD}:5000 > {OUTSIDE}:80"
PLAIN = Style(width=100)


def cause() -> str:
    """Render a cause that two listings disagree about."""
    return render_diagnosis(
        diagnose(
            case(cilium_node(disputed(GOOD, BAD)), attempt(PROBE), sightings=handshake_capture())
        ),
        PLAIN,
    )


def colored() -> str:
    """Render the same in colors."""
    made = case(cilium_node(disputed(GOOD, BAD)), attempt(PROBE), sightings=handshake_capture())
    return render_diagnosis(diagnose(made), Style(width=100, color=True))


def possibilities() -> str:
    """Render a failure for which the decisive sysctl is missing."""
    return render_diagnosis(
        diagnose(case(cilium_node(known(GOOD), rp_filter=None), attempt(PROBE))), PLAIN
    )


def sound() -> str:
    """Render a node with nothing wrong, in ASCII."""
    return render_diagnosis(
        diagnose(case(whole(bridged_node("1"))), (Probe.parse(PROBE),)),
        Style(width=100, unicode=False),
    )


def trace() -> str:
    """Render a connection's steps."""
    node = cilium_node(known(BAD))
    walked = converse(node, Probe.parse(PROBE))
    owners = place_conversations(Case(node=node), (), (walked,))
    return render_trace(walked, PLAIN, (), owners)


def verbose_trace() -> str:
    """Render them with near misses and every branch."""
    node = cilium_node(disputed(BAD, GOOD))
    walked = converse(node, Probe.parse(PROBE))
    owners = place_conversations(Case(node=node), (), (walked,))
    return render_trace(walked, Style(width=100, verbose=True), (), owners)


def diagnosis_document() -> str:
    """Render the JSON of a diagnosis."""
    return render_diagnosis_json(
        diagnose(
            case(bridged_node("0"), attempt("tcp 10.22.0.5 > 10.96.0.7:80", FailureKind.RESET))
        )
    )


def trace_document() -> str:
    """Render the JSON of a trace."""
    return render_trace_json(
        converse(bridged_node("1"), Probe.parse("icmp 10.22.0.5 > 10.22.0.6")), ()
    )


@pytest.mark.parametrize(
    "render",
    [
        cause,
        colored,
        possibilities,
        sound,
        trace,
        verbose_trace,
        diagnosis_document,
        trace_document,
    ],
)
def test_the_report_reads_as_reviewed(render: Callable[[], str]) -> None:
    """A change of a report's words is seen, and meant."""
    snapshot = SNAPSHOTS / f"{render.__name__}.txt"
    text = render()
    if os.environ.get("PODPATH_WRITE_SNAPSHOTS") == "1":
        snapshot.write_text(text, encoding="utf-8")
    assert snapshot.read_text(encoding="utf-8") == text
