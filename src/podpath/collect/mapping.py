"""Files to memory maps: what is read of a capture is looked at where it lies, without a copy."""

from __future__ import annotations

import mmap
import os
from typing import BinaryIO

AT_ONCE = 1 << 30
"""Bytes up to which a file is mapped with all its pages."""


def map_file(file: BinaryIO, *, load: bool = True) -> memoryview:
    """Map a file.

    One that is not long is loaded at once: a walk in lanes comes to its pages in an order in which
    each costs more. Not so where several processes share the work, since each loads what it reads.
    """
    flags = mmap.MAP_SHARED
    if load and os.fstat(file.fileno()).st_size <= AT_ONCE:
        flags |= getattr(mmap, "MAP_POPULATE", 0)  # Linux has it
    return memoryview(mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ))
