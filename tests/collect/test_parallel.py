"""Processes that share work give what one gives, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from bench.made_capture import make_capture
from podpath.capture.workers import AllGather, LostError
from podpath.collect import captures, parallel
from podpath.collect.mapping import map_file
from podpath.collect.parallel import ForkedWorkers, count_workers
from podpath_capture.reading.read import read_capture

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def open_files() -> int:
    """Count the files that this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> set[int]:
    """Return the processes that this one started and has not waited for; a test run has some of its
    own.
    """
    mine = str(os.getpid())
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if stat.read_text().rpartition(")")[2].split()[1] == mine:
                found.add(int(stat.parent.name))
    return found


def test_processes_give_what_one_gives(tmp_path: Path) -> None:
    """A capture that two and three processes read is the same, to the numbers of its IPv6
    addresses.
    """
    path = tmp_path / "made.pcap"
    path.write_bytes(make_capture(20_000, vxlan=0.2).data)
    alone = read_capture(path.read_bytes())
    before = open_files()
    for size in (2, 3):
        with path.open("rb") as file:
            view = map_file(file, load=False)
            found = read_capture(view, ForkedWorkers(size, view))
        for table in ("columns", "arps", "quotes"):
            ours, theirs = getattr(found.packets, table), getattr(alone.packets, table)
            assert [] == [
                field.name
                for field in fields(ours)
                if not np.array_equal(getattr(ours, field.name), getattr(theirs, field.name))
            ]
        assert found.packets.addresses == alone.packets.addresses
        assert found.damages == alone.damages
        del found, view, ours, theirs

    assert open_files() == before


def test_workers_meet() -> None:
    """What each says all hear, as often as they meet, and results stand in the order of the
    workers.
    """

    def work(number: int, meet: AllGather) -> tuple[int, list[int], list[str]]:
        return number, meet(number * 10), meet(str(number))

    assert ForkedWorkers(3).run(work) == [
        (number, [0, 10, 20], ["0", "1", "2"]) for number in range(3)
    ]


def test_memory_is_shared() -> None:
    """What a worker writes the first process sees; the rest is zeros."""
    workers = ForkedWorkers(2)
    memory = workers.share(8192)

    def work(number: int, meet: AllGather) -> None:
        memory[number * 4096] = number + 1
        meet(None)

    workers.run(work)

    assert (1, 2, 3) == (memory[0], memory[4096], sum(memory))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["raises", "is killed"])
def test_a_process_that_ends_early_is_told_and_waited_for(when: str, how: str) -> None:
    """One that raises, or that the kernel kills, before or after it met the others: an error, and
    nothing stays behind.
    """
    before, others = open_files(), children()

    def end() -> None:
        if how == "raises":
            raise ValueError(how)
        os.kill(os.getpid(), signal.SIGKILL)

    def work(number: int, meet: AllGather) -> int:
        if number == 2 and when == "before":
            end()
        meet(number)
        if number == 2:
            end()
        return number

    with pytest.raises(LostError, match="ended early"):
        ForkedWorkers(3).run(work)

    assert children() == others
    assert open_files() == before


def test_an_error_of_the_first_process_ends_the_others() -> None:
    """What is wrong with the work itself is told as it is, and nobody waits for ever."""

    def work(number: int, meet: AllGather) -> None:
        if number == 0:
            raise ValueError("wrong")
        meet(number)

    others = children()
    with pytest.raises(ValueError, match="wrong"):
        ForkedWorkers(2).run(work)

    assert children() == others


def test_a_lost_process_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture is read by one process where another could not be started."""

    def refuse() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    before = open_files()
    path = tmp_path / "made.pcap"
    made = make_capture(3_000)
    path.write_bytes(made.data)
    with path.open("rb") as file:
        view = map_file(file, load=False)
        assert len(read_capture(view, ForkedWorkers(2, view)).packets) == made.packets
    del view

    assert open_files() == before


def test_no_room_to_share_is_told() -> None:
    """More than a process may address is refused."""
    with pytest.raises(LostError, match="no memory"):
        ForkedWorkers(2).share(1 << 62)


def test_loading_what_is_no_map_does_nothing(tmp_path: Path) -> None:
    """Bytes in memory are there already; of a file a stretch is mapped wherever it begins."""
    path = tmp_path / "file"
    path.write_bytes(bytes(10_000))
    ForkedWorkers(2, memoryview(b"abc")).load(0, 3)
    with path.open("rb") as file:
        view = map_file(file, load=False)
        ForkedWorkers(2, view).load(5_000, 9_000)

    assert bytes(view) == bytes(10_000)


def test_who_reads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short captures, one core, other threads: one process. Else one for each core, up to a
    limit.
    """
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    assert count_workers(1000) == 1
    if threading.active_count() == 1:
        assert count_workers(1 << 30) == parallel.MOST
    waiting = threading.Event()
    other = threading.Thread(target=waiting.wait)
    other.start()
    assert count_workers(1 << 30) == 1
    waiting.set()
    other.join()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})

    assert count_workers(1 << 30) == 1


def test_captures_are_read_together_where_it_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shown of a capture does not depend on how many processes read it."""
    path = tmp_path / "made.pcap"
    path.write_bytes(make_capture(3_000).data)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    shown = []
    for worth in (parallel.WORTH, 0):
        monkeypatch.setattr(parallel, "WORTH", worth)
        with path.open("rb") as file:
            found = captures.read_mapped("made.pcap", file)
        shown.append(([tuple(one.lines) for one in found.sources], [gap.why for gap in found.gaps]))

    assert shown[0] == shown[1]
    workers = parallel.plan_workers(path.read_bytes())
    assert workers is not None
    assert workers.size == 2
