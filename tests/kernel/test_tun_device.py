"""What the kernel answers to whoever asks for a TUN or TAP device by its name."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.kernel.router import run

pytestmark = pytest.mark.kernel("ip")

NAME = f"tun{os.getpid()}"
TUNSETIFF = 0x400454CA
TUN, TAP, NO_PACKET_INFORMATION = 0x0001, 0x0002, 0x1000


@pytest.fixture
def device() -> Iterator[None]:
    """Provide a TAP device that nobody has open."""
    run("ip", "tuntap", "add", NAME, "mode", "tap")
    yield
    run("ip", "link", "delete", NAME)


def _ask(descriptor: int, flags: int) -> int:
    """Ask for the device; return the kernel's error, 0 where it gives the device."""
    try:
        request = struct.pack("16sH22s", NAME.encode(), flags | NO_PACKET_INFORMATION, b"")
        ioctl(descriptor, TUNSETIFF, request)
    except OSError as error:
        return error.errno or 0
    return 0


def test_only_one_that_is_open_is_busy(device: None) -> None:  # noqa: ARG001
    """One that is only there is given; the same again is busy, and of the other type invalid; whose
    it is stands in /proc.
    """
    tun = Path("/dev/net/tun")
    with tun.open("rb+", buffering=0) as first, tun.open("rb+", buffering=0) as second:
        assert _ask(first.fileno(), TAP) == 0
        assert _ask(second.fileno(), TAP) == errno.EBUSY
        assert _ask(second.fileno(), TUN) == errno.EINVAL

        shown = Path(f"/proc/self/fdinfo/{first.fileno()}").read_text(encoding="ascii")
        assert f"iff:\t{NAME}" in shown
