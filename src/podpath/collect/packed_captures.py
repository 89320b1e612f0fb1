"""Packed captures of any length: unpacked into memory where they are short, else into a file
without a name.
"""

from __future__ import annotations

import tempfile
from typing import BinaryIO, cast

from podpath.collect import archives, captures
from podpath.collect.limits import Limits
from podpath.evidence.gathered import Evidence
from podpath.net.errors import EvidenceError

SHORT = 16 << 20
"""Bytes up to which a capture is unpacked into memory."""
LIMITS = Limits(output_bytes=1 << 20, total_bytes=64 << 30)
"""Of a capture on disk; the ratio stays that of all archives."""


def read_packed_capture(name: str, file: BinaryIO, size: int, keep: captures.Keep) -> Evidence:
    """Read a packed capture; `EvidenceError` where it is damaged, must not be read, or no room is
    left for it.
    """
    blocks, count = [], 0
    rest = archives.read_blocks(name, file, size, LIMITS)
    for block in rest:
        blocks.append(block)
        count += len(block)
        if count > SHORT:
            break
    else:
        return captures.read_packets(name, b"".join(blocks), keep=keep)
    try:
        with tempfile.TemporaryFile() as out:
            out.writelines(blocks)
            out.writelines(rest)
            out.flush()
            return captures.read_mapped(name, cast("BinaryIO", out), keep)
    except OSError as error:
        raise EvidenceError(
            f"{name}: a long packed capture goes into the folder for temporary files: "
            f"{error.strerror}"
        ) from error
