"""Whatever podpath is given, it answers with a clear error or a gap: no traceback, no endless work,
nothing written.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import podpath

USAGE, UNDECIDED = 2, 3
PROBE = "tcp 10.61.9.14 > 10.97.44.210:80"

CYCLE = """\
*filter
:FORWARD ACCEPT [0:0]
:ROUND - [0:0]
:AGAIN - [0:0]
-A FORWARD -j ROUND
-A ROUND -j AGAIN
-A AGAIN -j ROUND
COMMIT
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Provide a folder to work in; whatever stands in it afterwards stood in it before."""
    work = tmp_path / "work"
    work.mkdir()
    yield work
    assert list(work.iterdir()) == []
    assert not (tmp_path / "escaped").exists()


def answer(
    folder: Path,
    *arguments: str | Path,
    codes: tuple[int, ...],
    timeout: float = 60,
    memory: int | None = None,
) -> str:
    """Run podpath; whatever it says, it ends with one of these codes and without a traceback. Give
    all that it said.
    """
    done = podpath(*arguments, cwd=folder, timeout=timeout, memory=memory)
    said = done.stdout + done.stderr

    assert "Traceback" not in said
    assert "internal error" not in said.lower()
    assert done.returncode in codes, said[:2000]
    return said


def test_a_missing_file_is_named(folder: Path) -> None:
    """The error names the file, on one line."""
    said = answer(folder, "diagnose", "nothing-here.md", codes=(USAGE,))

    assert "nothing-here.md" in said
    assert said.strip().count("\n") <= 2


def test_a_folder_without_evidence_is_refused(folder: Path, tmp_path: Path) -> None:
    """An empty folder is no bundle."""
    empty = tmp_path / "empty"
    empty.mkdir()

    assert str(empty) in answer(folder, "diagnose", empty, codes=(USAGE,))


@pytest.mark.parametrize(
    "command", [("diagnose",), ("trace", "--probe", PROBE)], ids=["diagnose", "trace"]
)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n  \n", b"\0\0\0\0", b"Everything is fine.\n"],
    ids=["empty", "blank", "zeros", "prose"],
)
def test_a_file_without_evidence_is_refused(
    folder: Path, tmp_path: Path, content: bytes, command: tuple[str, ...]
) -> None:
    """Nothing to go by is an error or undecided, never a clean bill of health."""
    file = tmp_path / "ticket.md"
    file.write_bytes(content)

    answer(folder, *command, file, codes=(USAGE, UNDECIDED))


@pytest.mark.parametrize("seed", range(4))
def test_binary_junk_is_refused(folder: Path, tmp_path: Path, seed: int) -> None:
    """Random bytes hold no evidence; what is said of them is printable."""
    file = tmp_path / "junk.bin"
    file.write_bytes(random.Random(seed).randbytes(200_000))
    said = answer(folder, "diagnose", file, codes=(USAGE, UNDECIDED))

    assert all(character.isprintable() or character == "\n" for character in said)


def test_an_unreadable_file_is_named(folder: Path, tmp_path: Path) -> None:
    """A file that may not be read, or is a device, is an error and does not hang."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert str(pipe) in answer(folder, "diagnose", pipe, codes=(USAGE,), timeout=20)


def test_a_huge_log_takes_bounded_time_and_memory(folder: Path, tmp_path: Path) -> None:
    """100 MB of log lines end within a minute and 1.5 GB."""
    line = (
        b"Nov 21 14:12:03 db-host-3 kubelet[1243]: I1121 14:12:03.412 prober.go:116] probe of pod "
        b"%06d failed, will retry\n"
    )
    file = tmp_path / "messages.log"
    with file.open("wb") as out:
        for start in range(0, 900_000, 10_000):
            out.write(b"".join(line % number for number in range(start, start + 10_000)))
    assert file.stat().st_size > 95_000_000
    started = time.monotonic()
    answer(folder, "diagnose", file, codes=(USAGE, UNDECIDED), timeout=90, memory=1536)

    assert time.monotonic() - started < 60


def test_one_endless_line_is_bounded(folder: Path, tmp_path: Path) -> None:
    """A file of one line without an end takes no longer than its size."""
    file = tmp_path / "line.txt"
    file.write_bytes(b"-A FORWARD -m comment --comment " + b"x" * 20_000_000)

    answer(folder, "diagnose", file, codes=(0, 1, USAGE, UNDECIDED), timeout=60, memory=1536)


def test_half_a_ruleset_is_read_as_far_as_it_goes(
    folder: Path, tmp_path: Path, repository: Path
) -> None:
    """A save that breaks off in the middle of a line gives its rules and a gap."""
    whole = (
        repository / "examples/incidents/br-netfilter-off/bundle/netns/host/iptables-save.txt"
    ).read_text(encoding="ascii")
    file = tmp_path / "save.txt"
    file.write_text(whole[: whole.index("KUBE-FORWARD -m conntrack") + 20], encoding="ascii")

    answer(folder, "diagnose", file, codes=(0, 1, USAGE, UNDECIDED))
    answer(folder, "trace", file, "--probe", PROBE, codes=(1, UNDECIDED))


def test_a_cycle_of_chains_ends(folder: Path, tmp_path: Path) -> None:
    """The kernel refuses to load such rules; podpath says so or gives up, and stops."""
    file = tmp_path / "save.txt"
    file.write_text(CYCLE, encoding="ascii")

    answer(folder, "trace", file, "--probe", PROBE, codes=(1, USAGE, UNDECIDED), timeout=20)


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write a .tar.gz of these members."""
    with tarfile.open(path, "w:gz") as out:
        for member, content in members:
            member.size = len(content)
            out.addfile(member, io.BytesIO(content))
    return path


def link(name: str, target: str, kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    """Make a link member."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


@pytest.mark.parametrize(
    "name",
    ["../escaped/sysctl.txt", "/escaped/sysctl.txt", "netns/host/../../../escaped/sysctl.txt"],
)
def test_an_archive_that_climbs_out_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    """A member outside of the archive's own folder is an error that names it."""
    bundle = archive(
        tmp_path / "bundle.tar.gz", (tarfile.TarInfo(name), b"net.ipv4.ip_forward = 1\n")
    )

    assert "escaped" in answer(folder, "diagnose", bundle, codes=(USAGE,))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_an_archive_with_links_or_devices_reads_nothing_through_them(
    folder: Path, tmp_path: Path, kind: bytes
) -> None:
    """What a link points to is never read."""
    secret = tmp_path / "secret.txt"
    secret.write_text("net.ipv4.conf.all.rp_filter = 7\n", encoding="ascii")
    bundle = archive(tmp_path / "bundle.tar.gz", link("netns/host/sysctl.txt", str(secret), kind))

    assert "rp_filter = 7" not in answer(folder, "diagnose", bundle, codes=(USAGE, UNDECIDED))


def test_a_bundle_folder_with_links_reads_nothing_outside(folder: Path, tmp_path: Path) -> None:
    """A symbolic link in a folder that leads out of it is not followed."""
    (tmp_path / "secret.txt").write_text("net.ipv4.conf.all.rp_filter = 7\n", encoding="ascii")
    host = tmp_path / "bundle" / "netns" / "host"
    host.mkdir(parents=True)
    (host / "sysctl.txt").symlink_to(tmp_path / "secret.txt")

    assert "rp_filter = 7" not in answer(
        folder, "diagnose", tmp_path / "bundle", codes=(USAGE, UNDECIDED)
    )


def test_a_decompression_bomb_is_refused(folder: Path, tmp_path: Path) -> None:
    """8 GiB in 8 MB end with an error, in bounded time and memory."""
    zeros = gzip.compress(bytes(64 << 20))
    member = tarfile.TarInfo("netns/host/sysctl.txt")
    member.size = 128 * (64 << 20)
    bundle = tmp_path / "bundle.tar.gz"
    bundle.write_bytes(gzip.compress(member.tobuf()) + zeros * 128)

    answer(folder, "diagnose", bundle, codes=(USAGE,), timeout=60, memory=1024)


@pytest.mark.parametrize(
    "content",
    [b"\x1f\x8b\x08\0junk", b"\x28\xb5\x2f\xfdjunk", b"PK\x03\x04junk"],
    ids=["gzip", "zstd", "zip"],
)
@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst", ".txt"])
def test_a_broken_archive_is_refused(
    folder: Path, tmp_path: Path, content: bytes, suffix: str
) -> None:
    """A file that begins like an archive and is none is an error, whatever it is called."""
    file = tmp_path / f"bundle{suffix}"
    file.write_bytes(content)

    answer(folder, "diagnose", file, codes=(USAGE, UNDECIDED))


def test_a_truncated_archive_is_refused(folder: Path, tmp_path: Path) -> None:
    """An upload that broke off is an error."""
    whole = archive(
        tmp_path / "whole.tar.gz",
        (tarfile.TarInfo("netns/host/sysctl.txt"), random.Random(1).randbytes(50_000)),
    )
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(whole.read_bytes()[:20_000])

    answer(folder, "diagnose", cut, codes=(USAGE,))


def test_escape_sequences_do_not_reach_the_terminal(folder: Path, tmp_path: Path) -> None:
    """Names with control characters are shown escaped: a bundle cannot clear the screen or rename
    the window.
    """
    file = tmp_path / "save.txt"
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    file.write_text(
        (
            "*filter\n:FORWARD DROP [0:0]\n"
            f'-A FORWARD -i "{evil}" -m comment --comment "{evil}" -j DROP\nCOMMIT\n'
        ),
        encoding="utf-8",
    )
    said = answer(folder, "trace", file, "--probe", PROBE, codes=(0, 1, USAGE, UNDECIDED))
    said += answer(folder, "diagnose", file, codes=(0, 1, USAGE, UNDECIDED))

    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_a_file_name_with_escape_sequences_is_shown_escaped(folder: Path, tmp_path: Path) -> None:
    """The error that names a file does not act on the terminal either."""
    file = tmp_path / "tick\x1b[2Jet.md"
    file.write_text("nothing\n", encoding="ascii")

    assert "\x1b" not in answer(folder, "diagnose", file, codes=(USAGE, UNDECIDED))


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_other_encodings_are_read_or_refused(folder: Path, tmp_path: Path, encoding: str) -> None:
    """A file saved by another system's editor does not crash anything."""
    file = tmp_path / "ticket.md"
    file.write_bytes(
        "größer\n$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n".encode(encoding)
    )

    answer(folder, "diagnose", file, codes=(0, 1, USAGE, UNDECIDED))


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("diagnose",), ("no-such-command",), ("diagnose", "--no-such-option"),
        ("trace", "README.md"), ("trace", "README.md", "--probe", "tcp nowhere > 10.0.0.1:80"),
    ],
    ids=lambda arguments: " ".join(arguments) or "nothing",
)  # fmt: skip
def test_a_wrong_command_line_is_a_usage_error(
    folder: Path, repository: Path, arguments: tuple[str, ...]
) -> None:
    """The exit code is 2 and the message says what is wrong."""
    given = [
        repository / argument if argument == "README.md" else argument for argument in arguments
    ]

    assert answer(folder, *given, codes=(USAGE,)).strip()
