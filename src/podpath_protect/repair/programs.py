"""Programs that read within a pod's namespace, where the pod decides how much there is to read.

What comes in is a command; what goes out is what it printed, as text, or why nothing did. It is
killed when it prints more than was asked for or takes longer: what a tenant may fill costs a bound
of memory and processor, and the verdict on that tenant's pod.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import IO, NamedTuple

PROCESSOR_SECONDS = 2
"""Processor time for one program: a listing of two dozen rules takes 0.01 s."""
_CHUNK = 1 << 16
_ERRORS = 4096


class ProgramText(NamedTuple):
    """What a program printed."""

    text: str
    trouble: str = ""
    """Why there is no text; empty where it ended well."""
    stopped: bool = False
    """It had more to print than was read, or needed more time."""


def read_program(command: Sequence[str], *, seconds: float, most: int) -> ProgramText:
    """Run a program to its end, for so many seconds and bytes at most."""
    try:
        running = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return ProgramText("", f"it cannot be run: {error.strerror}")
    with running:
        _limit_processor(running.pid)
        try:
            return _read(running, time.monotonic() + seconds, most, seconds)
        finally:
            _end(running)


def _read(
    running: subprocess.Popen[bytes], deadline: float, most: int, seconds: float
) -> ProgramText:
    out, errors = running.stdout, running.stderr
    if out is None or errors is None:
        raise AssertionError("both ends were asked for as pipes")
    held: dict[int, bytearray] = {out.fileno(): bytearray(), errors.fileno(): bytearray()}
    poll = select.poll()
    for descriptor in held:
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    open_ends = set(held)
    while open_ends:
        ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            return ProgramText("", f"it did not end within {seconds:g} s", stopped=True)
        for descriptor, _ in ready:
            data = os.read(descriptor, _CHUNK)
            if not data:
                poll.unregister(descriptor)
                open_ends.discard(descriptor)
            elif len(held[descriptor]) <= _limit(descriptor, out, most):
                held[descriptor] += data
        if len(held[out.fileno()]) > most:
            return ProgramText(
                "", f"it printed more than {most >> 10} KB, and was stopped", stopped=True
            )
    try:
        code = running.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return ProgramText("", f"it did not end within {seconds:g} s", stopped=True)
    said = bytes(held[errors.fileno()]).decode("utf-8", "replace").strip()[:200]
    if code < 0:
        return ProgramText("", f"it was ended by {signal.Signals(-code).name}", stopped=True)
    if code != 0:
        return ProgramText("", f"it ended with {code}: {said}")
    return ProgramText(bytes(held[out.fileno()]).decode("utf-8", "replace"))


def _limit(descriptor: int, out: IO[bytes], most: int) -> int:
    return most if descriptor == out.fileno() else _ERRORS


def _limit_processor(process: int) -> None:
    try:
        resource.prlimit(process, resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1))
    except (OSError, ValueError):
        return  # it has ended, or has less already


def _end(running: subprocess.Popen[bytes]) -> None:
    """Kill what still runs, with what it began: its session is its own."""
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
