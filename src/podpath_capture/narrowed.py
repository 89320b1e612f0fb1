"""The columns of a stretch of a capture."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from podpath_capture.columns import PacketColumns

_SECOND = 1_000_000_000


def choose_times(columns: PacketColumns, since: float | None, until: float | None) -> PacketColumns:
    """Return the packets from one moment to another, both included; None: from the start, to the
    end.
    """
    kept, time = np.ones(len(columns), np.bool_), columns.time / _SECOND
    if since is not None:
        kept &= time >= since
    if until is not None:
        kept &= time <= until
    rows = np.flatnonzero(kept)
    return PacketColumns(
        **{each.name: getattr(columns, each.name)[rows] for each in fields(columns)}
    )
