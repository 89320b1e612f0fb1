"""`podpath mcp` as a user starts it: what is refused before it serves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

WITHOUT_THE_SDK = """
import runpy, sys
sys.modules["mcp"] = None
sys.argv = ["podpath", *sys.argv[1:]]
runpy.run_module("podpath", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--folder", "/nowhere/at/all"], "/nowhere/at/all: no such file or directory"),
        (["--folder", "/etc/passwd"], "expected a folder, saw a file"),
        (["--context", "staging"], "need --cluster"),
        (["--tool", "x"], "No such option"),
    ],
)
def test_what_cannot_be_served_is_said(arguments: list[str], why: str) -> None:
    """One line, the code of a usage error, and nothing on the protocol's stream."""
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "mcp", *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert why in done.stderr


def test_without_the_sdk_it_says_what_to_install() -> None:
    """The extra is named in one line."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_SDK, "mcp"], capture_output=True, text=True, check=False
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert "pip install 'podpath[mcp]'" in done.stderr


def test_who_types_it_is_told_and_can_leave() -> None:
    """On a terminal it says what it waits for, and Ctrl-C ends it at once."""
    ours, its = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "podpath", "mcp"],
        stdin=its,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(its)
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        os.close(ours)

    assert "docs/assistants.md" in said
    assert "Ctrl-C ends it" in said
    assert (-signal.SIGINT, b"") == (process.returncode, out)


def test_the_end_of_its_input_ends_it() -> None:
    """An assistant that goes leaves no process behind."""
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "mcp"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
