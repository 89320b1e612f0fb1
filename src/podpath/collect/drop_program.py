"""The program that hears drops, in the kernel: loaded, attached, read in turns, and gone with its
process.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from podpath.collect.bpf import (
    ARRAY,
    ARRAY_OF_MAPS,
    HASH,
    PERCPU_ARRAY,
    RAW_TRACEPOINT,
    RINGBUF,
    BatchTaker,
    RingReader,
    attach,
    count_misses,
    create_map,
    load_program,
    look_up,
    read_run_time,
    update,
)
from podpath.drops.btf import TypeTable
from podpath.drops.program import (
    COUNT,
    COUNTERS,
    KEY,
    TRACEPOINT,
    ProgramMaps,
    assemble_program,
    find_layout,
)

FLOWS = 16384
"""Flows that one turn counts apart."""
BURST = 2048
"""Packets that may be sent up at once, so that where many flows begin together each is told."""
RING = 1 << 20
"""Bytes: three times as many as that many packets take."""
_BATCH = 4096
_ZERO = bytes(4)
_SIGNED = struct.Struct("=q")
_POSSIBLE = Path("/sys/devices/system/cpu/possible")


class DropLosses(NamedTuple):
    """What was not told in full since the program was attached; every drop is counted in `seen` or
    in `missed`.
    """

    seen: int
    uncounted: int
    """Counted, but by no flow: the table of flows was full, or busy."""
    unsent: int
    """Counted by flow, but the packet was not sent up."""
    missed: int
    """Not heard at all: the drop happened while the program ran on that processor."""


class DropProgram:
    """The attached program."""

    def __init__(self, types: TypeTable, budget: int) -> None:
        """Load and attach it. `budget` packets are sent up in each turn; what a turn does not need
        is kept for later, up to `BURST`, which there is at the beginning. `BpfError` where the
        kernel refuses.
        """
        self._budget = budget
        with ExitStack() as loading:  # it closes what was opened, where a part is refused
            self._stack = loading
            self._load(types)
            self._stack = loading.pop_all()

    def _load(self, types: TypeTable) -> None:
        self._turns = [self._hold(create_map(HASH, KEY.size, COUNT.size, FLOWS)) for _ in range(2)]
        flows = self._hold(create_map(ARRAY_OF_MAPS, 4, 4, 1, self._turns[0]))
        counters = self._hold(create_map(PERCPU_ARRAY, 4, COUNTERS.size, 1))
        budget = self._hold(create_map(ARRAY, 4, 8, 1))
        ring = self._hold(create_map(RINGBUF, 0, 0, RING))
        self._maps = ProgramMaps(counters, flows, budget, ring)
        self._processors = count_processors(_POSSIBLE.read_text(encoding="ascii"))
        self._taker = BatchTaker(KEY.size, COUNT.size, _BATCH)
        self._reader = RingReader(ring, RING)
        self._stack.callback(self._reader.close)
        self._set_budget(max(BURST, self._budget))
        self._use_next()
        code = assemble_program(find_layout(types), self._maps)
        self._program = self._hold(load_program(RAW_TRACEPOINT, code))
        self._hold(attach(self._program, TRACEPOINT))

    def _hold(self, descriptor: int) -> int:
        self._stack.callback(os.close, descriptor)
        return descriptor

    def fileno(self) -> int:
        """Return what poll(2) waits on for events."""
        return self._maps.ring

    def read_events(self) -> list[bytes]:
        """Return the packets that were sent up, as `program.EVENT` lays them out."""
        return self._reader.read()

    def take_flows(self) -> Iterator[tuple[bytes, int, int, int]]:
        """End this turn, and yield its flows: key, packets, bytes, and the time of the last."""
        ended = self._turns[0]
        self._use_next()
        self._add_budget()
        for keys, values in self._taker.take(ended):
            for number, (packets, size, last, _) in enumerate(COUNT.iter_unpack(values)):
                yield keys[number * KEY.size : (number + 1) * KEY.size], packets, size, last

    def _use_next(self) -> None:
        """Let the program count in the other map; the kernel waits until nothing uses this one."""
        self._turns.reverse()
        update(self._maps.flows, _ZERO, struct.pack("=I", self._turns[0]))

    def _add_budget(self) -> None:
        """Let another turn's packets be sent up. What is spent between the two calls is not taken
        off: some packets at most.
        """
        (left,) = _SIGNED.unpack(look_up(self._maps.budget, _ZERO, _SIGNED.size))
        self._set_budget(min(max(left, 0) + self._budget, max(BURST, self._budget)))

    def _set_budget(self, packets: int) -> None:
        update(self._maps.budget, _ZERO, _SIGNED.pack(packets))

    def count_losses(self) -> DropLosses:
        """Return what was seen, and what of it was not told in full."""
        whole = look_up(self._maps.counters, _ZERO, COUNTERS.size * self._processors)
        seen, uncounted, full, spent = map(sum, zip(*COUNTERS.iter_unpack(whole), strict=True))
        return DropLosses(seen, uncounted, full + spent, count_misses(self._program))

    @property
    def run_time(self) -> int:
        """The nanoseconds that the program ran, where kernel.bpf_stats_enabled is set."""
        return read_run_time(self._program)

    def close(self) -> None:
        """Detach and remove everything."""
        self._stack.close()


def count_processors(possible: str) -> int:
    """Return how many processors a list as `0-3` can have: to the highest number in it."""
    return int(possible.strip().replace("-", ",").split(",")[-1]) + 1
