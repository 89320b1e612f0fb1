"""Tests of `protect.repair.programs`: what is read of a program, and when it is stopped."""

from __future__ import annotations

import time

import pytest

from podpath_protect.repair.programs import read_program


@pytest.mark.parametrize(
    ("script", "text", "trouble"),
    [
        ("echo ok", "ok\n", ""),
        ("printf '\\377'", "\ufffd", ""),
        ("echo no >&2; exit 3", "", "it ended with 3: no"),
        ("yes", "", "it printed more than 64 KB, and was stopped"),
        ("yes | cat", "", "it printed more than 64 KB, and was stopped"),
        ("yes >&2 & sleep 600", "", "it did not end within 0.5 s"),
        ("exec >&- 2>&-; sleep 600", "", "it did not end within 0.5 s"),
    ],
)
def test_a_program_is_bounded(script: str, text: str, trouble: str) -> None:
    """What ends is read; what prints or lasts too long is killed with its children, and said."""
    lasts = "yes" in script or "sleep" in script
    began = time.monotonic()

    told = read_program(("sh", "-c", script), seconds=0.5 if lasts else 60.0, most=64 << 10)

    assert (text, trouble) == (told.text, told.trouble) or (
        "more than" in trouble and "did not end" in told.trouble
    )
    assert time.monotonic() - began < 60


def test_a_program_that_is_not_there_is_told() -> None:
    """No program is a reason, not an error."""
    assert "cannot be run" in read_program(("/nowhere/x",), seconds=1.0, most=10).trouble
