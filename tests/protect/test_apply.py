"""`protect.apply`: files are the old ones or the new ones, nothing foreign is touched, and a dry
run touches nothing.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from podpath_protect.apply import (
    TEMPORARY,
    Applier,
    ApplyError,
    Effect,
    check_directory,
    check_trusted,
)

ROOT = os.geteuid() == 0
FOREIGN = 65534


def names(folder: Path) -> list[str]:
    """List a directory, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    """Return the permission bits of a file."""
    return path.stat().st_mode & 0o7777


def test_a_new_file_is_private(tmp_path: Path) -> None:
    """A file that was not there gets mode 0600, its content, and leaves no temporary one behind."""
    effect = Applier().write_file(tmp_path / "a.conflist", b"{}")

    assert Effect(kind="write", target=str(tmp_path / "a.conflist"), state="done") == effect
    assert (b"{}", 0o600) == ((tmp_path / "a.conflist").read_bytes(), mode(tmp_path / "a.conflist"))
    assert ["a.conflist"] == names(tmp_path)


def test_mode_and_owner_stay(tmp_path: Path) -> None:
    """What a file had of permissions and owner it has after it was written."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if ROOT:
        os.chown(path, 0, 12)
    before = path.stat()

    Applier().write_file(path, b"new")

    assert (b"new", before.st_mode, before.st_uid, before.st_gid) == (
        path.read_bytes(), path.stat().st_mode, path.stat().st_uid, path.stat().st_gid,
    )  # fmt: skip


def test_what_is_right_is_not_written(tmp_path: Path) -> None:
    """A file that holds the content already keeps its inode and time."""
    path = tmp_path / "a"
    Applier().write_file(path, b"same")
    before = path.stat()

    assert Applier().write_file(path, b"same").state == "unchanged"
    assert (before.st_ino, before.st_mtime_ns) == (path.stat().st_ino, path.stat().st_mtime_ns)


def test_a_demanded_mode_is_mended(tmp_path: Path) -> None:
    """A secret that everybody may read is written anew with the mode that was demanded."""
    path = tmp_path / "kubeconfig"
    path.write_bytes(b"token")
    path.chmod(0o644)

    assert Applier().write_file(path, b"token", mode=0o600).state == "done"
    assert mode(path) == 0o600


def test_a_rival_write_is_not_overwritten(tmp_path: Path) -> None:
    """Where the file changed since it was read, it stays as the other one left it."""
    path = tmp_path / "a"
    path.write_bytes(b"theirs")

    with pytest.raises(ApplyError, match="changed after it was read") as caught:
        Applier().write_file(path, b"ours", expect=b"before")

    assert ("stale", b"theirs") == (caught.value.refusal, path.read_bytes())
    with pytest.raises(ApplyError, match="changed after it was read"):
        Applier().remove_file(path, expect=b"before")
    assert path.exists()
    assert Applier().remove_file(path, expect=b"theirs").state == "done"


@pytest.mark.parametrize("kind", ["link", "fifo", "directory"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    """A symbolic link, a pipe or a directory under the name is neither followed nor replaced nor
    removed.
    """
    target, path = tmp_path / "target", tmp_path / "a"
    target.write_bytes(b"kept")
    if kind == "link":
        path.symlink_to(target)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()

    with pytest.raises(ApplyError) as written:
        Applier().write_file(path, b"x")
    with pytest.raises(ApplyError) as removed:
        Applier().remove_file(path)

    assert ("untrusted", "untrusted") == (written.value.refusal, removed.value.refusal)
    assert (b"kept", ["a", "target"]) == (target.read_bytes(), names(tmp_path))


@pytest.mark.skipif(not ROOT, reason="needs root to give files away")
def test_foreign_files_and_directories_are_refused(tmp_path: Path) -> None:
    """What belongs to another user is not written, and neither is anything in a directory of
    another user.
    """
    path, folder, linked = tmp_path / "a", tmp_path / "theirs", tmp_path / "linked"
    path.write_bytes(b"kept")
    os.chown(path, FOREIGN, FOREIGN)
    folder.mkdir()
    os.chown(folder, FOREIGN, FOREIGN)
    linked.symlink_to(tmp_path)
    os.chown(linked, FOREIGN, FOREIGN, follow_symlinks=False)

    for target in (path, folder / "a", linked / "b"):
        with pytest.raises(ApplyError) as caught:
            Applier().write_file(target, b"x")
        assert caught.value.refusal == "untrusted"
    assert b"kept" == path.read_bytes()


def test_a_directory_that_everybody_writes_is_refused(tmp_path: Path) -> None:
    """In a directory with mode 0777 anybody could exchange the file under our hands."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)

    with pytest.raises(ApplyError, match="everybody may write in it"):
        check_directory(folder)


def test_a_dry_run_looks_and_leaves(tmp_path: Path) -> None:
    """A dry run tells what it would do, refuses what it would refuse, and changes nothing."""
    told: list[Effect] = []
    applier = Applier(dry_run=True, tell=told.append)
    path = tmp_path / "a"
    path.write_bytes(b"old")

    applier.write_file(path, b"new")
    applier.write_file(path, b"old")
    applier.remove_file(path)
    applier.make_directory(tmp_path / "d")
    applier.run(["false"])

    assert [("write", "would"), ("remove", "would"), ("directory", "would"), ("run", "would")] == [
        (effect.kind, effect.state) for effect in told
    ]
    assert (["a"], b"old") == (names(tmp_path), path.read_bytes())


def test_removal_is_told_once(tmp_path: Path) -> None:
    """A file is removed; where there is none, there is nothing to do."""
    (tmp_path / "a").write_bytes(b"")

    assert ["done", "unchanged"] == [Applier().remove_file(tmp_path / "a").state for _ in range(2)]


def test_a_missing_directory_is_absent(tmp_path: Path) -> None:
    """Without its directory a file can be neither written nor checked."""
    with pytest.raises(ApplyError) as caught:
        Applier().write_file(tmp_path / "no" / "a", b"")

    assert caught.value.refusal == "absent"


def test_directories_are_made_once(tmp_path: Path) -> None:
    """A directory is made under a parent that is there, and only once."""
    assert ["done", "unchanged"] == [
        Applier().make_directory(tmp_path / "d").state for _ in range(2)
    ]
    assert mode(tmp_path / "d") == 0o755


def test_settings_are_written_when_they_differ(tmp_path: Path) -> None:
    """A setting that holds the value, however it is spaced, is not written."""
    path = tmp_path / "ip_local_port_range"
    path.write_text("32768\t60999\n")

    assert Applier().write_setting(path, "32768 60999").state == "unchanged"
    assert Applier().write_setting(path, "1024 60999").state == "done"
    assert path.read_text().startswith("1024 60999\n")


def test_a_setting_that_is_not_there_is_absent(tmp_path: Path) -> None:
    """A key that this kernel does not have is told as such."""
    with pytest.raises(ApplyError) as caught:
        Applier().write_setting(tmp_path / "none", "1")

    assert caught.value.refusal == "absent"


@pytest.mark.kernel
def test_a_read_only_setting_says_so() -> None:
    """A key that cannot be written is a refusal of its own, not silent success."""
    with pytest.raises(ApplyError) as caught:
        Applier().write_setting(Path("/proc/sys/kernel/ostype"), "Other")

    assert caught.value.refusal == "denied"


def test_programs_run_to_their_end() -> None:
    """A program's output is kept; one that fails, is missing or never ends is an error that says
    so.
    """
    assert "here\n" == Applier().run(["cat"], stdin="here\n").detail
    with pytest.raises(ApplyError, match="ended with 3: broken"):
        Applier().run(["sh", "-c", "echo broken >&2; exit 3"])
    with pytest.raises(ApplyError, match="cannot be run"):
        Applier().run(["/nowhere/program"])
    with pytest.raises(ApplyError, match="did not end"):
        Applier().run(["sleep", "5"], timeout=0.05)


def test_sweeping_spares_a_living_writer(tmp_path: Path) -> None:
    """What a killed writer left is removed; a temporary file whose writer holds its lock stays."""
    (tmp_path / f".a.1{TEMPORARY}").write_bytes(b"half")
    (tmp_path / "10-a.conf").write_bytes(b"kept")
    with (tmp_path / f".b.2{TEMPORARY}").open("wb") as living:
        fcntl.flock(living, fcntl.LOCK_EX)

        assert Applier(dry_run=True).sweep(tmp_path) == 1
        assert Applier().sweep(tmp_path) == 1
        assert [f".b.2{TEMPORARY}", "10-a.conf"] == names(tmp_path)


def test_trust_is_told_without_writing(tmp_path: Path) -> None:
    """A file that is ours passes; one that is not there is None."""
    (tmp_path / "a").write_bytes(b"x")
    found = check_trusted(tmp_path / "a")

    assert found is not None
    assert found.st_size == 1
    assert check_trusted(tmp_path / "b") is None
