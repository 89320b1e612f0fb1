"""What the parts of protect found, as text and as JSON; names from the system are escaped before
they reach a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from podpath.report.escape import escape
from podpath.report.style import Style
from podpath_protect.agent.keeper import AgentFinding

_SIGNS = {"error": "bad", "warning": "warn", "info": "dim"}


def render_findings(findings: Iterable[AgentFinding], style: Style) -> str:
    """Write each finding with its evidence and what mends it."""
    lines: list[str] = []
    for finding in findings:
        sign = style.paint(_SIGNS[finding.severity], finding.severity)
        lines += style.wrap(escape(finding.claim), f"{sign}: ", "  ")
        lines += [style.paint("dim", f"    {escape(each)}") for each in finding.evidence]
        lines += [f"  mend: {style.paint('command', escape(each))}" for each in finding.mend]
    return "".join(f"{line}\n" for line in lines)


def finding_document(finding: AgentFinding) -> dict[str, object]:
    """Return a finding as JSON has it."""
    return asdict(finding)
