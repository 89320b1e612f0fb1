"""What is kept of an answer of an API server, read straight from its JSON: what every object has in
common, and what the server says where it refuses.

Field names are the API's own, in Python's spelling. Fields that a server does not send have the
API's defaults; fields that nobody needs are skipped while they are read.
"""

from __future__ import annotations

import msgspec


class Struct(
    msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True, omit_defaults=True
):
    """An object of the API, as far as podpath reads it; never changed, and in no cycle, so that the
    collector need not look.
    """


class StatusCause(Struct, frozen=True, gc=False):
    """One cause in a Status: `DisruptionBudget` and the like."""

    reason: str = ""
    message: str = ""


class StatusDetails(Struct, frozen=True, gc=False):
    """What a Status adds for machines."""

    retry_after_seconds: int = 0
    causes: tuple[StatusCause, ...] = ()


class KubeStatus(Struct, frozen=True, gc=False):
    """The server's answer where it refuses."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: StatusDetails | None = None
