"""Tests of `kube.commands`: a command's output by its channels, and every way in which it ends.
That real kubelets speak so is tested on a real cluster (`tests/cluster/test_sources.py`).
"""

from __future__ import annotations

import json
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused, Unreachable
from podpath.kube.commands import (
    CommandOutput,
    ContainerName,
    follow_command,
    run_command,
)
from tests.kube.scripted import write_kubeconfig
from tests.kube.sockets import ScriptedSocket

NAME = ContainerName("shop", "web-0", "app")
WELL = b'\x03{"metadata":{},"status":"Success"}'


def run(tmp_path: Path, server: ScriptedSocket, **more: Any) -> CommandOutput:  # noqa: ANN401  # options of the function
    """Run a command at a scripted server."""
    path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
    options: dict[str, Any] = {"most": 1 << 20, "seconds": 20.0} | more
    with server, Client(access.find(path)) as client:
        return run_command(client, NAME, ("cat", "a b"), **options)


def test_channels_are_told_apart(tmp_path: Path) -> None:
    """Output in pieces, complaints beside it, and the status last; the words are passed one by
    one.
    """
    heard: list[int] = []
    server = ScriptedSocket([b"\x01", b"\x01one ", b"\x02no", b"\x01two", WELL])
    done = run(tmp_path, server, told=heard.append)
    assert done == CommandOutput(b"one two", b"no", "")
    assert heard == [4, 7]
    words = "container=app&stdout=true&stderr=true&command=cat&command=a+b"
    assert server.asked == [f"/api/v1/namespaces/shop/pods/web-0/exec?{words}"]


@pytest.mark.parametrize(
    ("end", "failure"),
    [
        (
            json.dumps({"status": "Failure", "message": "exit code 2"}).encode(),
            "exit code 2",
        ),
        (b'{"status":"Failure","reason":"NonZeroExitCode"}', "NonZeroExitCode"),
        (b'{"status":"Failure"}', "it failed"),
        (b"exec failed: no such file", "exec failed: no such file"),
    ],
)
def test_a_command_that_fails_says_why(end: bytes, failure: str, tmp_path: Path) -> None:
    """As a status, or in the runtime's words."""
    assert run(tmp_path, ScriptedSocket([b"\x03" + end])).failure == failure


def test_a_connection_that_ends_early_is_a_failure(tmp_path: Path) -> None:
    """Half a bundle is none."""
    done = run(tmp_path, ScriptedSocket([b"\x01half"]))
    assert done == CommandOutput(b"half", b"", "the connection ended before the command did")


def test_too_much_is_left_unread(tmp_path: Path) -> None:
    """A command that never stops printing is left."""
    with pytest.raises(Unreachable, match="more than 1 MB"):
        run(tmp_path, ScriptedSocket([b"\x01" + bytes(700_000)] * 2, stays=True))


def test_one_that_does_not_end_is_left(tmp_path: Path) -> None:
    """When the time is over."""
    with pytest.raises(Unreachable):
        run(tmp_path, ScriptedSocket([b"\x01x"], stays=True), seconds=0.5)


def test_a_refusal_has_its_code(tmp_path: Path) -> None:
    """Who may not is told at once."""
    with pytest.raises(Refused) as refused:
        run(tmp_path, ScriptedSocket([], refused=403))
    assert refused.value.code == 403


def follow(tmp_path: Path, server: ScriptedSocket) -> tuple[list[bytes], str]:
    """Follow a command at a scripted server; return what came, and how it ended."""
    heard: list[bytes] = []
    path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
    with server, Client(access.find(path)) as client:
        failure = follow_command(
            client, NAME, ("watch",), heard.append, stopping=lambda: False, seconds=60.0
        )
    return heard, failure


def test_what_comes_is_handed_on_at_once(tmp_path: Path) -> None:
    """Each piece of the output, and none of the complaints."""
    server = ScriptedSocket([b"\x01one\n", b"\x02no", b"\x01two\n", WELL])
    assert follow(tmp_path, server) == ([b"one\n", b"two\n"], "")


def test_a_command_that_is_followed_says_why_it_failed(tmp_path: Path) -> None:
    """With what it complained of."""
    end = b'\x03{"status":"Failure","message":"exit code 2"}'
    server = ScriptedSocket([b"\x02no BPF", end])
    assert follow(tmp_path, server) == ([], "exit code 2; no BPF")


def test_a_command_is_left_when_nobody_wants_it_any_more(tmp_path: Path) -> None:
    """Soon, though nothing comes, and without a complaint."""
    server = ScriptedSocket([b"\x01one\n"], stays=True)
    heard: list[bytes] = []
    looks = count()
    path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
    began = time.monotonic()
    with server, Client(access.find(path)) as client:
        failure = follow_command(
            client, NAME, ("watch",), heard.append,
            stopping=lambda: bool(heard) and next(looks) >= 2, seconds=90.0,
        )  # fmt: skip
        assert time.monotonic() - began < 45
    assert (heard, failure) == ([b"one\n"], "")
