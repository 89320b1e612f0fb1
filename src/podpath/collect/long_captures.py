"""Captures with more packets than are held: surveyed in bounded memory, and not followed from point
to point.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from podpath.collect.spool import Spool
from podpath.net.errors import EvidenceError

if TYPE_CHECKING:
    from podpath_capture.survey import Survey

LONGEST = 2_000_000
"""Packets that are held with all that is known of each, 270 bytes; of a longer capture five bytes
of each, the rest on disk.
"""
LEAST_RECORD = 66
"""Bytes of a packet and its record, at least, but for oddities: in a file that has fewer for each
there are not too many.
"""
Tell = Callable[[float], None]
"""Is told which share of the work is done."""


def tell_nobody(share: float) -> None:
    """Leave nobody waiting for news."""
    _ = share


def survey_long(name: str, data: bytes | memoryview, tell: Tell = tell_nobody) -> Survey | None:
    """Survey a capture that is too long to be held; None for one that is not. `ValueError` where it
    is no capture.
    """
    if len(data) <= LONGEST * LEAST_RECORD:
        return None
    from podpath_capture.survey import is_long, survey_capture  # noqa: PLC0415 - an extra

    if not is_long(data, LONGEST):
        return None
    spool = Spool()
    try:
        return survey_capture(data, spool, tell)
    except OSError as error:
        raise EvidenceError(
            f"{name}: columns of a long capture go into the folder for temporary files: "
            f"{error.strerror}"
        ) from error
    finally:
        spool.close()


def say_unfollowed(name: str, count: int) -> str:
    """Say why a long capture is not followed from point to point, and how to get one that is."""
    cut = f"tcpdump -r {shlex.quote(name)} -w part.pcap 'host 10.244.1.5 and port 443'"
    return (
        f"{count} packets are too many to be followed one by one from point to point: "
        f"cut out what is in question, such as {cut}"
    )
