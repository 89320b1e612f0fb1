"""A store of columns for tests."""

from __future__ import annotations


class Memory:
    """Keeps columns in memory."""

    def __init__(self) -> None:
        """Begin with none."""
        self._columns: dict[str, bytearray] = {}

    def append(self, name: str, piece: memoryview) -> None:
        """Add bytes to a column."""
        self._columns.setdefault(name, bytearray()).extend(piece)

    def view(self, name: str) -> memoryview:
        """Return all bytes of a column."""
        return memoryview(self._columns.get(name, b""))
