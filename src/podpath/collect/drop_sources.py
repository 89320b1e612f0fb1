"""Where drops are heard from: the BPF program, or tracefs where the kernel does not allow it."""

from __future__ import annotations

import os
import re
import secrets
import select
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from podpath.collect.bpf import BpfError
from podpath.collect.drop_program import DropLosses, DropProgram
from podpath.collect.namespaces import CollectError
from podpath.collect.tracefs import open_tracefs
from podpath.drops.btf import TypeTable
from podpath.drops.events import DropKey, HeardDrop, decode_event, decode_key, name_reasons
from podpath.drops.symbols import SymbolTable
from podpath.drops.tally import FlowCount
from podpath.net.errors import PodpathError

BTF, SYMBOLS = Path("/sys/kernel/btf/vmlinux"), Path("/proc/kallsyms")
PREFIX = "podpath-watch-"
_EVENT = re.compile(
    rb" (?P<seconds>\d+)\.(?P<micro>\d{6}): kfree_skb: .*?protocol=(?P<protocol>\d+) "
    rb"location=(?P<location>\S+)(?: \[\w+\])?(?: reason: (?P<reason>\w+))?"
)
_OVERRUN = re.compile(r"^(?:overrun|dropped events): (\d+)$", re.MULTILINE)
_BUFFER_KB = "1024"
_TRIES = 100
"""How often the child tries to remove an instance, a twentieth of a second apart."""


class DropSource(Protocol):
    """Where drops are heard."""

    lacks: str
    """What it cannot tell; empty where it tells everything."""

    def wait(self, seconds: float) -> None:
        """Wait until there is something to read, or the time is over."""

    def read(self) -> Sequence[HeardDrop]:
        """Return the packets that were told since the last call."""

    def take_flows(self) -> Iterable[FlowCount]:
        """End a turn and hand out what it counted."""

    def count_losses(self) -> DropLosses:
        """Return what was not told in full since the beginning."""

    def read_run_time(self) -> int:
        """Return the nanoseconds that this cost in the kernel, as far as it counts them."""

    def name(self, key: DropKey) -> str:
        """Return the function that freed the packets of a flow."""

    def close(self) -> None:
        """Detach from the kernel."""


class ProgramSource:
    """Drops as the BPF program tells them."""

    lacks = ""

    def __init__(self, budget: int) -> None:
        """Attach it. `PodpathError` where the kernel has no BTF or does not allow BPF."""
        try:
            types = TypeTable(BTF.read_bytes())
        except OSError as error:
            raise CollectError(f"{BTF}: {error.strerror}") from error
        self._reasons = name_reasons(types.list_values("skb_drop_reason"))
        self._program = DropProgram(types, budget)
        self._symbols = SymbolTable(SYMBOLS.read_text(encoding="ascii", errors="replace"))

    def wait(self, seconds: float) -> None:
        """Wait until a packet is sent up, or the time is over."""
        select.select([self._program], [], [], seconds)

    def read(self) -> list[HeardDrop]:
        """Return the packets that were sent up."""
        return [decode_event(event, self._reasons) for event in self._program.read_events()]

    def take_flows(self) -> Iterator[FlowCount]:
        """End a turn of the program's maps."""
        for key, packets, size, _ in self._program.take_flows():
            yield FlowCount(decode_key(key, self._reasons), packets, size)

    def count_losses(self) -> DropLosses:
        """Return what the program counted apart."""
        return self._program.count_losses()

    def read_run_time(self) -> int:
        """Return what the program took (kernel.bpf_stats_enabled)."""
        return self._program.run_time

    def name(self, key: DropKey) -> str:
        """Look the address up in the kernel's symbols."""
        return self._symbols.name(key.location)

    def close(self) -> None:
        """Detach the program."""
        self._program.close()


class TraceSource:
    """Drops as the trace event prints them, in an instance of its own.

    The kernel removes nothing when the process is killed, so a child does: it waits for the end of
    a pipe that the kernel closes with us. What is left over where both are killed, the next start
    removes, by the process in the instance's name.
    """

    lacks = (
        "packets, addresses and namespaces: BPF is not allowed here, and the trace event has none"
    )

    def __init__(self) -> None:
        """Make the instance. `CollectError` where tracefs may not be used."""
        found = open_tracefs()
        remove_stale_instances(found.path)
        # a process in other namespaces may have the same number
        name = f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self._mount = found.descriptor
        self._directory = found.path / "instances" / name
        self._directory.mkdir()
        self._guard = _start_guard(self._directory, self._mount)
        (self._directory / "buffer_size_kb").write_text(_BUFFER_KB, encoding="ascii")
        (self._directory / "events/skb/kfree_skb/enable").write_text("1", encoding="ascii")
        self._pipe = os.open(self._directory / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        self._rest = b""
        self._names: dict[str, int] = {}
        self._seen = 0
        self._counts: dict[DropKey, int] = {}

    def wait(self, seconds: float) -> None:
        """Wait until the buffer holds an event, or the time is over."""
        select.select([self._pipe], [], [], seconds)

    def read(self) -> list[HeardDrop]:
        """Read what the buffer holds; the first of each flow of a turn is told."""
        told: list[HeardDrop] = []
        for found in self._read_events():
            key = self._key(found)
            self._seen += 1
            if key not in self._counts:
                time = int(found["seconds"]) * 1_000_000_000 + int(found["micro"]) * 1000
                told.append(HeardDrop(key, time, None))
            self._counts[key] = self._counts.get(key, 0) + 1
        return told

    def _read_events(self) -> Iterator[re.Match[bytes]]:
        text = self._rest
        while True:
            try:
                data = os.read(self._pipe, 1 << 16)
            except BlockingIOError:
                break
            if not data:
                break
            text += data
        *lines, self._rest = text.split(b"\n")
        yield from (found for found in map(_EVENT.search, lines) if found)

    def _key(self, found: re.Match[bytes]) -> DropKey:
        name = found["location"].decode("ascii", "replace")
        place = self._names.setdefault(name, len(self._names))
        reason = (found["reason"] or b"NOT_SPECIFIED").decode("ascii")
        return DropKey(reason, place, 0, 0, 0, int(found["protocol"]), 0, 0, 0, 0, None, None)

    def take_flows(self) -> list[FlowCount]:
        """Return what was counted since the last call."""
        counts, self._counts = self._counts, {}
        return [FlowCount(key, packets, 0) for key, packets in counts.items()]

    def count_losses(self) -> DropLosses:
        """Return what the buffer had no room for, as the kernel counts it."""
        texts = [
            path.read_text(encoding="ascii") for path in self._directory.glob("per_cpu/cpu*/stats")
        ]
        lost = sum(int(count) for text in texts for count in _OVERRUN.findall(text))
        return DropLosses(self._seen, 0, 0, lost)

    def read_run_time(self) -> int:
        """Return nothing: nobody counts what trace events cost."""
        return 0

    def name(self, key: DropKey) -> str:
        """Return the function as the event printed it."""
        names = (name for name, place in self._names.items() if place == key.location)
        return next(names, "")

    def close(self) -> None:
        """Remove the instance."""
        os.close(self._pipe)
        with suppress(OSError):
            self._directory.rmdir()
        os.close(self._guard)
        if self._mount is not None:
            os.close(self._mount)


def _start_guard(directory: Path, mount: int | None) -> int:
    """Start a child that removes an instance once this process has ended, through the same mount;
    return the end of the pipe that it waits at.
    """
    reading, writing = os.pipe()
    if os.fork() == 0:
        # forked once more, so that nobody has to wait for it, and out of the terminal's reach
        os.setsid()
        if os.fork() == 0:
            for number in range(max(writing + 1, 1024)):
                if number not in (reading, mount):
                    with suppress(OSError):
                        os.close(number)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.read(reading, 1)
            _remove(directory)
        os._exit(0)
    os.wait()
    os.close(reading)
    return writing


def _remove(directory: Path) -> None:
    """Remove an instance, which is busy as long as the process that ends still holds its pipe."""
    for _ in range(_TRIES):
        with suppress(OSError):
            directory.rmdir()
        if not directory.exists():
            return
        time.sleep(0.05)


def remove_stale_instances(top: Path) -> None:
    """Remove instances whose process is gone."""
    for directory in (top / "instances").glob(f"{PREFIX}*"):
        process = directory.name.removeprefix(PREFIX).partition("-")[0]
        if process.isdigit() and not Path(f"/proc/{process}").exists():
            with suppress(OSError):  # another may remove it at the same moment
                directory.rmdir()


def open_source(way: str, budget: int) -> DropSource:
    """Attach to the kernel: by `bpf`, by `tracefs`, or by `auto`, the first that is allowed."""
    if way == "tracefs":
        return TraceSource()
    try:
        return ProgramSource(budget)
    except (BpfError, CollectError) as error:
        if way == "bpf":
            raise
        try:
            return TraceSource()
        except (CollectError, OSError) as second:
            raise PodpathError(f"{error}; and by tracefs: {second}") from error
