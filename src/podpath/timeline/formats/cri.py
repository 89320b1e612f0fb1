"""Container logs as the kubelet finds them (CRI): `2022-02-11T01:49:03.123456789Z stdout F
message`.
"""

from __future__ import annotations

import re
from typing import Final

from podpath.timeline.lines import LineFormat, split_behind, stamps_in

_HEAD: Final = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (?P<stream>stdout|"
    r"stderr) [FP](?: |$)"
)


FORMAT = LineFormat("CRI container log", _HEAD, stamps_in(_HEAD), split_behind(_HEAD))
