"""What a call may read: files in the folders that were named at the start, text that it brings
itself, and this node where the user started it so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from podpath.library.given import Pasted, Piece, ThisNode
from podpath.net.errors import UsageError
from podpath_mcp.bounds import NAME, PASTED, shorten

THIS_NODE = "this-node"
"""What stands for the node itself among the evidence of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedEvidence:
    """What may be read, as the user said at the start."""

    folders: tuple[Path, ...] = ()
    """Resolved: without links and `..`."""
    this_node: bool = False
    """True: the node that this runs on may be asked."""

    def list_pieces(self, names: Sequence[str], pasted: str = "") -> tuple[Piece, ...]:
        """Return the evidence of a call; `UsageError` where some of it is outside of what may be
        read, or there is none.
        """
        pieces: list[Piece] = [self._find(name) for name in names]
        if len(pasted) > PASTED:
            raise UsageError(
                f"expected at most {PASTED >> 20} MB of pasted text, saw more: save it as a file in"
                " a folder that may be read"
            )
        if pasted.strip():
            pieces.append(Pasted(pasted, "pasted"))
        if not pieces:
            raise UsageError("expected evidence: paths, or text in `pasted`; saw neither")
        return tuple(pieces)

    def _find(self, name: str) -> Piece:
        if name == THIS_NODE:
            if self.this_node:
                return ThisNode(logs=True)
            raise UsageError(
                "this node may not be asked: the user allows it with `podpath mcp --live`"
            )
        return self.find_path(name)

    def find_path(self, name: str) -> Path:
        """Return a file or folder without links and `..`; `UsageError` where it is outside, which
        does not tell whether it is there.
        """
        for folder in self.folders:
            try:
                found = (folder / name).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):  # not there, a circle of links, no name
                continue
            if any(found.is_relative_to(allowed) for allowed in self.folders):
                return found
        raise UsageError(f"{shorten(name, NAME)}: expected {self._say_where()}, saw none there")

    def _say_where(self) -> str:
        if not self.folders:
            return "pasted text (no folder was named with `podpath mcp --folder`)"
        return f"a file or folder in {', '.join(map(str, self.folders))}"


def resolve_folder(name: str) -> Path:
    """Return a folder that is named at the start without links and `..`; `UsageError` where there
    is none.
    """
    try:
        folder = Path(name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"{name}: {(reason or 'not a folder name').lower()}") from error
    if not folder.is_dir():
        raise UsageError(f"{name}: expected a folder, saw a file")
    return folder
