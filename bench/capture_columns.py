"""How fast captures become columns and flows, beside the programs that people use: on the same file, one after the other.

Each program reads the whole file once a round; the file is in the page cache for all of them. What is not installed is left out.
"""

from __future__ import annotations

import mmap
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.made_capture import make_capture
from bench.measurement import Measurement, emit
from podpath.capture.flows import number_flows
from podpath.capture.read import read_capture

PACKETS = 1_000_000
ROUNDS, SLOW_ROUNDS = 5, 1
PEERS: dict[str, tuple[str, ...]] = {
    "tcptrace -n": ("tcptrace", "-n"),
    "tcpdump -nn": ("tcpdump", "-nn", "-r"),
    "tshark -T fields": ("tshark", "-n", "-T", "fields", "-e", "ip.src", "-e", "ip.dst", "-e", "tcp.seq", "-e", "tcp.len", "-r"),
}
UNIT = "M packets/s"


def median(work: Callable[[], object], rounds: int) -> float:
    """Give the median wall time of some work, in seconds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def read_file(path: Path, *, flows: bool = False) -> None:
    """Read a capture from a fresh memory map."""
    with path.open("rb") as file:
        capture = read_capture(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
    if flows:
        number_flows(capture.packets.columns)


def run_peer(command: tuple[str, ...], path: Path) -> None:
    """Let another program read a capture."""
    subprocess.run([*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def measure() -> Iterator[Measurement]:
    """Measure a plain capture, and one with a fifth of its flows in VXLAN."""
    with tempfile.TemporaryDirectory() as folder:
        for name, share in (("plain", 0.0), ("20 % VXLAN", 0.2)):
            path = Path(folder) / "made.pcap"
            made = make_capture(PACKETS, vxlan=share)
            path.write_bytes(made.data)
            millions = made.packets / 1e6
            columns = millions / median(lambda path=path: read_file(path), ROUNDS)  # type: ignore[misc]  # bound at once
            flows = millions / median(lambda path=path: read_file(path, flows=True), ROUNDS)  # type: ignore[misc]  # as above
            yield Measurement(f"file to columns and flows, {name}", flows, UNIT, more_is_better=True)
            yield Measurement(f"file to columns, {name}", columns, UNIT, more_is_better=True)
            for peer, command in PEERS.items():
                if shutil.which(command[0]) is None:
                    print(f"capture_columns: {command[0]} is not installed", file=sys.stderr)
                    continue
                rounds = ROUNDS if command[0] == "tcptrace" else SLOW_ROUNDS
                other = millions / median(lambda command=command, path=path: run_peer(command, path), rounds)  # type: ignore[misc]
                yield Measurement(f"file to columns, {name}", columns, UNIT, None, more_is_better=True, against=peer, other=other)


if __name__ == "__main__":
    emit(measure())
