"""Routing: policy rules, tables, source validation and source addresses, as the kernel's FIB code
does them.

The rest of the datapath asks by these functions alone.
"""

from __future__ import annotations

from podpath.datapath.routing.questions import (
    UNROUTED,
    address_type,
    address_type6,
    error_source,
    is_of_link,
    reroute,
    reverse_path,
    select_source,
)
from podpath.datapath.routing.segment_size import PathMss, lower_mss, offered_mss, path_mss

__all__ = [
    "UNROUTED",
    "PathMss",
    "address_type",
    "address_type6",
    "error_source",
    "is_of_link",
    "lower_mss",
    "offered_mss",
    "path_mss",
    "reroute",
    "reverse_path",
    "select_source",
]
