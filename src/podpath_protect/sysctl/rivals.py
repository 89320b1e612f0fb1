"""Who else writes a key: drop-ins, tuned, systemd units, networkd, NetworkManager, and programs
that are known to.

The kernel does not tell who wrote a sysctl. So a rival is named by what stands in configuration,
and by which known writers run: those first whose value is the one that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from podpath_protect.processes import list_programs
from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.dropins import DropinLine, lookup_winner, parse_dropin, read_assignments
from podpath_protect.sysctl.keys import Key
from podpath_protect.sysctl.rivals_network import read_networkd, read_networkmanager
from podpath_protect.sysctl.rivals_programs import known_writers
from podpath_protect.sysctl.rivals_tuned import read_tuned
from podpath_protect.sysctl.rivals_units import read_units

_PROCPS = "etc/sysctl.conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Everything that was found to write sysctls."""

    assignments: tuple[DropinLine, ...] = ()
    """What systemd-sysctl applies, in order."""
    claims: tuple[OtherWriter, ...] = ()
    """What others apply."""

    def about(self, key: Key, seen: str | None = None) -> tuple[OtherWriter, ...]:
        """Return who writes a key, those first whose value is the one that was seen; of drop-ins
        only the line that wins.
        """
        winner = lookup_winner(self.assignments, key)
        found = [claim for claim in self.claims if claim.pattern.matches(key)]
        if winner is not None and winner.value is not None:
            found.insert(0, from_dropin(winner))
        return tuple(sorted(found, key=lambda claim: claim.value != seen))


def from_dropin(assignment: DropinLine) -> OtherWriter:
    """Make a claim of a line that systemd-sysctl applies."""
    return OtherWriter(
        actor="systemd-sysctl",
        pattern=assignment.pattern,
        value=assignment.value,
        where=assignment.where,
        note="applied at boot, and for each new device by udev",
    )


def gather_rivals(root: Path, proc: Path) -> Rivals:
    """Look below a root for everything that writes sysctls, and among the running programs for
    those that are known to.
    """
    programs = list_programs(proc)
    return Rivals(
        assignments=read_assignments(root),
        claims=(
            *read_tuned(root),
            *read_units(root),
            *read_networkd(root),
            *read_networkmanager(root),
            *_read_procps(root),
            *known_writers(programs),
        ),
    )


def describe_rivals(claims: Iterable[OtherWriter], seen: str | None) -> str:
    """Name the likeliest rivals in one sentence; empty where nobody is known."""
    named = [claim for claim in claims if claim.value is None or claim.value == seen]
    if not named:
        return ""
    parts = dict.fromkeys(f"{claim.actor} ({claim.where})" for claim in named)
    return "likely " + ", or ".join(list(parts)[:3])


def _read_procps(root: Path) -> Iterable[OtherWriter]:
    """Read what `sysctl --system` of procps adds: the one file that systemd reads only through a
    link.
    """
    path = root / _PROCPS
    try:
        if (root / "etc/sysctl.d/99-sysctl.conf").exists():
            return
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for assignment in parse_dropin(text, "/" + _PROCPS):
        yield OtherWriter(
            actor="sysctl --system",
            pattern=assignment.pattern,
            value=assignment.value,
            where=assignment.where,
            note="applied when somebody runs it, or `sysctl -p`",
        )
