"""How reading grows with its input: every reader, the splitting of documents, and assembly, each at
doubling sizes.

    python bench/reading_scale.py [--json]

Every size runs in a process of its own. The slope is how often twice the input doubles the CPU
time: 1 is linear, 2 is quadratic. What takes less than a few hundredths of a second says nothing of
a slope, so sizes grow until it takes longer.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from bench.made_evidence import MADE, ROWS, Made  # the folder above is only now on the path
from bench.measurement import Measurement, emit  # as above
from podpath.assembly.case import assemble_case
from podpath.assembly.scenes.hosts import part_by_host
from podpath.evidence.documents.document import split_document
from podpath.evidence.recognition import FORMATS, read
from podpath.net.provenance import Source

MOST_SLOPE = 1.5
"""Linear, and what the allocator and a busy machine add."""
LONG_ENOUGH = 0.12
"""Seconds of CPU time from which on a slope means something."""
LARGEST = 1 << 17
SMALLEST, SMALLEST_REPEATED = 512, 16
_READERS = {row.name: row.read for row in FORMATS}


class Cost(NamedTuple):
    """What one size took."""

    seconds: float
    megabytes: float
    """Peak resident memory, the input and the program's modules included."""


def ticket(*parts: tuple[str, int]) -> str:
    """Return a ticket with the outputs of some formats, each of that size."""
    shown = ((MADE[name], size) for name, size in parts)
    return "".join(
        f"Here is `{made.command}`:\n\n```\n$ {made.command}\n{made.text(size)}```\n\n"
        for made, size in shown
    )


def hosts(size: int) -> str:
    """Return a ticket with the outputs of so many hosts."""
    made = MADE["ip addr"], MADE["ip route"]
    return "".join(
        "```\n"
        + "".join(f"[root@node{host} ~]# {one.command}\n{one.text(3)}" for one in made)
        + "```\n\n"
        for host in range(size)
    )


WHOLE: Mapping[str, tuple[int, Callable[[int], str]]] = {
    "veths": (SMALLEST, lambda size: ticket(("ip addr", size))),
    "routes": (SMALLEST, lambda size: ticket(("ip addr", 10), ("ip route", size))),
    "neighbours": (SMALLEST, lambda size: ticket(("ip addr", 10), ("ip neigh", size))),
    "veths, routes and neighbours": (
        SMALLEST,
        lambda size: ticket(("ip addr", size), ("ip route", size), ("ip neigh", size), ("bridge fdb", size)),  # noqa: E501
    ),
    "policy rules": (SMALLEST, lambda size: ticket(("ip rule", size))),
    "iptables rules": (SMALLEST, lambda size: ticket(("iptables-save", size))),
    "nft rules": (SMALLEST, lambda size: ticket(("nft list ruleset", size))),
    "conntrack entries": (SMALLEST, lambda size: ticket(("conntrack", size))),
    "packets": (SMALLEST, lambda size: ticket(("tcpdump", size))),
    "pods": (SMALLEST, lambda size: ticket(("kubectl get", size))),
    "sockets": (SMALLEST, lambda size: ticket(("ss", size))),
    "hosts in one ticket": (SMALLEST_REPEATED, hosts),
    "repeated outputs": (
        SMALLEST_REPEATED,
        lambda size: ticket(("ip addr", 5), ("ip route", 5), ("ip neigh", 5), ("sysctl", 5), ("tcpdump", 5)) * size,  # noqa: E501
    ),
}  # fmt: skip
"""What a ticket may hold much of: the smallest size, and the text at any."""


def read_made(made: Made, size: int) -> Callable[[], object]:
    """Prepare reading one output."""
    source = Source(
        name="made", lines=tuple(made.text(size).splitlines()), command=made.command or None
    )
    return lambda: _READERS[made.format](source)


def split(make: Callable[[int], str], size: int) -> Callable[[], object]:
    """Prepare splitting a ticket."""
    lines = make(size).splitlines()
    return lambda: split_document("ticket.md", lines)


def assemble(make: Callable[[int], str], size: int) -> Callable[[], object]:
    """Prepare putting together the nodes that a ticket is of."""
    sources = split_document("ticket.md", make(size).splitlines())
    readings = [(source, reading) for source in sources if (reading := read(source)) is not None]
    return lambda: [assemble_case(host.read) for host in part_by_host(readings)]


def measure(prepare: Callable[[], Callable[[], object]]) -> Cost:
    """Run one size twice, and take the quicker run: what a busy machine adds is none of ours."""
    return min(_run(prepare), _run(prepare))


def _run(prepare: Callable[[], Callable[[], object]]) -> Cost:
    """Run one size in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        gc.disable()  # as the command does while it reads
        work = prepare()
        start = time.process_time()
        work()
        seconds = time.process_time() - start
        os.write(writer, f"{seconds} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        words = told.read().split()
    os.waitpid(child, 0)
    return Cost(float(words[0]), int(words[1]) / 1024)


def scale(
    name: str, smallest: int, prepare: Callable[[int], Callable[[], object]]
) -> Iterator[Measurement]:
    """Double a size until it takes long enough, and tell what the last doubling added."""
    size, before, now = smallest, Cost(0, 0), measure(lambda: prepare(smallest))
    while size < LARGEST and now.seconds < 2 * LONG_ENOUGH:
        size *= 2
        before, now = now, measure(lambda: prepare(size))  # noqa: B023 - called at once
    slope = math.log2(now.seconds / before.seconds) if before.seconds > LONG_ENOUGH / 2 else 1.0
    yield Measurement(f"{name}, {size:,}: slope", slope, "", MOST_SLOPE)
    yield Measurement(f"{name}, {size:,}: CPU", now.seconds, "s")
    yield Measurement(f"{name}, {size:,}: peak memory", now.megabytes, "MB")


def measure_all() -> Iterator[Measurement]:
    """Measure every reader, every split and every assembly."""
    for made in ROWS:
        yield from scale(
            f"reading `{made.format}`",
            SMALLEST,
            lambda size, made=made: read_made(made, size),  # type: ignore[misc]
        )
    for name, (smallest, make) in WHOLE.items():
        yield from scale(
            f"splitting a ticket of {name}",
            smallest,
            lambda size, make=make: split(make, size),  # type: ignore[misc]
        )
        yield from scale(
            f"assembling {name}",
            smallest,
            lambda size, make=make: assemble(make, size),  # type: ignore[misc]
        )


if __name__ == "__main__":
    emit(measure_all())
