"""The log of dpkg: `2022-02-11 09:48:58 upgrade polkitd:amd64 0.105-31 0.105-33`, and
/var/log/alternatives.log beside it.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, stamps_in

_HEAD: Final = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?=(?:startup (?:archives|packages)|"
    r"(?:status|upgrade|install|configure|trigproc|remove|purge|disappear|conffile) \S))|"
    r"update-alternatives (?P<alternative>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d): "
)


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take a line apart behind its stamp."""
    found = _HEAD.match(line)
    if found is None:
        return LineParts("dpkg", line)
    return LineParts("update-alternatives" if found["alternative"] else "dpkg", line[found.end() :])


FORMAT = LineFormat(
    "dpkg log", _HEAD, stamps_in(_HEAD, "stamp", "alternative"), _split, of_node=True, sparse=True
)
