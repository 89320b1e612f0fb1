"""Lives through the reset of rp_filter on the real kernel, and writes the logs that node and client
would have kept.

    python -m tests.incidents.live_history FOLDER

The client tries again and again and says in its log, with the time and in klog's format, how it
went; the node's log gets the lines of an upgrade right before the sysctl is set, as logger(1)
spells them. Left in the folder: `bundle/`, `messages` and `client.log`. It moves into namespaces of
its own, so it is a program of its own.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from podpath_lab.apply import apply, enter_private_world, run
from podpath_lab.incidents.registry import INCIDENTS
from podpath_lab.rehearsal import StagedNode, build_stage
from podpath_lab.script import ScriptCommand

NAME = "rp-filter-reset"
PAUSE = 1.2
"""Seconds between two things that happen: stamps of syslog are whole seconds."""
LOGGER = ("logger", "-n", "127.0.0.1", "-P", "9", "-d", "--no-act", "--stderr", "--rfc3164")


def log(path: Path, program: str, message: str) -> None:
    """Add a line to the node's log as logger(1) makes it, without the priority that no file has."""
    done = subprocess.run(
        (*LOGGER, "-t", program, message),
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TZ": "UTC"},
    )
    with path.open("a", encoding="utf-8") as file:
        file.write(done.stderr.partition(">")[2])


def attempt(path: Path, stage: StagedNode, number: int) -> None:
    """Let the client try, and add how it went to its log."""
    began = time.time()
    result = stage.probe(number).application
    now = time.time()
    head = (
        f"{time.strftime('%m%d %H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1e6):06d}       1 "
        "client.go:41]"
    )
    target = stage.incident.asked(number)
    if result == "ok":
        line = f"I{head} connected to {target.dst}:{target.dport}: success"
    else:
        place = f"{target.dst}:{target.dport}"
        line = (
            f"E{head} Get http://{place}/?timeout={now - began:.3f}s: dial tcp {place}: i/o timeout"
        )
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def main() -> None:
    """Live through it, with everything left in the folder that is named."""
    folder = Path(sys.argv[1])
    messages, client = folder / "messages", folder / "client.log"
    enter_private_world()
    run(
        ScriptCommand(("ip", "link", "set", "lo", "up"))
    )  # logger(1) wants to reach a server, though it sends nothing
    stage = build_stage(INCIDENTS[NAME])
    try:
        log(messages, "systemd[1]", "Started Session 7 of user ops.")
        attempt(client, stage, 0)
        time.sleep(PAUSE)
        log(messages, "yum[3312]", "Updated: polkit-0.112-26.el7_9.1.x86_64")
        log(messages, "systemd[1]", "Started Authorization Manager.")
        log(messages, "systemd[1]", "Started Dynamic System Tuning Daemon.")
        apply(INCIDENTS[NAME].broken_by)
        time.sleep(PAUSE)
        for number in (1, 2):
            attempt(client, stage, number)
        log(messages, "CROND[9]", "(root) CMD (true)")
        stage.collect(folder / "bundle", broken=True)
    finally:
        stage.close()


if __name__ == "__main__":
    main()
