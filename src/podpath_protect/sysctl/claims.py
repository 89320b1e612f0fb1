"""What somebody else sets a sysctl to, and where that is written."""

from __future__ import annotations

from dataclasses import dataclass

from podpath_protect.sysctl.keys import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherWriter:
    """One other writer of a key."""

    actor: str
    """Who: `systemd-sysctl`, `tuned`, `unit boot.service`, `kube-proxy`."""
    pattern: Key
    value: str | None
    """What it writes; None where that depends on its options."""
    where: str
    """`FILE:LINE: text`, or the process."""
    note: str = ""
    """When it writes, and how it can be told not to."""
