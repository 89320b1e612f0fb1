"""How fast captures become columns, and TCP is analysed, beside the programs that people use: on
the same file, in the same run.

Columns are read by a process for each core, as the commands do; so their rate is by wall time, with
the CPU time of all processes beside it. Figures are medians: of five rounds, of three for tcpdump
and of one for tshark, which takes a quarter of a minute. In each the whole file is read from the
page cache, by podpath in a process of its own. Of tcpdump only 100,000 packets are asked, since it
looks each address up in lists that grow, and takes minutes for all. What is not installed is left
out. Machines differ, so rates are also given as multiples of tcptrace's, which made 1.28 and 1.38
million packets a second where the goals were set. Memory is what processes had at their peak
besides the mapped file: at most, since what a fork has not written counts twice.
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
from typing import NamedTuple

from bench.long_capture import COMMAND, run
from bench.made_capture import make_capture
from bench.measurement import Measurement, emit
from podpath.collect.mapping import map_file
from podpath.collect.parallel import count_workers, plan_workers
from podpath_capture.files.index import Contents
from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import analyse_segments
from podpath_capture.flows.tcp_states import find_tcp_states
from podpath_capture.reading.read import DecodedCapture, read_batches, read_capture

PACKETS, ROUNDS = 1_000_000, 5


class Peer(NamedTuple):
    """Another program."""

    command: tuple[str, ...]
    rounds: int = ROUNDS
    millions: float | None = None
    """Packets that it reads, where these are not all."""


PEERS: dict[str, Peer] = {
    "tcptrace -n": Peer(("tcptrace", "-n")),
    "tcpdump -nn, of 100,000 packets": Peer(("tcpdump", "-nn", "-c", "100000", "-r"), 3, 0.1),
    "tshark -z expert": Peer(("tshark", "-n", "-q", "-z", "expert", "-r"), 1),
}
CALIBRATION = "tcptrace -n"
FILES = {"plain": (0.0, 1.28), "20 % VXLAN": (0.2, 1.38)}
"""By a file's name: the share of flows in VXLAN, and what tcptrace made of such a file where the
goals were set.
"""
UNIT = "M packets/s"
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from bench import capture_columns
print(*capture_columns.cost(lambda: getattr(capture_columns, sys.argv[3])(Path(sys.argv[2])), 1))
"""
"""Does one of this module's works on one file, and prints what it cost: wall and CPU time."""


class Cost(NamedTuple):
    """What some work took, in seconds."""

    wall: float
    cpu: float
    """Of this process and of those that it started."""


def cost(work: Callable[[], object], rounds: int = ROUNDS) -> Cost:
    """Return the medians of some rounds; that what was made is let go is not measured."""
    walls, cpus = [], []
    for _ in range(rounds):
        used, started = cpu_time(), time.perf_counter()
        made = work()
        walls.append(time.perf_counter() - started)
        cpus.append(cpu_time() - used)
        del made
    return Cost(statistics.median(walls), statistics.median(cpus))


def cpu_time() -> float:
    """Return the CPU time of this process, and of those that it started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def cost_fresh(how: str, path: Path) -> Cost:
    """Return the medians of some rounds, each in a process of its own, as a command is; that it
    starts is not measured.
    """
    done = [
        subprocess.run(program(how, path), stdout=subprocess.PIPE, text=True, check=True)
        for _ in range(ROUNDS)
    ]
    walls, cpus = zip(*(map(float, each.stdout.split()) for each in done), strict=True)
    return Cost(statistics.median(walls), statistics.median(cpus))


def program(how: str, path: Path) -> list[str]:
    """Return the command that does one work on one file."""
    return [sys.executable, "-c", PROGRAM, str(Path(__file__).resolve().parents[1]), str(path), how]


def read_file(path: Path) -> DecodedCapture:
    """Read a capture from a fresh memory map, with a process for each core."""
    with path.open("rb") as file:
        view = map_file(file, load=count_workers(path.stat().st_size) < 2)
    return read_capture(view, plan_workers(view))


def read_alone(path: Path) -> DecodedCapture:
    """Read a capture in this process alone."""
    with path.open("rb") as file:
        return read_capture(map_file(file))


def analyse_file(path: Path) -> object:
    """Read a capture, and look at each packet and each connection of TCP."""
    columns = read_file(path).packets.columns
    flows = number_flows(columns)
    return analyse_segments(columns, flows), find_tcp_states(columns, flows)


def read_in_batches(path: Path) -> None:
    """Read a capture of any length, some packets at a time."""
    with path.open("rb") as file:
        for _ in read_batches(map_file(file), Contents(), batch=1 << 17):
            pass


def run_peer(command: tuple[str, ...], path: Path) -> None:
    """Let another program read a capture."""
    subprocess.run(
        [*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )


def memory(path: Path, how: str) -> float:
    """Return the peak of the memory of a process, and of those that it forks, beyond the mapped
    file, in MB.
    """
    peak = 0
    with subprocess.Popen(program(how, path), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(held(number) for number in (process.pid, *forked(process.pid))))
            time.sleep(0.002)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, how)
    return peak / 1024


def forked(number: int) -> list[int]:
    """Return the processes that one has forked and that live."""
    try:
        return [
            int(word) for word in Path(f"/proc/{number}/task/{number}/children").read_text().split()
        ]
    except OSError:
        return []


def held(number: int) -> int:
    """Return the KB that a process holds besides files."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))


def measure_peers(path: Path, millions: float) -> dict[str, float]:
    """Return the rates of the programs that are installed, by wall time."""
    rates = {}
    for name, peer in PEERS.items():
        if shutil.which(peer.command[0]) is None:
            print(f"capture_columns: {peer.command[0]} is not installed", file=sys.stderr)
        else:
            took = cost(lambda peer=peer: run_peer(peer.command, path), peer.rounds)  # type: ignore[misc]
            rates[name] = (peer.millions or millions) / took.wall
    return rates


def measure_speed(name: str, path: Path, millions: float) -> Iterator[Measurement]:
    """Measure columns and TCP analysis of one file, each beside the other programs."""
    read, alone, analysed = (
        cost_fresh(how, path) for how in ("read_file", "read_alone", "analyse_file")
    )
    rates = measure_peers(path, millions)
    cores = f"{count_workers(path.stat().st_size)} processes"
    yield Measurement(
        f"file to columns, {name}, {cores}, CPU of all",
        millions / read.cpu,
        UNIT,
        more_is_better=True,
    )
    yield Measurement(
        f"file to columns, {name}, one process", millions / alone.wall, UNIT, more_is_better=True
    )
    for what, took, goal in (("columns", read, 4.0), ("TCP analysis", analysed, 2.0)):
        value = millions / took.wall
        yield Measurement(
            f"file to {what}, {name}, {cores}", value, UNIT, goal, more_is_better=True
        )
        for peer, other in rates.items():
            bound = other if what == "TCP analysis" and peer == CALIBRATION else None
            yield Measurement(
                f"file to {what}, {name}, {cores}",
                value,
                UNIT,
                bound,
                more_is_better=True,
                against=peer,
                other=other,
            )
        if CALIBRATION in rates:
            least = goal / FILES[name][1]
            yield Measurement(
                f"file to {what}, {name}, for each packet of tcptrace's",
                value / rates[CALIBRATION],
                "",
                least,
                True,
            )


def measure_answer(name: str, path: Path) -> Iterator[Measurement]:
    """Measure the CPU time of a whole answer, from the start of the program to its end, beside that
    of tcptrace: the least of some rounds, each of both.
    """
    command = PEERS[CALIBRATION].command
    if shutil.which(command[0]) is None:
        return
    rounds = [(run(COMMAND, "capture", str(path)), run(*command, str(path))) for _ in range(ROUNDS)]
    answer, other = (min(each.seconds for each in some) for some in zip(*rounds, strict=True))
    yield Measurement(
        f"podpath capture, {name}, whole answer, CPU", answer, "s", other, False, CALIBRATION, other
    )


def measure() -> Iterator[Measurement]:
    """Measure a plain capture, and one with a fifth of its flows in VXLAN; then memory."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (share, _) in FILES.items():
            path = Path(folder) / f"{share}.pcap"
            made = make_capture(PACKETS, vxlan=share)
            path.write_bytes(made.data)
            millions = made.packets / 1e6
            del made
            yield from measure_answer(name, path)
            yield from measure_speed(name, path, millions)
        path = Path(folder) / "0.0.pcap"
        yield Measurement(
            "memory beyond the file, TCP analysis of 1 M packets, at most",
            memory(path, "analyse_file"),
            "MB",
            600,
        )
        once = memory(path, "read_in_batches")
        whole = path.read_bytes()
        with path.open("ab") as file:
            for _ in range(3):
                file.write(whole[24:])
        del whole
        more = memory(path, "read_in_batches")
        yield Measurement(
            "memory beyond the file, columns in batches",
            more,
            "MB",
            600,
            against="a quarter of the file",
            other=once,
        )


if __name__ == "__main__":
    emit(measure())
