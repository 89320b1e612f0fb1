"""Columns of a long capture in files without a name: the kernel may write them out, and they go
however the process ends.
"""

from __future__ import annotations

from typing import BinaryIO, cast

from podpath.collect.mapping import map_file


class Spool:
    """A `capture.reading.narrow.Store` on disk, in the folder for temporary files (TMPDIR)."""

    def __init__(self) -> None:
        """Begin with no column."""
        self._files: dict[str, BinaryIO] = {}

    def append(self, name: str, piece: memoryview) -> None:
        """Add bytes to a column; `OSError` where the disk is full."""
        if name not in self._files:
            import tempfile  # noqa: PLC0415 - slow to load

            self._files[name] = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - until `close`
        self._files[name].write(piece)

    def view(self, name: str) -> memoryview:
        """Map a column; of none, or an empty one, there are no bytes."""
        file = self._files.get(name)
        if file is None or not file.tell():
            return memoryview(b"")
        file.flush()
        return map_file(file, load=False)

    def close(self) -> None:
        """Let the files go; what is mapped of them stays until nobody looks at it."""
        for file in self._files.values():
            file.close()
        self._files.clear()
