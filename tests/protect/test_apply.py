"""`protect.apply`: files are the old ones or the new ones, nothing foreign is touched, and a dry
run touches nothing.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from podpath_protect import apply
from podpath_protect.apply import (
    ABSENT,
    TEMPORARY,
    Applier,
    ApplyError,
    Effect,
    check_directory,
    check_trusted,
)
from podpath_protect.exchange import exchange

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


MEMORY = "/dev/shm"  # noqa: S108  # a tmpfs
RIVALS = ("rename", "in place")
WRITES = 300


class Vendor(threading.Thread):
    """Somebody who writes numbered files without looking, by renaming or in place."""

    def __init__(self, path: Path, how: str) -> None:
        """Write number 0."""
        super().__init__(daemon=True)
        self.path, self.how, self.written = path, how, 0
        path.write_text("0")

    def run(self) -> None:
        """Write, now and then."""
        draw = random.Random(7)
        for number in range(1, WRITES + 1):
            if self.how == "rename":
                aside = self.path.with_name("aside")
                aside.write_text(str(number))
                aside.rename(self.path)
            else:
                with self.path.open("w") as file:
                    file.write(str(number))
            self.written = number
            time.sleep(draw.random() * 0.002)


@pytest.mark.parity("G4")
@pytest.mark.parametrize("how", RIVALS)
@pytest.mark.parametrize("place", ["disk", "memory"])
def test_no_write_of_another_is_lost(tmp_path: Path, how: str, place: str) -> None:
    """Beside a vendor who writes 300 times at intervals of a millisecond, by renaming or in place,
    whatever we write is made of what he wrote last, and his last write is what stays.
    """
    with TemporaryDirectory(dir=MEMORY if place == "memory" else tmp_path) as folder:
        path = Path(folder, "a")
        vendor = Vendor(path, how)
        vendor.start()
        lost = done = 0
        refused: Counter[str] = Counter()
        while vendor.is_alive():
            seen = path.read_bytes()
            if not seen.isdigit():
                continue  # ours, or half of his
            try:
                Applier().write_file(path, seen + b"+", expect=seen)
            except ApplyError as error:
                refused[error.refusal] += 1
                continue
            done += 1
            written, now = vendor.written, path.read_bytes()
            lost += now == seen + b"+" and int(seen) < written
        vendor.join()

        assert (0, str(WRITES)) == (lost, path.read_text().rstrip("+")), refused
        assert done or refused
        assert refused.keys() <= {"stale"}
        assert {"a"} == set(names(Path(folder)))


def test_a_write_while_another_has_the_file_open_is_refused(tmp_path: Path) -> None:
    """A vendor who has opened the file, and has not written yet, is not overtaken: what he writes
    then stands.
    """
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with path.open("r+b") as vendor:
        with pytest.raises(ApplyError, match="open for writing"):
            Applier().write_file(path, b"ours", expect=b"old")
        vendor.write(b"new")

    assert (b"new", ["a"]) == (path.read_bytes(), names(tmp_path))


def put_instead(path: Path, kind: str) -> None:
    """Put something that is no file under a name."""
    path.unlink()
    match kind:
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/nowhere")
        case _:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "socket"])
def test_what_came_instead_of_the_file_gets_its_name_back(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Somebody removes the file between the look and the exchange and makes something else of its
    name: what comes out cannot be read as a file, and is put back all the same.
    """
    kinds = {"directory": stat.S_ISDIR, "pipe": stat.S_ISFIFO, "link": stat.S_ISLNK}
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "a"
        path.write_bytes(b"old")
        came: list[str] = []

        def late(folder: int, one: str, other: str) -> bool:
            if not came:
                came.append(kind)
                put_instead(path, kind)
            return exchange(folder, one, other)

        monkeypatch.setattr(apply, "exchange", late)
        with pytest.raises(ApplyError, match="changed after it was read"):
            Applier().write_file(path, b"ours", expect=b"old")

        assert kinds.get(kind, stat.S_ISSOCK)(path.lstat().st_mode)
        assert ["a"] == names(Path(folder))


def test_a_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    """Where none was, none is overwritten."""
    path = tmp_path / "a"
    Applier().write_file(path, b"ours", expect=ABSENT)

    with pytest.raises(ApplyError, match="changed after it was read"):
        Applier().write_file(path, b"again", expect=ABSENT)
    assert b"ours" == path.read_bytes()


def access_list(*entries: tuple[int, int, int]) -> bytes:
    """Spell an access list as the kernel keeps it (include/uapi/linux/posix_acl_xattr.h)."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NONE = 0xFFFFFFFF
OWNER, USER, GROUP, MASK, OTHER = 1, 2, 4, 0x10, 0x20


@pytest.mark.skipif(not ROOT, reason="attributes of trusted.* are root's")
@pytest.mark.parametrize("place", ["disk", "memory"])
def test_access_lists_and_attributes_stay(tmp_path: Path, place: str) -> None:
    """What a file has of access lists and extended attributes it has after it was written; what its
    directory gives to new files it does not get.
    """
    with TemporaryDirectory(dir=MEMORY if place == "memory" else tmp_path) as folder:
        path, bare = Path(folder, "a"), Path(folder, "bare")
        path.write_bytes(b"old")
        bare.write_bytes(b"old")
        ends = (GROUP, 0, NONE), (MASK, 6, NONE), (OTHER, 0, NONE)
        mine = access_list((OWNER, 6, NONE), (USER, 4, 65534), *ends)
        given = access_list((OWNER, 6, NONE), (USER, 6, 65533), *ends)
        os.setxattr(path, "system.posix_acl_access", mine)
        os.setxattr(folder, "system.posix_acl_default", given)
        os.setxattr(path, "trusted.vendor", b"\0\1")
        before = attributes(path), attributes(bare), path.stat().st_mode, bare.stat().st_mode

        for each in (path, bare):
            Applier().write_file(each, b"new", expect=b"old")

        assert before == (
            attributes(path), attributes(bare), path.stat().st_mode, bare.stat().st_mode,
        )  # fmt: skip
        assert "system.posix_acl_access" in before[0]
        assert (b"new", b"new") == (path.read_bytes(), bare.read_bytes())


def attributes(path: Path) -> dict[str, bytes]:
    """Return a file's extended attributes."""
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


@pytest.mark.kernel("strace")
@pytest.mark.parametrize("code", ["EINVAL", "ENOSYS"])
def test_a_file_system_that_exchanges_nothing_is_written_too(tmp_path: Path, code: str) -> None:
    """Where the kernel or the file system knows no exchange, the file is read once more and
    renamed; what changed is refused all the same, and a new file takes nobody's name.
    """
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from podpath_protect.apply import ABSENT, Applier, ApplyError\n"
        "a, b = (Path(sys.argv[1], name) for name in 'ab')\n"
        "Applier().write_file(a, b'new', expect=b'old')\n"
        "Applier().write_file(b, b'new', expect=ABSENT)\n"
        "Applier().remove_file(b, expect=b'new')\n"
        "try: Applier().write_file(a, b'x', expect=b'old')\n"
        "except ApplyError as error: print(error.refusal)\n"
    )
    (tmp_path / "a").write_bytes(b"old")
    words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject=renameat2:error={code}"]
    done = subprocess.run(
        [*words, sys.executable, "-c", program, str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (0, "stale\n") == (done.returncode, done.stdout), done.stderr
    assert (b"new", ["a"]) == ((tmp_path / "a").read_bytes(), names(tmp_path))
