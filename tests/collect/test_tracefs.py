"""Tests of `collect.tracefs`: the mount that is there, one of our own, and what is said where
neither is.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from podpath.collect import tracefs
from podpath.collect.namespaces import CollectError
from podpath.collect.tracefs import open_tracefs


def test_a_mount_that_is_there_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first that has instances."""
    (tmp_path / "second" / "instances").mkdir(parents=True)
    monkeypatch.setattr(tracefs, "MOUNTS", (tmp_path / "first", tmp_path / "second"))

    assert open_tracefs() == (tmp_path / "second", None)


@pytest.mark.kernel
def test_one_of_our_own_stands_in_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reached by its descriptor alone."""
    monkeypatch.setattr(tracefs, "MOUNTS", ())
    mounts = Path("/proc/self/mountinfo")
    before = mounts.read_text(encoding="ascii")
    found = open_tracefs()
    assert found.descriptor is not None
    try:
        assert (found.path / "events/skb/kfree_skb").is_dir()
        assert mounts.read_text(encoding="ascii") == before
    finally:
        os.close(found.descriptor)

    assert not found.path.exists()


def test_where_no_mount_is_allowed_it_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel's words and the command."""

    def refuse() -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(tracefs, "MOUNTS", (Path("/nowhere"),))
    monkeypatch.setattr(tracefs, "_mount", refuse)
    with pytest.raises(CollectError, match="Operation not permitted; mount -t tracefs none"):
        open_tracefs()
