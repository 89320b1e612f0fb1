"""Eight bytes of each packet as one number: fields that stand side by side are fetched together,
and parted afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class WordColumn:
    """Eight bytes of each packet; a part of them is a view, named by how many bytes on it stands,
    which divides evenly.
    """

    __slots__ = ("all",)

    def __init__(self, numbers: NDArray[Any]) -> None:
        """Take the bytes as numbers whose first byte weighs most."""
        self.all: NDArray[np.uint64] = numbers.astype("<u8", copy=False)

    def one(self, at: int) -> NDArray[np.uint8]:
        """Return the byte that stands there."""
        return self.all.view("<u1")[7 - at :: 8]

    def two(self, at: int) -> NDArray[np.uint16]:
        """Return the number of two bytes that stands there."""
        return self.all.view("<u2")[3 - at // 2 :: 4]

    def four(self, at: int) -> NDArray[np.uint32]:
        """Return the number of four bytes that stands there."""
        return self.all.view("<u4")[1 - at // 4 :: 2]
