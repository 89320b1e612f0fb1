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

__all__ = ["address_type", "error_source", "reroute", "reverse_path", "select_source"]
