"""Records captures of incidents on the real kernel while they break, and prints what `podpath
capture` says of them as JSON.

    python -m tests.incidents.live_captures FOLDER

Each is built and tried while tcpdump runs, broken and tried again. Of every capture the packets and
the text that tcpdump prints of them are looked at. It moves into namespaces of its own, so it is a
program of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, TypedDict

from podpath.checks.finding import Severity
from podpath.library.captures import captures
from podpath.net.probe import Probe
from podpath.report.claims import spell_claim, spell_link
from podpath_lab.apply import NETNS_DIRECTORY, apply, enter_private_world
from podpath_lab.incidents.incident import Incident
from podpath_lab.incidents.registry import INCIDENTS
from podpath_lab.rehearsal import StagedNode, build_stage

CLIENT = """
import socket, sys, time
source, target, port, wait = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
client = socket.socket()
client.settimeout(wait)
client.bind((source, 0))
try:
    client.connect((target, port))
    client.sendall(b'x' * 80)
    time.sleep(wait)
except OSError:
    pass
client.close()
"""


class Recording(NamedTuple):
    """What is recorded of one incident."""

    incident: str
    points: tuple[tuple[str, str], ...]
    """Namespaces and devices at which tcpdump runs."""
    seconds: float
    """How long the client waits: as long as the kernel takes to send again what was lost."""
    heals: bool = False
    """True where it is mended while tcpdump still runs, and asked all the time, so that its end is
    seen too.
    """


RECORDINGS = (
    Recording("kube-proxy-before-cilium", (("host", "any"), ("pod1", "eth0")), 3.5),
    Recording("br-netfilter-off", (("pod1", "eth0"), ("host", "cni0")), 1.5),
    Recording("host-disconnect", (("world", "eth0"),), 1.5, heals=True),
)


class Shown(TypedDict):
    """What was found in the captures of one incident."""

    good: dict[str, list[str]]
    """By file: the checks that found more than worth a note while nothing was broken."""
    bad: dict[str, list[str]]
    said: list[str]
    """Claims and reasons that all packets of the broken time together lead to."""


@contextmanager
def recorded(points: tuple[tuple[str, str], ...], folder: Path) -> Iterator[None]:
    """Run tcpdump at each point meanwhile."""
    folder.mkdir(parents=True)
    running = []
    for netns, device in points:
        path = folder / f"{netns}-{device}.pcap"
        command = [
            *within(netns),
            "tcpdump",
            "--immediate-mode",
            "-Z",
            "root",
            "-U",
            "-nn",
            "-i",
            device,
            "-w",
            str(path),
        ]
        running.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
    for each in running:
        assert each.stderr is not None
        while "listening on" not in (line := each.stderr.readline()):
            assert line, "tcpdump ended"
    yield
    time.sleep(0.3)
    for each in running:
        each.terminate()
        each.communicate()
    for path in sorted(folder.glob("*.pcap")):
        printed = subprocess.run(
            ["tcpdump", "-nn", "-e", "-r", str(path)], capture_output=True, text=True, check=True
        )
        path.with_suffix(".txt").write_text(printed.stdout)


def within(netns: str) -> list[str]:
    """Return the words that run a command in a namespace of this world."""
    return ["nsenter", f"--net={NETNS_DIRECTORY / netns}"]


@contextmanager
def pinged(probe: Probe) -> Iterator[None]:
    """Ask all the time meanwhile, from a little before to a little after."""
    command = [
        *within(probe.netns or "host"),
        "ping",
        "-nq",
        "-i",
        "0.2",
        "-c",
        "100",
        str(probe.dst),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        time.sleep(0.7)
        yield
        time.sleep(0.7)
        running.terminate()


def connect(probe: Probe, seconds: float) -> None:
    """Connect, send a request, and wait for what comes of it."""
    words = (str(probe.src), str(probe.dst), str(probe.dport), str(seconds))
    subprocess.run(
        [*within(probe.netns or "host"), sys.executable, "-c", CLIENT, *words], check=True
    )


def find(paths: list[Path]) -> tuple[list[str], list[str]]:
    """Name what captures show by themselves: checks, and what they say."""
    found = [finding for finding in captures(paths).findings if finding.severity != Severity.NOTE]
    said = [
        text for one in found for text in (spell_claim(one.claim), *map(spell_link, one.reasoning))
    ]
    return [finding.check for finding in found], said


def look(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Look at each capture of a folder, as packets and as text, and at all packets together."""
    packets = sorted(folder.glob("*.pcap"))
    found = {path.name: find([path])[0] for path in (*packets, *sorted(folder.glob("*.txt")))}
    found["all"], said = find(packets)
    return found, said


def live_through(recording: Recording, folder: Path) -> Shown:
    """Record one incident while it works and while it breaks."""
    incident: Incident = INCIDENTS[recording.incident]
    stage: StagedNode = build_stage(incident)
    try:
        probe = incident.asked()
        with recorded(recording.points, folder / "good"):
            connect(probe, 0.5)
        with (
            recorded(recording.points, folder / "bad"),
            pinged(probe) if recording.heals else nullcontext(),
        ):
            apply(incident.broken_by)
            connect(probe, recording.seconds)
            apply(incident.mended_by if recording.heals else ())
        good, _ = look(folder / "good")
        bad, said = look(folder / "bad")
        return Shown(good=good, bad=bad, said=said)
    finally:
        stage.close()


def main() -> None:
    """Live through all of them, their captures in the folder that is named."""
    enter_private_world()
    folder = Path(sys.argv[1])
    sys.stdout.write(
        json.dumps({one.incident: live_through(one, folder / one.incident) for one in RECORDINGS})
    )


if __name__ == "__main__":
    main()
