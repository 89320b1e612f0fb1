"""Measures what hearing 10,000 drops a second costs, and that none is lost uncounted: the BPF
program that `podpath watch` attaches, beside reading the plain trace event; and how late drops are
told while rules change and the node is read again.

Usage: sudo .venv/bin/python -m bench.watch [SECONDS]
"""

from __future__ import annotations

import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.measurement import Measurement, emit
from podpath.collect.beside import BesideWorker
from podpath.collect.changes import ChangeListener
from podpath.collect.drop_sources import DropSource, ProgramSource, TraceSource
from podpath.collect.netns import inside
from podpath.collect.netns_files import NetnsAspect
from podpath.diagnosis.freed import DropAgreement
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey
from podpath.drops.tally import group
from podpath.library.watch import (
    DropExplainer,
    DropWatch,
    PartReaders,
    ToldDrop,
    locate_namespaces,
)
from podpath.library.watched_node import (
    RereadNode,
    WatchedNode,
    read_node,
    read_node_apart,
    reread_apart,
)

NAME = f"bw{os.getpid()}"
RATE = 10_000
FLOWS = 2000
"""Ports that the datagrams are for: a flow of its own for each."""
FIRST, LISTENING = 1000, 3.0
PODS, CHANGING, CHANGES = 40, 20.0, 2
"""Pods of the node whose rules change, for how long they do, and how often in a second."""
BEGINNING = 0.2
"""Seconds in which all flows begin, where they begin at once."""
TURN = 2.0
STATS = Path("/proc/sys/kernel/bpf_stats_enabled")


class Cost(NamedTuple):
    """What a run came to."""

    sent: int
    counted: int
    lost: int
    """Counted as lost: not heard, or of no flow."""
    seconds: float
    own: float
    """Processor seconds of the watching process."""
    kernel: float
    """Processor seconds of the program in the kernel."""
    answer: float
    """Seconds from a drop to its answer, the median."""


@contextmanager
def namespace() -> Iterator[None]:
    """Be with a namespace that stands for a node."""
    subprocess.run(("ip", "netns", "add", NAME), check=True)
    subprocess.run(("ip", "-n", NAME, "link", "set", "lo", "up"), check=True)
    try:
        yield
    finally:
        subprocess.run(("ip", "netns", "del", NAME), check=True)


def send(seconds: float, rate: int = RATE, first: int = FIRST) -> int:
    """Send datagrams that nobody wants in a process of its own; return where it writes how many."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        with inside(f"/run/netns/{NAME}"):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sent = 0
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            while sent < passed * rate:
                sender.sendto(b"x" * 64, ("127.0.0.1", first + sent % FLOWS))
                sent += 1
            time.sleep(0.002)
        os.write(writing, str(sent).encode())
        os._exit(0)
    os.close(writing)
    return reading


def measure(source: DropSource, seconds: float) -> Cost:
    """Watch while datagrams are dropped."""
    explainer = DropExplainer(
        time.monotonic,
        BesideWorker(),
        lambda: read_node(node=NAME),
        lambda: locate_namespaces(NAME),
    )
    everything = DropChoice(daily=True)
    seen = DropWatch(source, explainer, everything, time.monotonic)
    list(seen.run(TURN, lambda: True))
    run_time = source.read_run_time()
    sent_before, usage = seen.tally.total, resource.getrusage(resource.RUSAGE_SELF)
    lost_before = source.count_losses()
    sent = send(seconds)
    began = time.monotonic()
    for _ in seen.run(TURN, lambda: time.monotonic() > began + seconds + 0.5):
        pass
    passed = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    losses = source.count_losses()
    count = int(os.read(sent, 20))
    os.wait()
    answers = 0.0 if source.lacks else listen(seen)
    flows = seen.tally.list_flows()
    own = sum(one.packets for one in flows if seen.name(one.key) and one.key.dport >= FIRST)
    return Cost(
        sent=count,
        counted=own if not source.lacks else seen.tally.total - sent_before,
        lost=losses.missed + losses.uncounted - lost_before.missed - lost_before.uncounted,
        seconds=passed,
        own=after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime,
        kernel=(source.read_run_time() - run_time) / 1e9,
        answer=answers,
    )


def listen(seen: DropWatch) -> float:
    """Return the median of the seconds from a drop to its answer, where a new flow comes every
    twentieth of a second.
    """
    end = time.monotonic() + LISTENING + 0.5
    sending = send(LISTENING, 20, FIRST // 2)
    told = (one for one in seen.run(TURN, lambda: time.monotonic() > end))
    answers = [one.seconds for one in told if isinstance(one, ToldDrop)]
    os.close(sending)
    os.wait()
    return statistics.median(answers)


@contextmanager
def pods() -> Iterator[None]:
    """Let the node have pods, so that reading it takes a while."""
    names = [f"{NAME}p{number}" for number in range(PODS)]
    try:
        for number, name in enumerate(names):
            subprocess.run(("ip", "netns", "add", name), check=True)
            words = f"link add v{number} type veth peer name eth0 netns {name}"
            subprocess.run(("ip", "-n", NAME, *words.split()), check=True)
        yield
    finally:
        for name in names:
            subprocess.run(("ip", "netns", "del", name), check=False)


def change_rules(seconds: float) -> int:
    """Have a rule come and go in a process of its own, which drops what is sent; return the
    process.
    """
    child = os.fork()
    if child == 0:
        rule = "INPUT -p udp --dport 400:600 -j DROP"
        for number in range(int(seconds * CHANGES)):
            words = f"iptables {'-D' if number % 2 else '-A'} {rule}"
            subprocess.run(("ip", "netns", "exec", NAME, *words.split()), check=False)
            time.sleep(1 / CHANGES)
        os._exit(0)
    return child


class Lateness(NamedTuple):
    """How long drops waited to be told while rules changed."""

    drops: int
    worst: float
    """Seconds that 99 of 100 did not wait for."""
    named: int
    """How many of them were told with the line that drops them."""
    right: float
    """Seconds from the drop to that, the median."""
    wrong: float
    """Seconds to that which 99 of 100 did not wait for."""
    readings: int
    """How often what changed was read meanwhile."""
    reading: float
    """The seconds of one of them, the median."""


def measure_changes() -> Lateness:
    """Watch a node with pods whose rules change, and which is read again for that."""
    costs: list[float] = []

    def reread() -> WatchedNode:
        began = time.monotonic()
        found = read_node_apart(NAME)
        costs.append(time.monotonic() - began)
        return found

    def again(node: WatchedNode, wanted: Mapping[str, NetnsAspect]) -> RereadNode:
        began = time.monotonic()
        found = reread_apart(node, wanted)
        costs.append(time.monotonic() - began)
        return found

    source = ProgramSource(int(100 * TURN))
    changes = ChangeListener(f"/run/netns/{NAME}")
    try:
        with pods():
            explainer = DropExplainer(
                time.monotonic,
                BesideWorker(),
                reread,
                lambda: locate_namespaces(NAME),
                parts=PartReaders(again, changes),
            )
            seen = DropWatch(source, explainer, DropChoice(daily=True), time.monotonic)
            list(seen.run(TURN, lambda: True))
            end = time.monotonic() + CHANGING + 0.5
            changing, sending = change_rules(CHANGING), send(CHANGING, 20, FIRST // 2)
            late: dict[DropKey, float] = {}
            named: dict[DropKey, float] = {}
            for one in seen.run(TURN, lambda: time.monotonic() > end):
                # other work on the machine drops packets, too, in namespaces of its own
                if isinstance(one, ToldDrop) and seen.name(one.drop.key):
                    # once more after the reading is no first answer
                    late.setdefault(group(one.drop.key), one.seconds)
                    if one.explanation.agreement is DropAgreement.NAMED:
                        named.setdefault(group(one.drop.key), one.seconds)
            os.close(sending)
            os.waitpid(changing, 0)
            os.wait()
    finally:
        source.close()
        changes.close()
    ordered, right = sorted(late.values()), sorted(named.values())
    return Lateness(
        len(ordered),
        ordered[int(len(ordered) * 0.99)],
        len(right),
        right[len(right) // 2],
        right[int(len(right) * 0.99)],
        len(costs) - 1,
        statistics.median(costs[1:]),
    )


class Burst(NamedTuple):
    """What came of flows that began at once."""

    sent: int
    told: int
    last: float
    """Seconds between the drop and the answer of the last that was told."""


def measure_burst() -> Burst:
    """Watch while all flows begin within a fifth of a second."""
    source = ProgramSource(int(100 * TURN))
    try:
        explainer = DropExplainer(
            time.monotonic,
            BesideWorker(),
            lambda: read_node(node=NAME),
            lambda: locate_namespaces(NAME),
        )
        seen = DropWatch(source, explainer, DropChoice(daily=True), time.monotonic)
        list(seen.run(TURN, lambda: True))
        end = time.monotonic() + TURN
        sending = send(BEGINNING, int(FLOWS / BEGINNING))
        told = [
            one.seconds
            for one in seen.run(TURN, lambda: time.monotonic() > end)
            if isinstance(one, ToldDrop) and seen.name(one.drop.key) and one.drop.key.dport >= FIRST
        ]
        sent = int(os.read(sending, 20))
        os.close(sending)
        os.wait()
    finally:
        source.close()
    return Burst(min(sent, FLOWS), len(told), max(told))


def main() -> None:
    """Measure both ways."""
    seconds = next((float(word) for word in sys.argv[1:] if word[0].isdigit()), 10.0)
    STATS.write_text("1", encoding="ascii")
    try:
        with namespace():
            costs: list[Cost] = []
            for make in (lambda: ProgramSource(int(100 * TURN)), TraceSource):
                source: DropSource = make()
                try:
                    costs.append(measure(source, seconds))
                finally:
                    source.close()
            burst = measure_burst()
            changed = measure_changes()
    finally:
        STATS.write_text("0", encoding="ascii")
    program, trace = costs
    emit(
        (
            Measurement(
                "processor, of one core",
                100 * (program.own + program.kernel) / program.seconds,
                "%",
                20,
                against="reading the trace event of tracefs",
                other=100 * (trace.own + trace.kernel) / trace.seconds,
            ),
            Measurement("of it in the kernel", 100 * program.kernel / program.seconds, "%"),
            Measurement(
                "drops each second", program.sent / seconds, "/s", RATE * 0.95, more_is_better=True
            ),
            Measurement(
                "lost uncounted",
                max(program.sent - program.counted - program.lost, 0),
                "packets",
                0,
            ),
            Measurement(
                "lost and counted",
                program.lost,
                "packets",
                against="the trace event's",
                other=trace.lost,
            ),
            Measurement("from the drop to its line, median", program.answer * 1000, "ms", 100),
            Measurement(
                f"flows told of {burst.sent} that begin at once",
                burst.told,
                "flows",
                burst.sent,
                more_is_better=True,
            ),
            Measurement("the last of them", burst.last * 1000, "ms", 100),
            Measurement("the same while rules change, 99 of 100", changed.worst * 1000, "ms", 100),
            Measurement("drops told meanwhile", changed.drops, "drops"),
            Measurement("told with the line that drops them", changed.named, "drops"),
            Measurement("from the drop to that line, median", changed.right * 1000, "ms", 100),
            Measurement("99 of 100", changed.wrong * 1000, "ms"),
            Measurement("readings of what changed meanwhile", changed.readings, "times"),
            Measurement("one reading, median", changed.reading, "s"),
        )
    )


if __name__ == "__main__":
    main()
