"""Counters of the kernel: claimed, and nothing made of them."""

from __future__ import annotations

import subprocess

import pytest

from podpath.evidence.kernel.nstat import FORMAT
from podpath.evidence.recognition import recognise
from podpath.net.provenance import Source

JSON = '{"kernel":{"IpInReceives":8,"IpForwDatagrams":8,"TcpExtIPReversePathFilter":3}}'
TEXT = (
    "#kernel",
    "IpInReceives                    8                  0.0",
    "IcmpInMsgs                      1                  0.0",
)


@pytest.mark.parametrize("lines", [(JSON,), TEXT])
def test_counters_are_recognised_and_leave_no_gap(lines: tuple[str, ...]) -> None:
    """Every line is claimed in each form."""
    source = Source(name="nstat", lines=lines)
    assert recognise(source) is FORMAT
    assert FORMAT.read(source).gaps == ()


@pytest.mark.kernel("nstat")
def test_what_this_kernel_prints_is_read() -> None:
    """The tool's own output has no line that is not known."""
    lines = tuple(
        subprocess.run(
            ["nstat", "-asj"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    )
    assert FORMAT.read(Source(name="nstat", lines=lines)).gaps == ()
