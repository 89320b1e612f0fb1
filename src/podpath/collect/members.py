"""What an archive of any kind holds: files by their names within it, and those that were left
out.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.collect.limits import MAX_SIZE, Limits
from podpath.net.errors import EvidenceError
from podpath.net.provenance import Cut


class Member(NamedTuple):
    """A file of an archive."""

    name: str
    data: bytes
    refused: str = ""
    """Why it was not read; empty where it was."""
    cut: Cut | None = None
    """The limit that kept it from being read; None where it was read, or no limit would let it."""
    is_link: bool = False
    """True for a link: what it leads to is in the archive by itself, or was not collected."""


def inner_name(archive: str, name: str) -> str:
    """Return a member's name in plain form; `EvidenceError` for one that stands outside of its
    archive.
    """
    parts = name.split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name:
        raise EvidenceError(
            f"{archive}: member {name!r} stands outside of the archive: it is refused as a whole"
        )
    return "/".join(part for part in parts if part not in {"", "."})


def leave_out_large(name: str, size: int, limits: Limits) -> Member:
    """Return a member that is larger than the limits let one be."""
    why = f"expected at most {limits.output_bytes >> 20} MB, saw {size >> 20} MB: left out"
    return Member(name, b"", why, Cut(name, 0, size, MAX_SIZE))
