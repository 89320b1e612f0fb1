"""Files that say what to do are read as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.collect.texts import read_text
from podpath.net.errors import UsageError


def test_a_file_is_read_without_its_mark(tmp_path: Path) -> None:
    """Editors of Windows put a byte order mark before the text."""
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfname = 1\n")

    assert "name = 1\n" == read_text(str(path))


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """Bytes, a folder, nothing, and a name that none can have: each one clear line."""
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfe\x00")

    for name in (str(path), str(tmp_path), str(tmp_path / "none"), "\0"):
        with pytest.raises(UsageError, match=r"expected text|directory|no such|not a file"):
            read_text(name)
