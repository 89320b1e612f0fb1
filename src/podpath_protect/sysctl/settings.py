"""What is declared of sysctls: one `SysctlSetting` says which keys shall hold what, why, and who
says so.

A setting's value is exact, a floor or a ceiling. It is held against what is in force
(`effective.py`), unless it says otherwise, since that is what packets meet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from podpath_protect.sysctl.keys import Key, parse_key

Policy = Literal["exact", "floor", "ceiling"]


def _parse_key_field(value: object) -> Key:
    if not isinstance(value, str):
        raise ValueError("a sysctl key such as net.ipv4.ip_forward")  # noqa: TRY004  # `tables` asks for it
    return parse_key(value)


def _parse_value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError("a number or a text")  # noqa: TRY004  # as above
    text = " ".join(str(value).split())
    if not text or not text.isprintable():
        raise ValueError("a value")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlSetting:
    """Keys that shall hold a value."""

    key: Key = field(metadata={"parse": _parse_key_field})
    """A key, or a pattern of keys: `net.ipv4.conf.lxc*.rp_filter` is each such device's, also of
    those to come.
    """
    value: str = field(metadata={"parse": _parse_value})
    policy: Policy = "exact"
    """`floor` is content with more, `ceiling` with less: two writers then do not fight over a
    number that suits both.
    """
    per_core: int = 0
    """A floor grows to so much for each processor."""
    cap: int = 0
    """A floor grows no further than that; 0 is no bound."""
    mandatory: bool = True
    """Whether packets are lost without it; otherwise a key that does not exist is only a
    warning.
    """
    raw: bool = False
    """Held against the key's own value, not against what is in force together with `all`."""
    module: str = ""
    """The kernel module without which the key does not exist."""
    why: str = ""
    source: str = ""
    """Who says so: file and function, or a manual."""
    profile: str = ""
    """The profile that it is from."""

    def __post_init__(self) -> None:
        """Refuse a bound that is no number."""
        if self.policy != "exact" and not is_number(self.value):
            raise ValueError(f"a number with policy {self.policy!r}, saw {self.value!r}")

    def wanted(self, cores: int) -> str:
        """Return the value to hold it against, and to write, on a machine of so many processors."""
        if not self.per_core:
            return self.value
        grown = max(int(self.value), self.per_core * cores)
        return str(min(grown, self.cap) if self.cap else grown)

    def accepts(self, value: str, cores: int) -> bool:
        """Tell whether a value will do."""
        want = self.wanted(cores)
        if self.policy == "exact" or not is_number(value):
            return value.split() == want.split()
        if self.policy == "floor":
            return int(value) >= int(want)
        return int(value) <= int(want)


def is_number(text: str) -> bool:
    """Tell whether a text is one whole number."""
    return text.removeprefix("-").isdigit() and text.isascii()
