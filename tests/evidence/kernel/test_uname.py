"""Which kernel the node says it runs."""

from __future__ import annotations

import subprocess

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.kernel.uname import FORMAT, KernelRecord
from podpath.evidence.recognition import recognise
from podpath.net.provenance import Source


@pytest.mark.parametrize(
    ("text", "command", "release", "host"),
    [
        (
            "Linux node1 5.4.0-42-generic #46-Ubuntu SMP x86_64 GNU/Linux",
            None,
            "5.4.0-42-generic",
            "node1",
        ),
        (
            "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12)",
            None,
            "6.1.0-18-amd64",
            None,
        ),
        ("4.18.0-305.el8.x86_64", "uname -r", "4.18.0-305.el8.x86_64", None),
    ],
)
def test_the_release_is_read(
    text: str, command: str | None, release: str, host: str | None
) -> None:
    """From the whole line, or alone where the command says what it is."""
    source = Source(name="ticket.md", lines=(text,), command=command)
    assert recognise(source) is FORMAT
    reading = FORMAT.read(source)
    (record,) = reading.records
    assert isinstance(record, KernelRecord)
    assert (record.release, record.host, reading.gaps) == (release, host, ())
    assert assemble_case([(source, reading)]).node.kernel == release


@pytest.mark.parametrize("text", ["5.4.0", "Linux is an operating system", "10.0.0.1"])
def test_a_number_alone_is_no_kernel(text: str) -> None:
    """Without a command it may be anything."""
    assert recognise(Source(name="x", lines=(text,))) is not FORMAT


def test_this_kernels_own_line_is_read() -> None:
    """As the tool prints it here."""
    line = subprocess.run(
        ["uname", "-a"], capture_output=True, text=True, check=True
    ).stdout.rstrip("\n")
    assert recognise(Source(name="x", lines=(line,))) is FORMAT
