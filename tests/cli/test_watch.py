"""How `podpath watch` ends: at signals, and with its input."""

from __future__ import annotations

import os
import signal

import pytest

from podpath.cli.watch import has_ended, stopping


def test_the_first_signal_stops_and_the_second_ends() -> None:
    """SIGINT is a wish to see the summary; the second is one to leave at once."""
    with stopping(None) as until:
        assert not until()
        os.kill(os.getpid(), signal.SIGINT)
        assert until()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    with stopping(0.0) as until:
        assert until()


def test_it_stops_when_its_input_ends() -> None:
    """Who started it may be killed: then the pipe ends, whatever was written to it."""
    reading, writing = os.pipe()
    try:
        assert not has_ended(reading)
        os.write(writing, b"more")
        assert not has_ended(reading)
    finally:
        os.close(writing)
    assert has_ended(reading)
    os.close(reading)
