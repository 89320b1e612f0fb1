"""What to do about a fault for which no command was worked out: the manual's own words."""

from __future__ import annotations

import re

from podpath.checks.finding import Finding

_FIX = re.compile(r"^How to fix\n(?P<text>.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def say_fix(finding: Finding) -> str:
    """Return the cure that the manual page of a finding's check gives, as one paragraph; how it is
    kept from coming back, where the check has no page.
    """
    from podpath.checks.registry import find_check  # noqa: PLC0415 - slow to load

    check = find_check(finding.check)
    found = _FIX.search(check.page) if check is not None else None
    if found is not None:
        return " ".join(found["text"].split())
    return finding.prevention
