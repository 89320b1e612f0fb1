"""A path as a Mermaid diagram: each line one known statement, whatever the evidence holds."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from podpath.datapath.tracing.trace import Branch
from podpath.library.diagnosis import diagnose
from podpath.report.drawings.path_drawing import draw_path
from podpath.report.drawings.path_mermaid import render_path_mermaid
from tests.report import diagnoses

TICKET = (
    Path(__file__).resolve().parents[3] / "examples" / "incidents" / "rp-filter-reset" / "ticket.md"
)
SAID = r"(?:[\w .,:/>()\[\]@+=*-]|#\d+;)+"
STATEMENT = re.compile(
    rf"sequenceDiagram|  box transparent {SAID}|    participant d\d+ as {SAID}|  end"
    rf"|  d\d+(?:-->>|->>|-x|--x)d\d+: {SAID}|  Note over d\d+: {SAID}",
    re.ASCII,
)
EXAMPLES = settings(
    max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def test_the_path_of_an_example() -> None:
    """Boxes, doors, hops and the break."""
    lines = diagnose(TICKET).mermaid().splitlines()
    assert lines[:6] == [
        "sequenceDiagram",
        "  box transparent host",
        "    participant d0 as socket",
        "    participant d1 as cilium_host",
        "    participant d2 as lxcd25f81c07be3",
        "  end",
    ]
    assert "  d4-->>d3: SYN-ACK 10.88.5.61:9187 > 10.88.5.203:40000, TTL 64" in lines
    assert lines[-1] == "  d2--xd2: dropped at rp_filter (IP_RPFILTER)"


def test_each_hop_has_its_header() -> None:
    """An arrow says what goes along it, and `now` where the door before has rewritten it."""
    ticket = TICKET.parents[1] / "br-netfilter-off" / "ticket.md"
    said = [line.partition(": ")[2] for line in diagnose(ticket).mermaid().splitlines()]
    assert "SYN 10.61.9.14:37236 > 10.97.44.210:80, TTL 64" in said
    assert "now 10.61.9.14:37236 > 10.61.9.31:8080, TTL 63" in said
    assert said.index("now 10.61.9.14:37236 > 10.61.9.31:8080, TTL 63") + 1 == said.index(
        "SYN 10.61.9.14:37236 > 10.61.9.31:8080, TTL 63"
    )


@EXAMPLES
@given(diagnoses.branches)
def test_any_branch_is_statements(branch: Branch) -> None:
    """No name ends a statement or begins one of its own."""
    for line in render_path_mermaid(draw_path(branch)).splitlines():
        assert STATEMENT.fullmatch(line), line


@EXAMPLES
@given(diagnoses.branches)
def test_boxes_are_closed(branch: Branch) -> None:
    """`end` stands for boxes alone."""
    text = render_path_mermaid(draw_path(branch))
    boxes = len(re.findall(r"^  box ", text, re.MULTILINE))
    assert boxes == len(re.findall(r"^  end$", text, re.MULTILINE))
    assert boxes == len(re.findall(r"\bend\b", text))
