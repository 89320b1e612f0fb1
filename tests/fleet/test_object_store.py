"""Bundles in object storage: in memory, and in a store as S3 is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.made_fleet import draw_node, emit_files, pack, set_sysctl
from podpath.net.errors import EvidenceError, MissingExtra, UsageError
from podpath_fleet import object_store
from podpath_fleet.bundle_row import DONE, REFUSED, read_bundle
from podpath_fleet.object_store import fetch, list_store, load_fsspec, stamp_folder
from podpath_fleet.paths import list_bundles
from podpath_fleet.questions import FleetTables
from podpath_fleet.store import read_journal
from tests.fleet.object_server import BUCKET, SIGNED, ObjectServer, serve_objects

pytestmark = pytest.mark.filterwarnings("ignore")
NODES = 6
BROKEN = 4
RULES = "netns/host/iptables-save.txt"


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectServer]:
    """Serve a bucket of packed nodes, of one node as files, and of notes that are no bundle."""
    with serve_objects() as server:
        for number in range(NODES):
            node = draw_node(3 * number, 2)
            if number == BROKEN:
                set_sysctl("net.ipv4.conf.all.rp_filter", "1")(node)
            server.put({f"today/{node['name']}.tar.gz": pack(node)})
        loose = emit_files(draw_node(3 * NODES, 2))
        server.put({f"today/web-loose/{name}": text.encode() for name, text in loose.items()})
        server.put({"today/notes.json": b"{}", "today/.hidden.tar.gz": b""})
        yield server


@pytest.fixture
def reached(store: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> ObjectServer:
    """Have this process find the store, as the variables of another would."""
    for name, value in SIGNED.items():
        monkeypatch.setenv(name, value)
    fsspec = load_fsspec()
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": store.url})
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    return store


def test_a_run_reads_a_bucket(store: ObjectServer, tmp_path: Path) -> None:
    """Each object and each folder of objects is a row that quotes its URL; the node that differs
    is named, and a second run has nothing to do.
    """
    command = [
        sys.executable, "-m", "podpath", "fleet", f"s3://{BUCKET}/today", "--out", str(tmp_path),
        "--jobs", "1",
    ]  # fmt: skip
    environment = {**os.environ, **store.environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    rows = list(read_journal(str(tmp_path)))
    outliers = FleetTables(str(tmp_path)).list_outliers()

    assert (0, "") == (done.returncode, "".join(row["why"] for row in rows)), done.stderr
    assert {row["state"] for row in rows} == {DONE}
    assert len(rows) == NODES + 1
    assert f"s3://{BUCKET}/today/web-loose" in {row["path"] for row in rows}
    assert [one.names for one in outliers if "rp_filter" in one.fact] == [f"web-{3 * BROKEN:05d}"]
    assert "0 of 0 bundles" in again.stderr
    assert f"{NODES + 1} done before" in again.stderr


def test_an_object_that_is_not_given_is_a_gap(reached: ObjectServer) -> None:
    """The rest of the folder is read; the row names the object, and does not take it for empty."""
    url = f"s3://{BUCKET}/parts/web-00300"
    loose = emit_files(draw_node(300, 2))
    reached.put({f"parts/web-00300/{name}": text.encode() for name, text in loose.items()})
    whole = read_bundle(url, url)
    reached.put_away(f"parts/web-00300/{RULES}", loose[RULES].encode())
    row = read_bundle(url, url)

    assert (DONE, "") == (whole.state, whole.why)
    assert DONE == row.state
    assert row.why.startswith(f"{url}/{RULES}: could not be read: ")
    assert whole.gaps + 1 == row.gaps
    assert "iptables filter FORWARD: policy" in whole.facts
    assert "iptables filter FORWARD: policy" not in row.facts


def test_a_folder_of_which_nothing_is_given_is_refused(reached: ObjectServer) -> None:
    """Its row names the first object that is not."""
    reached.put_away("gone/web-1/bundle.json", b"{}")
    url = f"s3://{BUCKET}/gone/web-1"
    row = read_bundle(url, url)

    assert REFUSED == row.state
    assert row.why.startswith(f"{url}/bundle.json: could not be read: ")


def test_what_is_no_archive_is_refused_by_its_url(reached: ObjectServer) -> None:
    """Nobody is told of the copy."""
    reached.put({"odd/broken.tar.gz": b"\x1f\x8b not an archive"})
    url = f"s3://{BUCKET}/odd/broken.tar.gz"
    row = read_bundle(url, url)

    assert REFUSED == row.state
    assert row.why.startswith(url)
    assert "podpath-fleet-" not in row.why


def test_findings_quote_the_object(reached: ObjectServer) -> None:
    """Evidence is named by URL and line."""
    node = draw_node(600, 2)
    set_sysctl("net.ipv4.ip_forward", "0")(node)
    reached.put({"faulty/web-00600.tar.gz": pack(node)})
    url = f"s3://{BUCKET}/faulty/web-00600.tar.gz"
    quoted = [one.evidence for one in read_bundle(url, url).findings if one.evidence]

    assert quoted
    assert all(evidence.startswith(url) for evidence in quoted)


def test_a_changed_object_is_another_bundle(reached: ObjectServer) -> None:
    """Its identity has its content's tag; that of a folder has those of all its objects."""
    reached.put({"changed/a.tar.gz": b"one", "changed/b/node": b"one"})
    url = f"s3://{BUCKET}/changed"
    before = list(list_bundles([url]))
    reached.put({"changed/a.tar.gz": b"two"})
    load_fsspec().core.url_to_fs(url)[0].invalidate_cache()
    between = list(list_bundles([url]))
    reached.put({"changed/b/node": b"two"})
    load_fsspec().core.url_to_fs(url)[0].invalidate_cache()
    after = list(list_bundles([url]))

    assert [f"{url}/a.tar.gz", f"{url}/b"] == [one.path for one in before]
    assert before[1:] == between[1:]
    assert before[0].identity != between[0].identity
    assert between[0] == after[0]
    assert between[1].identity != after[1].identity


def test_a_store_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle there costs one row; paths of it are refused."""
    for name, value in SIGNED.items():
        monkeypatch.setenv(name, value)
    fsspec = load_fsspec()
    nowhere = {
        "endpoint_url": "http://127.0.0.1:9",
        "config_kwargs": {"retries": {"max_attempts": 0}},
    }
    monkeypatch.setitem(fsspec.config.conf, "s3", nowhere)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    url = f"s3://{BUCKET}/a.tar.gz"

    assert REFUSED == (row := read_bundle(url, url)).state
    assert row.why.startswith(f"{url}: could not be read: Could not connect")
    with pytest.raises(UsageError, match=f"{url}: Could not connect"):
        list_store(url)


def test_names_in_memory(tmp_path: Path) -> None:
    """A folder is listed by name; objects are copied to where they lie, but not out of it."""
    files = load_fsspec().filesystem("memory")
    files.pipe({"/m/b/node": b"1", "/m/b/x/../../../y": b"2", "/m/a.md": b"3", "/m/b/.z": b"4"})
    fetched = fetch("memory://m/b", tmp_path)
    stamped = stamp_folder("memory://m/b")
    files.pipe("/m/b/node", b"12")

    assert [("a.md", False), ("b", True)] == [
        (one.name, one.is_folder) for one in list_store("memory://m")
    ]
    assert ["node"] == [one.name for one in fetched.path.iterdir()]
    assert [] == list(tmp_path.parent.glob("y"))
    assert ["memory://m/b/x/../../../y"] == [gap.span.source.name for gap in fetched.gaps]
    assert stamped != stamp_folder("memory://m/b")
    with pytest.raises(UsageError, match="memory://none: no such object"):
        list_store("memory://none")
    with pytest.raises(EvidenceError, match="memory://none: no such object"):
        fetch("memory://none", tmp_path)


def test_a_bundle_of_too_many_objects_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder of too many files is."""
    files = load_fsspec().filesystem("memory")
    files.pipe({"/many/1": b"", "/many/2": b""})
    monkeypatch.setattr(object_store, "MOST_OBJECTS", 1)
    with pytest.raises(EvidenceError, match="expected at most 1 objects, saw 2"):
        fetch("memory://many", tmp_path)


def test_what_is_missing_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no fsspec is told what to install, and who names no file system that there is."""
    with pytest.raises(UsageError, match="nothing://"):
        list_store("nothing://x")

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(object_store, "import_module", refuse)
    with pytest.raises(MissingExtra, match=r"podpath-fleet\[remote\]"):
        list_store("s3://x")
