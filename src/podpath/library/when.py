"""What a caller says of the moment of the failure and of the logs' clocks, as people write it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When it failed, and which clocks the logs show.

    A moment may be `2022-02-11T09:49:15+08:00`, `Feb 11 09:49:15`, `09:49:15` (of the logs' last
    such day) or `@1644544155`.
    """

    failed_at: str | None = None
    """When the first failure was seen; None: it is looked for in the logs."""
    timeout: str | None = None
    """How long the failed request had waited: `10s`, `500ms`."""
    last_ok: str | None = None
    """When it last worked."""
    now: str | None = None
    """When the logs were taken: ages and missing years count back from it. None: this moment."""
    zones: tuple[str, ...] = ()
    """The zone of stamps that name none; `NAME=ZONE` for one log. UTC where none is given."""
