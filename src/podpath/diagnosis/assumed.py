"""Which possible causes quote nothing but the failure that they are to explain: what they suppose
nobody pasted.
"""

from __future__ import annotations

from podpath.checks.finding import Finding, Severity
from podpath.node.case import Case


def is_assumed(case: Case, finding: Finding) -> bool:
    """Tell whether a possible cause rests on no line but those that show what was tried, captured
    or said of it.
    """
    if finding.severity != Severity.CAUSE or finding.certainty == 1:
        return False
    tried = {one.span for one in case.attempts} | {one.span for one in case.unplaced}
    seen = {one.span for one in case.sightings}
    said = {one.span for one in case.complaints}
    return all(span in tried or span in seen or span in said for span in finding.evidence)
