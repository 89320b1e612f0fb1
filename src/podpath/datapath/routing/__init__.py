"""Routing: policy rules, tables, source validation and source addresses, as the kernel's FIB code
does them.

The rest of the datapath asks by these functions alone.
"""

from __future__ import annotations

from podpath.datapath.routing.questions import (
    address_type,
    error_source,
    reroute,
    reverse_path,
    select_source,
)
from podpath.datapath.routing.segment_size import PathMss, lower_mss, offered_mss, path_mss

__all__ = [
    "PathMss",
    "address_type",
    "error_source",
    "lower_mss",
    "offered_mss",
    "path_mss",
    "reroute",
    "reverse_path",
    "select_source",
]
