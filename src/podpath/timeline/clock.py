"""What a log does not say of its own stamps, given by the caller: the zone, and when the evidence
was taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """How stamps become moments."""

    now: float
    """When the evidence was taken, in seconds since the epoch: ages and missing years count back
    from it.
    """
    zone: tzinfo = UTC
    """The zone of stamps that name none."""
    zones: tuple[tuple[str, tzinfo], ...] = ()
    """Zones of single logs, by a part of their names."""
    printed: float | None = None
    """When outputs with ages (`4s`) were printed; None where nobody says. A source's own `taken_at`
    goes before it.
    """
    boots: tuple[float | None, ...] = ()
    """When the kernel started, for its stamps: the boots of a log, the latest one last; None for
    one that nobody knows.
    """

    def of(self, name: str) -> Clock:
        """Return the clock of one log: in its own zone, where it has one."""
        zone = next((zone for part, zone in self.zones if part in name), None)
        return self if zone is None else replace(self, zone=zone)

    @property
    def today(self) -> datetime:
        """The moment of the evidence on the wall clock of the zone."""
        return to_wall(self.now, self.zone)


_FIRST, _LAST = -62_000_000_000.0, 253_000_000_000.0
"""What `datetime` can say: years 5 to 9986, with room for zones."""


def to_wall(time: float, zone: tzinfo) -> datetime:
    """Return a moment on the wall clock of a zone; moments beyond what calendars hold are moved to
    the end of them.
    """
    return datetime.fromtimestamp(min(max(time, _FIRST), _LAST), zone)
