"""How fast captures become columns, and TCP is analysed, beside the programs that people use: on the same file, in the same run.

All figures are CPU time, the median of five rounds in which each program reads the whole file from the page cache; podpath maps
it anew each time. Memory is what a process had at its peak besides the mapped file. What is not installed is left out.
"""

from __future__ import annotations

import resource
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
from podpath.capture.connections import follow_connections
from podpath.capture.flows import number_flows
from podpath.capture.index import Contents
from podpath.capture.read import read_batches, read_capture
from podpath.capture.tcp import analyse_segments
from podpath.collect.mapping import map_file

PACKETS, ROUNDS = 1_000_000, 5
PEERS: dict[str, tuple[str, ...]] = {
    "tcptrace -n": ("tcptrace", "-n"),
    "tcpdump -nn": ("tcpdump", "-nn", "-r"),
    "tshark -z expert": ("tshark", "-n", "-q", "-z", "expert", "-r"),
}
UNIT = "M packets/s"
MEMORY = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from bench.capture_columns import analyse_file, read_in_batches
(read_in_batches if sys.argv[3] == "batches" else analyse_file)(Path(sys.argv[2]))
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print((int(status["VmHWM"].split()[0]) - int(sys.argv[4])) / 1024)
"""
"""Prints the peak of a process' memory, in MB, without the KB of the mapped file that it had read."""


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Give the median CPU time of some work and of the programs that it starts, in seconds."""
    times = []
    for _ in range(rounds):
        started = time.process_time() + children()
        work()
        times.append(time.process_time() + children() - started)
    return statistics.median(times)


def children() -> float:
    """Give the CPU time of the programs that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_file(path: Path) -> None:
    """Read a capture from a fresh memory map."""
    with path.open("rb") as file:
        read_capture(map_file(file))


def analyse_file(path: Path) -> None:
    """Read a capture, and look at each packet and each connection of TCP."""
    with path.open("rb") as file:
        columns = read_capture(map_file(file)).packets.columns
    flows = number_flows(columns)
    analyse_segments(columns, flows)
    follow_connections(columns, flows)


def read_in_batches(path: Path) -> None:
    """Read a capture of any length, some packets at a time."""
    with path.open("rb") as file:
        for _ in read_batches(map_file(file), Contents(), batch=1 << 17):
            pass


def run_peer(command: tuple[str, ...], path: Path) -> None:
    """Let another program read a capture."""
    subprocess.run([*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def memory(path: Path, how: str) -> float:
    """Give the peak of a process' memory beyond the mapped file, in MB."""
    root = str(Path(__file__).resolve().parents[1])
    arguments = [sys.executable, "-c", MEMORY, root, str(path), how, str(path.stat().st_size // 1024)]
    return float(subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True).stdout)


def measure_speed(name: str, path: Path, millions: float) -> Iterator[Measurement]:
    """Measure columns and TCP analysis of one file, each beside the other programs."""
    columns, analysed = (millions / median(lambda work=work: work(path)) for work in (read_file, analyse_file))  # type: ignore[misc]
    peers = {peer: command for peer, command in PEERS.items() if shutil.which(command[0]) is not None}
    for missing in PEERS.keys() - peers.keys():
        print(f"capture_columns: {missing.split()[0]} is not installed", file=sys.stderr)
    rates = {peer: millions / median(lambda command=command: run_peer(command, path)) for peer, command in peers.items()}  # type: ignore[misc]
    for what, value, goal in (("file to columns", columns, 4.0), ("file to TCP analysis", analysed, 2.0)):
        yield Measurement(f"{what}, {name}, goal {goal:g}", value, UNIT, more_is_better=True)
        for peer, other in rates.items():
            yield Measurement(f"{what}, {name}", value, UNIT, None, more_is_better=True, against=peer, other=other)


def measure() -> Iterator[Measurement]:
    """Measure a plain capture, and one with a fifth of its flows in VXLAN; then memory, and the start."""
    with tempfile.TemporaryDirectory() as folder:
        for name, share in (("plain", 0.0), ("20 % VXLAN", 0.2)):
            path = Path(folder) / f"{share}.pcap"
            made = make_capture(PACKETS, vxlan=share)
            path.write_bytes(made.data)
            yield from measure_speed(name, path, made.packets / 1e6)
        path = Path(folder) / "0.0.pcap"
        yield Measurement("memory beyond the file, TCP analysis of 1 M packets", memory(path, "whole"), "MB", 600)
        four = Path(folder) / "four.pcap"
        whole = path.read_bytes()
        four.write_bytes(whole + whole[24:] * 3)
        once, more = memory(path, "batches"), memory(four, "batches")
        yield Measurement(
            "memory beyond the file, columns in batches", more, "MB", 600, against="a quarter of the file", other=once
        )
        short = Path(folder) / "short.pcap"
        short.write_bytes(make_capture(100_000).data)
        start = median(lambda: run_peer((sys.executable, "-m", "podpath", "capture"), short))
        yield Measurement("podpath capture, 100,000 packets, from a cold start, goal 500 ms, CPU", start * 1000, "ms")


if __name__ == "__main__":
    emit(measure())
