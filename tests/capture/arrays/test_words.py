"""Eight bytes that are fetched together are parted as they would be read one by one."""

from __future__ import annotations

import numpy as np

from podpath_capture.arrays.words import WordColumn

BYTES = np.arange(32, dtype=np.uint8).reshape(4, 8)


def test_parts_are_the_fields_that_stand_there() -> None:
    """One, two and four bytes at every even place are what a read in network order gives."""
    words = WordColumn(BYTES.reshape(-1).view(">u8").astype(np.uint64))

    for at in range(8):
        assert words.one(at).tolist() == BYTES[:, at].tolist()
    for at in (0, 2, 4, 6):
        assert (
            words.two(at).tolist()
            == np.ascontiguousarray(BYTES[:, at : at + 2]).view(">u2")[:, 0].tolist()
        )
    for at in (0, 4):
        assert (
            words.four(at).tolist()
            == np.ascontiguousarray(BYTES[:, at : at + 4]).view(">u4")[:, 0].tolist()
        )
