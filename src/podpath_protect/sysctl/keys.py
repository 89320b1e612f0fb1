"""Sysctl keys as the segments of their path, so that a dot in a device's name never splits it; and
patterns of keys.

sysctl(8) and sysctl.d(5) spell a key with dots, or with slashes; the first separator tells which,
and the other sign then stands for the separator inside of a segment:
`net.ipv4.conf.eth0/100.rp_filter` is `net/ipv4/conf/eth0.100/rp_filter`.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

_SWAP = str.maketrans("./", "/.")
_GLOB = re.compile(r"[*?\[]")
_DEVICE_AT = 3
_DEVICE_TREES = {
    ("net", "ipv4", "conf"),
    ("net", "ipv6", "conf"),
    ("net", "ipv4", "neigh"),
    ("net", "ipv6", "neigh"),
}
EVERYWHERE = frozenset({"all", "default"})
"""What stands in a device's place and is none."""


class Key(NamedTuple):
    """A key, or a pattern of keys where a segment holds `*`, `?` or `[`."""

    segments: tuple[str, ...]

    def __str__(self) -> str:
        """Spell it with dots, as sysctl(8) prints it."""
        return "/".join(self.segments).translate(_SWAP)

    def path(self, root: Path) -> Path:
        """Return its file below /proc/sys."""
        return root.joinpath(*self.segments)

    @property
    def is_pattern(self) -> bool:
        """Tell whether it stands for several keys."""
        return any(_GLOB.search(segment) for segment in self.segments)

    def matches(self, other: Key) -> bool:
        """Tell whether it is that key, or a pattern of it; a pattern never reaches over a segment,
        as in glob(3).
        """
        return len(self.segments) == len(other.segments) and all(
            map(_match, other.segments, self.segments)
        )

    @property
    def device(self) -> str | None:
        """The device (or `all`, `default`, a pattern) that it is about; None for a key that is of
        no device.
        """
        if self.segments[:_DEVICE_AT] in _DEVICE_TREES and len(self.segments) > 4:
            return self.segments[_DEVICE_AT]
        return None

    def of(self, device: str) -> Key:
        """Return the same key of another device, or of `all`."""
        return Key((*self.segments[:_DEVICE_AT], device, *self.segments[_DEVICE_AT + 1 :]))


def parse_key(text: str) -> Key:
    """Read a key in either spelling, or a path below /proc/sys; `ValueError` for what would reach
    elsewhere or is none.
    """
    spelled = text.strip().removeprefix("/proc/sys/")
    first = re.search(r"[./]", spelled)
    dotted = first is not None and first[0] == "."
    segments = tuple((spelled.translate(_SWAP) if dotted else spelled).split("/"))
    for segment in segments:
        check_segment(segment)
    if len(segments) < 2:
        raise ValueError(f"a sysctl key such as net.ipv4.ip_forward, saw {text!r}")
    return Key(segments)


def check_segment(segment: str) -> None:
    """Refuse what is no name of a file below /proc/sys: empty, `.`, `..`, or with a slash or a
    control character.
    """
    if segment in {"", ".", ".."} or "/" in segment or not segment.isprintable():
        raise ValueError(f"a segment of a sysctl key, saw {segment!r}")


def _match(name: str, pattern: str) -> bool:
    return name == pattern or (_GLOB.search(pattern) is not None and fnmatchcase(name, pattern))
