"""Tests of `protect.snapshot.taking`: a taking is bounded in every way, and one serves many."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from podpath_protect.snapshot.taking import (
    NICE,
    SnapshotStore,
    TakenSnapshot,
    TakingError,
    TakingLimits,
    command,
    take,
)
from tests.kube.following import until

LIMITS = TakingLimits(seconds=20.0, most_bytes=1 << 20, memory=1 << 30)


def python(program: str) -> tuple[str, ...]:
    """Return the command that runs a program."""
    return (sys.executable, "-c", program)


def test_what_is_printed_is_taken() -> None:
    """Its output, whatever it says beside; it gives way to the rest of the node."""
    program = "import os, sys; print(os.nice(0)); print('not collected: x', file=sys.stderr)"
    taken = take(python(f"import time; time.sleep(0.2); {program}"), LIMITS)
    assert taken.content == f"{max(NICE, os.nice(0))}\n".encode()
    assert taken.seconds > 0.2


def test_a_taking_that_fails_says_why() -> None:
    """The end of what it complained of, and a program that is not there."""
    with pytest.raises(TakingError, match="no such namespace"):
        take(python("import sys; sys.exit('no such namespace')"), LIMITS)
    with pytest.raises(TakingError, match="No such file"):
        take(("/nowhere/podpath",), LIMITS)
    with pytest.raises(TakingError, match="the snapshot failed"):
        take(python(""), LIMITS)


def test_a_taking_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """Nothing of it runs on, its children neither."""
    lives = tmp_path / "child"
    os.mkfifo(lives)
    reader = os.open(lives, os.O_RDONLY | os.O_NONBLOCK)
    program = (
        f"import subprocess, sys, time; pipe = open({str(lives)!r}, 'w');"
        "subprocess.Popen(['sleep', '600'], stdout=pipe); pipe.write('begun'); pipe.flush();"
        "time.sleep(600)"
    )
    began = time.monotonic()
    with pytest.raises(TakingError, match="not taken within 3 s"):
        take(python(program), TakingLimits(seconds=3.0, most_bytes=1 << 20, memory=1 << 30))
    assert time.monotonic() - began < 60

    def is_over() -> bool:  # a pipe ends when the last who could write into it is gone
        with suppress(BlockingIOError):
            return os.read(reader, 100) == b""
        return False

    assert os.read(reader, 100) == b"begun"
    until(is_over, "all of it is ended")
    os.close(reader)


def test_a_taking_that_swells_is_ended() -> None:
    """By its output, and by its memory."""
    with pytest.raises(TakingError, match="larger than 1 MB"):
        take(python("while True: print('x' * 100000)"), LIMITS)
    swelling = "import time; time.sleep(0.5); b'x' * (2 << 30)"
    with pytest.raises(TakingError, match="MemoryError"):
        take(python(swelling), LIMITS)


def test_the_command_takes_no_logs() -> None:
    """They may hold secrets; and it prints a snapshot of the namespace that is named."""
    assert "--no-logs" in command()
    assert command("node7")[-4:] == ("--node-netns", "node7", "-o", "-")


def test_one_snapshot_serves_until_it_is_old() -> None:
    """A second request gets the first's; after the pause another is taken, and an old one goes."""
    now = [100.0]
    store = SnapshotStore(lambda: TakenSnapshot(str(now[0]).encode(), 0.1), 10.0, lambda: now[0])
    assert store.current().content == b"100.0"
    now[0] += 9.0
    store.forget()
    assert store.current().content == b"100.0"
    now[0] += 2.0
    store.forget()
    assert store.current().content == b"111.0"
    assert store.taken == 2


def test_those_who_come_at_once_wait_for_one() -> None:
    """Twenty threads, one taking."""

    def take_slowly() -> TakenSnapshot:
        time.sleep(0.3)
        return TakenSnapshot(b"x", 0.3)

    store = SnapshotStore(take_slowly, 10.0)
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(store.current().content)) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"x"] * 20
    assert store.taken == 1


def test_a_failure_is_not_tried_again_at_once() -> None:
    """Who asks again and again makes the node fail no oftener."""
    now, tried = [0.0], []

    def fail() -> TakenSnapshot:
        tried.append(now[0])
        raise TakingError("no root")

    store = SnapshotStore(fail, 10.0, lambda: now[0])
    for step in (0.0, 1.0, 9.9, 10.0):
        now[0] = step
        with pytest.raises(TakingError, match="no root"):
            store.current()
    assert tried == [0.0, 10.0]
    assert store.taken == 0
