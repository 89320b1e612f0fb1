"""Which capabilities this process has, so that a part says what it lacks instead of failing oddly
(capabilities(7)).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NUMBERS = {
    "CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2, "CAP_FOWNER": 3,
    "CAP_NET_BIND_SERVICE": 10, "CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_MODULE": 16,
    "CAP_SYS_CHROOT": 18, "CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21,
}  # fmt: skip
"""By include/uapi/linux/capability.h (v6.12); those that some part may need."""
STATUS = Path("/proc/self/status")


def parse_capabilities(status: str) -> frozenset[str]:
    """Read the effective capabilities from the text of /proc/PID/status; only those in `NUMBERS`
    are told.
    """
    for line in status.split("\n"):
        name, _, value = line.partition(":")
        if name == "CapEff":
            mask = int(value.strip(), 16)
            return frozenset(
                capability for capability, number in NUMBERS.items() if mask >> number & 1
            )
    return frozenset()


def held_capabilities(status: Path = STATUS) -> frozenset[str]:
    """Return the effective capabilities of this process."""
    return parse_capabilities(status.read_text(encoding="utf-8"))


def describe_missing(needed: Mapping[str, str], held: frozenset[str]) -> tuple[str, ...]:
    """Say of each capability that is needed and not held what it is needed for."""
    return tuple(
        f"{capability} is missing: {purpose}"
        for capability, purpose in needed.items()
        if capability not in held
    )
