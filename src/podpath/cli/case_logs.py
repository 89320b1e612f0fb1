"""The logs among the evidence of a diagnosis: read only where there are some, so that other evidence does not wait for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from podpath.cli.options import Asked
from podpath.cli.terminal import progress
from podpath.net.provenance import Source
from podpath.node.case import Case

if TYPE_CHECKING:
    from podpath.timeline.chronicle import Chronicle

_FAILURES = ("timeout", "refused", "reset", "unreachable")
_STAMPED = re.compile(
    r"\d\d:\d\d:\d\d|\[ *\d+\.\d+\] |audit\(\d|REALTIME_TIMESTAMP|(?:Warning|Normal) +[A-Z]\w+|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\"ts\":"
)
"""What a line of every kind of log has somewhere."""
_SAMPLED = 60


def read_chronicle(case: Case, sources: Sequence[Source], asked: Asked) -> tuple[Case, Chronicle | None]:
    """Give the case, without gaps where logs stand, and what the logs tell; None where there are none."""
    stamped = [source for source in sources if _may_be_log(source)]
    if not stamped:
        return case, None
    from podpath.cli.logs import chronicle_logs, make_clock  # noqa: PLC0415 - only where there are logs
    from podpath.timeline.formats.table import recognise_log  # noqa: PLC0415 - as above

    logs = [source for source in stamped if recognise_log(source) is not None]
    if not logs:
        return case, None
    told = [attempt.span for attempt in case.attempts if attempt.result in _FAILURES and not attempt.good]
    with progress("reading logs"):
        chronicle = chronicle_logs(logs, make_clock(asked), asked, told)
    known = {id(source) for source in logs}
    return replace(case, gaps=tuple(gap for gap in case.gaps if id(gap.span.source) not in known)), chronicle


def _may_be_log(source: Source) -> bool:
    return any(_STAMPED.search(line[:300]) for line in islice(source.lines, _SAMPLED))
