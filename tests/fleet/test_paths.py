"""What paths name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.net.errors import UsageError
from podpath_fleet.bundle_row import DONE, REFUSED, read_bundle
from podpath_fleet.paths import BundlePath, list_bundles
from tests.fleet.made import NODES


def _named(paths: Iterator[BundlePath]) -> list[str]:
    return [Path(one.path).name for one in paths]


def test_paths_name_bundles(bundles: Path, tmp_path: Path) -> None:
    """A folder of many, one that is a bundle, a file, each once; also by fsspec."""
    inner = tmp_path / "one"
    (inner / "netns").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "notes.json").write_text("{}")

    assert _named(list_bundles([str(inner), str(tmp_path)])) == ["one"]
    local = _named(list_bundles([str(bundles)]))
    assert _named(list_bundles([f"file://{bundles}"])) == local
    assert len(local) == NODES + 1
    remote = next(iter(list_bundles([f"file://{bundles}"])))
    assert read_bundle(*remote).state in {DONE, REFUSED}
    with pytest.raises(UsageError, match="no such file"):
        list(list_bundles([str(tmp_path / "none")]))
