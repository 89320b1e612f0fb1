"""Files are mapped as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.collect import mapping


@pytest.mark.parametrize("at_once", [0, 1 << 20])
def test_map_shows_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Whether its pages are loaded at once or when they are looked at, the bytes are the file's."""
    monkeypatch.setattr(mapping, "AT_ONCE", at_once)
    path = tmp_path / "file"
    path.write_bytes(b"0123456789" * 1000)
    with path.open("rb") as file:
        view = mapping.map_file(file)

    assert path.read_bytes() == bytes(view)


def test_empty_file_cannot_be_mapped(tmp_path: Path) -> None:
    """A file of nothing has nothing to map, which is said."""
    path = tmp_path / "empty"
    path.touch()
    with path.open("rb") as file, pytest.raises(ValueError, match="empty"):
        mapping.map_file(file)
