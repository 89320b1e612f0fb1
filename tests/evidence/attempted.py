"""What the tests of curl, ping and their like compare: an attempt without its span and its
words.
"""

from __future__ import annotations

from podpath.evidence.records import AttemptRecord, Reading
from podpath.net.protocols import protocol_name

Attempted = tuple[str, str, str, str, str | None]


def attempted(reading: Reading) -> list[Attempted]:
    """Return protocol, destination, result, who and origin of every attempt."""
    return [
        (protocol_name(one.protocol), f"{one.dst}:{one.dport}", one.result, one.who, one.origin)
        for one in reading.records
        if isinstance(one, AttemptRecord)
    ]
