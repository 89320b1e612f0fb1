"""The one module through which protect changes a system: files written whole or not at all, kernel
settings, programs run.

What comes in is what shall be; what goes out is an `Effect` that says whether it was done, was so
already, or would be done. With `dry_run` every look and every refusal stays, and nothing is
changed.

A file is written as a temporary one in the same directory, synchronised, exchanged with what has
its name, and the directory synchronised: a reader, and the node after a crash, sees the old file or
the new one (renameat2(2), fsync(2)). What comes out of the exchange must be what was read before;
where somebody wrote meanwhile, his file gets its name back and the change is refused as stale. The
same directory also matters to those who watch it: containerd heeds renames and no creations, so a
file moved in from elsewhere would escape it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from podpath.net.errors import PodpathError
from podpath_protect.exchange import ROUNDS, exchange, is_settled, move_new

TEMPORARY = ".podpath-tmp"
"""The suffix of a file that is being written: no runtime takes it for a CNI configuration, no
systemd for a drop-in.
"""

TIMED_OUT = 124
"""The exit code of a program that took too long, as timeout(1) has it."""
STALE = "it changed after it was read; it is left as it is"
HELD_OPEN = "somebody has it open for writing; it is left as it is"
_NO_FILE = b"\0no regular file"
ABSENT = b"\0no file"
"""What `expect` is given where no file may be there: no configuration holds it."""
_NEVER_COPIED = frozenset({"security.ima", "security.evm"})
"""Attributes that vouch for the content, which the kernel writes anew."""
_ACCESS = "system.posix_acl_"
Refusal = Literal["untrusted", "full", "read-only", "denied", "stale", "absent", "failed"]
_REFUSALS: dict[int | None, Refusal] = {
    errno.ENOSPC: "full", errno.EDQUOT: "full", errno.EROFS: "read-only", errno.EACCES: "denied",
    errno.EPERM: "denied", errno.ENOENT: "absent", errno.ENOTDIR: "absent",
    errno.ELOOP: "untrusted",
}  # fmt: skip


class ApplyError(PodpathError):
    """A change that could not, or must not, be made. The message names what was to be changed and
    what stood in the way.
    """

    def __init__(self, refusal: Refusal, target: str, why: str, *, code: int | None = None) -> None:
        """Keep what a caller decides by: the kind of refusal, its target, a program's exit code."""
        super().__init__(f"{target}: {why}")
        self.code = code
        self.refusal: Refusal = refusal
        self.target = target
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One change, as it came out."""

    kind: Literal["write", "remove", "rename", "directory", "set", "run"]
    target: str
    state: Literal["done", "unchanged", "would"]
    """`unchanged` where it was so already and nothing was touched; `would` in a dry run."""
    detail: str = ""
    """The value that was set, or what a program printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applier:
    """Changes a system, or only says what it would change."""

    dry_run: bool = False
    tell: Callable[[Effect], None] | None = None
    """Hears of every change that is made or would be: a log, a dry run's list."""

    def write_file(
        self,
        path: Path,
        content: bytes,
        *,
        mode: int | None = None,
        new_mode: int = 0o600,
        expect: bytes | None = None,
    ) -> Effect:
        """Make a file's content so, atomically; mode and owner of a file that is there stay, unless
        `mode` says otherwise.

        Where `expect` is given and the file no longer holds that, somebody wrote meanwhile:
        `ApplyError` with `stale`, also where that was in the very moment of writing. `ABSENT`
        expects none. Without `expect` whatever is there is replaced, however often it changes.
        """
        with _directory(path) as folder:
            for left in reversed(range(ROUNDS)):
                there = _look(folder, path)
                held = None if there is None else _read(folder, path)
                if expect is not None and held != (None if expect is ABSENT else expect):
                    raise ApplyError("stale", str(path), STALE)
                wanted = new_mode if there is None else stat.S_IMODE(there.st_mode)
                wanted = wanted if mode is None else mode
                if there is not None and held == content and stat.S_IMODE(there.st_mode) == wanted:
                    return Effect(kind="write", target=str(path), state="unchanged")
                if self.dry_run:
                    break
                try:
                    with _translated(path):
                        _replace(folder, path, content, wanted, there, held)
                except ApplyError as error:
                    if error.refusal != "stale" or expect is not None or not left:
                        raise
                else:
                    break
        return self._effect("write", str(path))

    def remove_file(self, path: Path, *, expect: bytes | None = None) -> Effect:
        """Remove a regular file of a trusted owner; nothing to do where there is none. `expect` is
        as in `write_file`.
        """
        with _directory(path) as folder:
            if _look(folder, path) is None:
                return Effect(kind="remove", target=str(path), state="unchanged")
            if expect is not None and _read(folder, path) != expect:
                raise ApplyError("stale", str(path), STALE)
            if not self.dry_run:
                with _translated(path):
                    _take_away(folder, path, expect)
                    os.fsync(folder)
        return self._effect("remove", str(path))

    def make_directory(self, path: Path, *, mode: int = 0o755) -> Effect:
        """Make a directory whose parent is there; one that exists must be of a trusted owner."""
        try:
            check_directory(path)
        except ApplyError as error:
            if error.refusal != "absent":
                raise
        else:
            return Effect(kind="directory", target=str(path), state="unchanged")
        with _directory(path) as folder:
            if not self.dry_run:
                with _translated(path):
                    os.mkdir(path.name, mode, dir_fd=folder)
                    os.fsync(folder)
        return self._effect("directory", str(path))

    def write_setting(self, path: Path, value: str) -> Effect:
        """Write a kernel setting below /proc/sys or /sys in one write; one that holds the value
        already is not written.
        """
        with _translated(path):
            held = path.read_text(encoding="utf-8")
            if held.split() == value.split():
                return Effect(kind="set", target=str(path), state="unchanged", detail=value)
            if not self.dry_run:
                descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.write(descriptor, f"{value}\n".encode())
                finally:
                    os.close(descriptor)
        return self._effect("set", str(path), value)

    def run(self, arguments: Sequence[str], *, stdin: str = "", timeout: float = 30.0) -> Effect:
        """Run a program that changes something, without a shell, to its end; `ApplyError` says how
        it failed.
        """
        line = " ".join(arguments)
        if self.dry_run:
            return self._effect("run", line)
        try:
            done = subprocess.run(
                arguments,
                input=stdin,
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout,
                errors="replace",
            )
        except OSError as error:
            raise ApplyError(
                _REFUSALS.get(error.errno, "failed"), line, f"cannot be run: {error.strerror}"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ApplyError(
                "failed", line, f"did not end within {timeout:g} s", code=TIMED_OUT
            ) from error
        if done.returncode != 0:
            raise ApplyError(
                "failed",
                line,
                f"ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}",
                code=done.returncode,
            )
        return self._effect("run", line, done.stdout)

    def sweep(self, directory: Path) -> int:
        """Remove what a writer that was killed left in a directory, and say how many; a file that
        is being written is let be.
        """
        with _directory(directory / "_") as folder:
            names = os.listdir(folder)  # noqa: PTH208  # a Path knows no descriptor
            left = [name for name in names if name.endswith(TEMPORARY) and _abandoned(folder, name)]
            if not self.dry_run:
                with _translated(directory):
                    for name in left:
                        os.unlink(name, dir_fd=folder)
        return len(left)

    def _effect(
        self,
        kind: Literal["write", "remove", "directory", "set", "run"],
        target: str,
        detail: str = "",
    ) -> Effect:
        effect = Effect(
            kind=kind, target=target, state="would" if self.dry_run else "done", detail=detail
        )
        if self.tell is not None:
            self.tell(effect)
        return effect


def check_directory(path: Path) -> None:
    """Check that a directory is there and is nobody's but root's or our own; `ApplyError` says what
    is wrong with it.
    """
    with _directory(path / "_"):
        pass


def check_trusted(path: Path) -> os.stat_result | None:
    """Check that a file may be written and read as ours: regular, of a trusted owner; None where
    there is none.
    """
    with _directory(path) as folder:
        return _look(folder, path)


@contextmanager
def _directory(path: Path) -> Iterator[int]:
    """Open the directory of a file, refusing one that others could change under our hands."""
    parent = path.parent
    with _translated(parent):
        if parent.is_symlink() and parent.lstat().st_uid not in _trusted():
            raise ApplyError("untrusted", str(parent), "it is a symbolic link of a foreign owner")
        descriptor = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        there = os.fstat(descriptor)
        if there.st_uid not in _trusted():
            raise ApplyError(
                "untrusted",
                str(parent),
                f"it belongs to user {there.st_uid}, neither to root nor to us",
            )
        if there.st_mode & stat.S_IWOTH:
            raise ApplyError(
                "untrusted",
                str(parent),
                f"everybody may write in it (mode {stat.S_IMODE(there.st_mode):04o})",
            )
        yield descriptor
    finally:
        os.close(descriptor)


def _look(folder: int, path: Path) -> os.stat_result | None:
    with _translated(path):
        try:
            there = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
    if stat.S_ISLNK(there.st_mode):
        raise ApplyError("untrusted", str(path), "it is a symbolic link, which is not followed")
    if not stat.S_ISREG(there.st_mode):
        raise ApplyError("untrusted", str(path), "it is not a regular file")
    if there.st_uid not in _trusted():
        raise ApplyError(
            "untrusted", str(path), f"it belongs to user {there.st_uid}, neither to root nor to us"
        )
    return there


def _read(folder: int, path: Path) -> bytes:
    with _translated(path):
        descriptor = os.open(
            path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder
        )
        with os.fdopen(descriptor, "rb") as file:
            return file.read()


def _replace(
    folder: int,
    path: Path,
    content: bytes,
    mode: int,
    there: os.stat_result | None,
    held: bytes | None,
) -> None:
    name = path.name
    temporary = _temporary(name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # tells `sweep` that its writer lives
            file.write(content)
            file.flush()
            if there is not None and (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), there.st_uid, there.st_gid)
            if there is not None:
                _copy_attributes(folder, path, file.fileno())
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            if held is None:
                _place(folder, path, temporary)
            else:
                _swap(folder, path, temporary, content, held)
    finally:
        _forget(folder, temporary)
    os.fsync(folder)


def _temporary(name: str) -> str:
    return f".{name}.{secrets.token_hex(6)}{TEMPORARY}"


def _place(folder: int, path: Path, temporary: str) -> None:
    """Give a new file its name; somebody's that came meanwhile stays."""
    try:
        if not move_new(folder, temporary, path.name):
            os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError as error:
        raise ApplyError("stale", str(path), STALE) from error


def _swap(folder: int, path: Path, temporary: str, content: bytes, held: bytes) -> None:
    """Exchange the new file with the old one; where what comes out is not what was read, put that
    back, and what somebody wrote over that too.
    """
    own = os.stat(temporary, dir_fd=folder).st_ino
    try:
        exchanged = exchange(folder, temporary, path.name)
    except FileNotFoundError as error:
        raise ApplyError("stale", str(path), STALE) from error
    if not exchanged:
        _rename_unguarded(folder, path, temporary, held)
        return
    out, settled = _read_out(folder, temporary, own)
    if out == held and settled:
        return
    put = content
    for _ in range(ROUNDS):
        expected, put = put, out
        try:
            exchange(folder, temporary, path.name)
        except FileNotFoundError:  # somebody removed it: that was the last word
            break
        out, _ = _read_out(folder, temporary, own)
        if out == expected:
            break
    else:
        os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    raise ApplyError("stale", str(path), STALE if settled else HELD_OPEN)


def _read_out(folder: int, name: str, own: int) -> tuple[bytes, bool]:
    """Read what came out of an exchange, and tell whether nobody writes into it still. A link, a
    directory or whatever else cannot be read as a file is what nobody read before.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError:
        return _NO_FILE, True
    try:
        settled = os.fstat(descriptor).st_ino == own or is_settled(descriptor)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read() or b"", settled  # nothing at all of a pipe with a writer
    except OSError:
        return _NO_FILE, True
    finally:
        os.close(descriptor)


def _rename_unguarded(folder: int, path: Path, temporary: str, held: bytes) -> None:
    """Rename where the file system exchanges nothing: the file is read once more, and what somebody
    renames over it in the microseconds between is lost.
    """
    out, settled = _read_out(folder, path.name, -1)
    if out != held or not settled:
        raise ApplyError("stale", str(path), STALE if settled else HELD_OPEN)
    os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def _take_away(folder: int, path: Path, expect: bytes | None) -> None:
    """Remove a file; where `expect` is given it is moved aside first and held against it, and what
    is something else gets its name back.
    """
    if expect is None:
        os.unlink(path.name, dir_fd=folder)
        return
    aside = _temporary(path.name)
    if not move_new(folder, path.name, aside):
        os.unlink(path.name, dir_fd=folder)
        return
    try:
        out, settled = _read_out(folder, aside, -1)
        if out != expect or not settled:
            _put_back(folder, aside, path.name)
            raise ApplyError("stale", str(path), STALE if settled else HELD_OPEN)
    finally:
        _forget(folder, aside)


def _put_back(folder: int, aside: str, name: str) -> None:
    try:
        move_new(folder, aside, name)
    except FileExistsError:
        return  # somebody has written it anew since: that is the last word


def _copy_attributes(folder: int, path: Path, target: int) -> None:
    """Give a new file the access list and the extended attributes of the one that it replaces;
    `ApplyError` where one would be lost.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    source = os.open(path.name, flags, dir_fd=folder)
    try:
        wanted = _attributes(source)
        inherited = _attributes(target)
        for name in inherited.keys() - wanted.keys():
            if name.startswith(_ACCESS):
                os.removexattr(target, name)  # a default of the directory's, which the old had not
        for name, value in wanted.items():
            if inherited.get(name) != value and name not in _NEVER_COPIED:
                os.setxattr(target, name, value)
    except OSError as error:
        raise ApplyError(
            "denied", str(path), f"its attributes would be lost: {error.strerror}"
        ) from error
    finally:
        os.close(source)


def _attributes(descriptor: int) -> dict[str, bytes]:
    try:
        names = os.listxattr(descriptor)
    except OSError as error:
        if error.errno in {errno.EOPNOTSUPP, errno.ENOSYS}:
            return {}
        raise
    return {name: os.getxattr(descriptor, name) for name in names}


def _forget(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # the error that led here is the one to tell; `sweep` removes the rest


def _abandoned(folder: int, name: str) -> bool:
    try:
        descriptor = os.open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder
        )
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(descriptor).st_uid in _trusted()
    except OSError:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ApplyError(
            _REFUSALS.get(error.errno, "failed"), str(path), error.strerror or str(error)
        ) from error


def _trusted() -> set[int]:
    return {0, os.geteuid()}
