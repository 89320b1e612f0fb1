"""Container logs as the kubelet finds them (CRI): `2022-02-11T01:49:03.123456789Z stdout F
message`.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, stamps_in
from podpath.timeline.origins import name_origin

_HEAD: Final = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?P<stream>stdout|"
    r"stderr) [FP](?: |$)"
)


def _split(source: Source) -> Split:
    origin = name_origin(source)

    def take_apart(line: str) -> LineParts:
        found = _HEAD.match(line)
        return LineParts(origin, line[found.end() :] if found is not None else line)

    return take_apart


FORMAT = LineFormat("CRI container log", _HEAD, stamps_in(_HEAD), _split)
