"""`uname -a`, `uname -r` and /proc/version: which kernel the node runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, Record
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source

_RELEASE = r"(?P<release>\d+\.\d+(?:\.\d+)?[\w.+~-]*)"
_LINE = re.compile(rf"\s*Linux (?:version |(?P<host>\S+) ){_RELEASE}(?:\s.*)?$")
_ALONE = re.compile(rf"\s*{_RELEASE}\s*$")
_EXPECTED = "the kernel's release"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRecord(Record):
    """A kernel that the node says it runs."""

    release: str
    """`6.1.0-18-amd64`."""
    host: str | None = None
    """The host name that `uname -a` prints; None where the output has none."""


def recognise(source: Source) -> int:
    """Recognize the line that begins with Linux; a release alone only where the command says what
    it is.
    """
    lines = sample(source)
    if lines and all(_LINE.match(line) for line in lines):
        return CERTAIN
    return (
        CERTAIN
        if parse_command(source.command).program == "uname"
        and any(_ALONE.match(line) for line in lines)
        else NO
    )


def read(source: Source) -> Reading:
    """Read the release, with the host's name where it stands there."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        found = _LINE.match(line) or _ALONE.match(line)
        if found is not None:
            host = found.groupdict().get("host")
            ledger.add(KernelRecord(span=ledger.span(index), release=found["release"], host=host))
    return ledger.close(_EXPECTED)


FORMAT = Format("uname", recognise, read, decides=False)
