"""The date and time in a line of a log or in what `date` prints, as its wall clock shows it.

Two lines are compared by it, so a zone is left out: hours do not matter where days do.
"""

from __future__ import annotations

import re
from datetime import datetime

_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_MONTH = rf"(?P<month>{_MONTHS.replace(' ', '|')})"
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_DAY = r"(?P<day>\d{1,2})"
_YEAR = r"(?P<year>\d{4})(?!\d)"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"\b(?P<year>\d{{4}})[-/](?P<number>\d\d)[-/](?P<day>\d\d)[T ]{_CLOCK}",
        rf"\b{_MONTH} +{_DAY} {_CLOCK}(?: [AP]M)?(?: [A-Z]{{3,5}})? {_YEAR}",
        rf"\b{_DAY} {_MONTH} {_YEAR} {_CLOCK}",
        rf"^\W*{_MONTH} +{_DAY} {_CLOCK}",
    )
)
"""ISO 8601; ctime(3), as `dmesg -T` and `date` have it; `date` of newer releases; syslog's, without
a year.
"""


def find_date(line: str, newest: datetime | None = None) -> datetime | None:
    """Return the first date and time of a line; None where it has none. One without a year is of
    the last year in which it is not after `newest`, and unknown where nothing says that.
    """
    for form in _FORMS:
        found = form.search(line)
        if found is not None:
            return _make_date(found, newest)
    return None


def _make_date(found: re.Match[str], newest: datetime | None) -> datetime | None:
    parts = found.groupdict()
    month = parts.get("number") or _MONTHS.split().index(parts["month"]) + 1
    hour, minute, second = (int(parts[name]) for name in ("hour", "minute", "second"))
    years = [int(parts["year"])] if "year" in parts else []
    if not years and newest is not None:
        years = [newest.year, newest.year - 1]
    for year in years:
        try:
            moment = datetime(year, int(month), int(parts["day"]), hour, minute, second)  # noqa: DTZ001
        except ValueError:
            continue
        if "year" in parts or newest is None or moment <= newest:
            return moment
    return None
