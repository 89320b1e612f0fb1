"""Files, folders, archives and standard input are read within bounds, and never beyond what was
named.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from podpath.collect.limits import Limits
from podpath.collect.read import read_evidence
from podpath.net.errors import EvidenceError, MissingExtra

ROUTES = b"default via 10.0.0.1 dev eth0\n10.0.0.0/24 dev eth0 scope link\n"
SMALL = Limits(
    output_bytes=1 << 20,
    text_bytes=1 << 12,
    files=5,
    total_bytes=1 << 21,
    ratio=20,
    ratio_from=1 << 16,
)


def _archive(path: Path, *members: tuple[str | tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as out:
        for name, content in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    return path


def test_files_and_standard_input(tmp_path: Path) -> None:
    """All that is named is read in that order."""
    file = tmp_path / "routes.txt"
    file.write_bytes(ROUTES)
    found = read_evidence([str(file), "-"], stdin=io.BytesIO(b"net.ipv4.ip_forward = 1\n"))
    assert [str(file), "stdin"] == [source.name for source in found.sources]


def test_a_folder_of_documents(tmp_path: Path) -> None:
    """A folder that is no bundle gives each of its files by itself; hidden ones are left alone."""
    (tmp_path / "a.txt").write_bytes(ROUTES)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.md").write_bytes(b"```\n$ ip route\n" + ROUTES + b"```\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_bytes(ROUTES)
    assert [None, "ip route"] == [
        source.command for source in read_evidence([str(tmp_path)]).sources
    ]


def test_a_bundle_folder_and_its_archive(tmp_path: Path) -> None:
    """A bundle gives the same sources as a folder, as .tar and as .tar.gz."""
    host = tmp_path / "bundle" / "netns" / "pod-a"
    host.mkdir(parents=True)
    (host / "ip-route.txt").write_bytes(ROUTES)
    plain = _archive(tmp_path / "b.tar", ("bundle/netns/pod-a/ip-route.txt", ROUTES))
    packed = _archive(tmp_path / "b.tgz", ("./netns/pod-a/ip-route.txt", ROUTES))
    read = [read_evidence([str(path)]).sources for path in (tmp_path / "bundle", plain, packed)]
    assert [[("pod-a", "ip -d route show table all", 2)]] * 3 == [
        [(source.netns, source.command, len(source.lines)) for source in sources]
        for sources in read
    ]
    assert read[2][0].name == f"{packed}/netns/pod-a/ip-route.txt"


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs zstd to make an archive")
def test_zstd(tmp_path: Path) -> None:
    """A .tar.zst is read where the package is there; else the error says how to get it."""
    plain = _archive(tmp_path / "b.tar", ("netns/host/ip-route.txt", ROUTES))
    packed = tmp_path / "b.tar.zst"
    subprocess.run(("zstd", "-q", str(plain), "-o", str(packed)), check=True)
    if sys.version_info < (3, 14) and importlib.util.find_spec("backports") is None:
        with pytest.raises(MissingExtra, match=re.escape("pip install 'podpath[zstd]'")):
            read_evidence([str(packed)])
    else:
        assert ["host"] == [source.netns for source in read_evidence([str(packed)]).sources]


def test_a_packed_ticket(tmp_path: Path) -> None:
    """A single file may be packed, too."""
    path = tmp_path / "ticket.md.gz"
    path.write_bytes(gzip.compress(b"```\n$ ip route\n" + ROUTES + b"```\n"))
    assert ["ip route"] == [source.command for source in read_evidence([str(path)]).sources]


def test_packed_files_in_a_folder(tmp_path: Path) -> None:
    """Files of a bundle may each be packed: their names are those that they have unpacked. Too much
    in all is refused.
    """
    host = tmp_path / "netns" / "host"
    host.mkdir(parents=True)
    for name, pack in (("ip-route.txt.xz", lzma.compress), ("ip-rule.txt.bz2", bz2.compress)):
        (host / name).write_bytes(
            pack(ROUTES if "route" in name else b"0:\tfrom all lookup local\n")
        )
    found = read_evidence([str(tmp_path)])
    assert [("host", "ip -d route show table all", 2), ("host", "ip -d rule", 1)] == [
        (source.netns, source.command, len(source.lines)) for source in found.sources
    ]
    for name in ("sysctl.txt.gz", "modules.txt.gz"):
        (host / name).write_bytes(gzip.compress(b"net.ipv4.ip_forward = 1\n" * 400))
    with pytest.raises(EvidenceError, match="of files unpacked, saw more"):
        read_evidence([str(tmp_path)], Limits(total_bytes=10_000))


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_an_archive_that_climbs_out(tmp_path: Path, name: str) -> None:
    """It is refused as a whole, and the member is named."""
    with pytest.raises(EvidenceError, match="x"):
        read_evidence([str(_archive(tmp_path / "b.tar.gz", ("ok.txt", ROUTES), (name, ROUTES)))])


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_links_and_devices_in_an_archive(tmp_path: Path, kind: bytes) -> None:
    """They are left out, and that is said."""
    info = tarfile.TarInfo("netns/host/sysctl.txt")
    info.type, info.linkname = kind, "/etc/passwd"
    found = read_evidence(
        [str(_archive(tmp_path / "b.tar.gz", ("netns/host/ip-route.txt", ROUTES), (info, b"")))]
    )
    assert 1 == len(found.sources)
    assert ["left out"] == [gap.why.rpartition(": ")[2] for gap in found.gaps]


def test_a_link_that_leaves_a_folder(tmp_path: Path) -> None:
    """It is not followed; one that stays inside is."""
    (tmp_path / "secret").write_bytes(ROUTES)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "real").write_bytes(ROUTES)
    (folder / "within").symlink_to(folder / "real")
    found = read_evidence([str(folder)])
    assert [f"{folder}/real", f"{folder}/within"] == [source.name for source in found.sources]
    assert [f"{folder}/out"] == [gap.span.source.name for gap in found.gaps]


def test_bombs(tmp_path: Path) -> None:
    """What unpacks to far more than it is, or holds too many members, is refused."""
    (tmp_path / "bomb.tar.gz").write_bytes(
        gzip.compress(tarfile.TarInfo("x").tobuf() + bytes(1 << 20))
    )
    many = _archive(tmp_path / "many.tar.gz", *((f"{i}.txt", ROUTES) for i in range(9)))
    big = _archive(tmp_path / "big.tar", *((f"{i}.txt", os.urandom(700_000)) for i in range(4)))
    for path in (tmp_path / "bomb.tar.gz", many, big):
        with pytest.raises(EvidenceError, match=r"bomb|members|MB"):
            read_evidence([str(path)], SMALL)


def test_damaged_archives(tmp_path: Path) -> None:
    """An archive that breaks off, or only begins like one, is an error."""
    whole = _archive(tmp_path / "b.tar.gz", ("x", os.urandom(50_000))).read_bytes()
    for content in (whole[:20_000], b"\x1f\x8b\x08\0junk"):
        (tmp_path / "cut.tar.gz").write_bytes(content)
        with pytest.raises(EvidenceError, match="cut"):
            read_evidence([str(tmp_path / "cut.tar.gz")])


def test_a_long_log_is_cut(tmp_path: Path) -> None:
    """Of a long document only the beginning is read, to the end of a line, and that is said; a long
    output is read whole.
    """
    log = tmp_path / "messages"
    log.write_bytes(b"Nov 21 14:12:03 n1 kubelet[12]: all is well, and nothing has failed\n" * 1000)
    rules = tmp_path / "rules"
    rules.write_bytes(b"*nat\n:X - [0:0]\n" + b"-A X -j ACCEPT\n" * 1000)
    found = read_evidence([str(log), str(rules)], SMALL)
    assert [True, False] == [len(source.lines) < 100 for source in found.sources]
    assert [str(log)] == [gap.span.source.name for gap in found.gaps]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """A missing, empty or endless file, an empty folder and an empty input are errors that name
    it.
    """
    (tmp_path / "empty").write_bytes(b"\n")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing", "empty", "folder", "pipe", "a\0b"):
        with pytest.raises(EvidenceError, match=name[:1]):
            read_evidence([str(tmp_path / name)])
    with pytest.raises(EvidenceError, match="standard input"):
        read_evidence(["-"], stdin=io.BytesIO(b""))
