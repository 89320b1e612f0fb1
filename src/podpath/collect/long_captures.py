"""Captures with more packets than are held: surveyed in bounded memory, and followed from point to
point some connections after the others.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from podpath.collect.parallel import plan_workers
from podpath.collect.spool import Spool
from podpath.net.errors import EvidenceError

if TYPE_CHECKING:
    from podpath_capture.reading.read import DecodedCapture
    from podpath_capture.survey import Survey

LONGEST = 2_000_000
"""Packets that are held with all that is known of each, 270 bytes; of a longer capture five bytes
of each, the rest on disk.
"""
LIKELY_RECORD = 500
"""Bytes of a packet and its record in captures of whole packets: a file that has more than this for
each of the most packets that are held is likely to have too many.
"""
Tell = Callable[[float], None]
"""Is told which share of the work is done."""


def tell_nobody(share: float) -> None:
    """Leave nobody waiting for news."""
    _ = share


def read_held(data: bytes | memoryview) -> DecodedCapture | None:
    """Read a capture that is short enough to be held; None for a longer one. `ValueError` where it
    is none.

    Most captures are found to be short by reading them. Only of one that is likely to be long the
    packets are counted first, as far as that takes.
    """
    from podpath_capture.reading.read import read_capture  # noqa: PLC0415 - an extra
    from podpath_capture.reading.together import TooManyPacketsError  # noqa: PLC0415 - as above
    from podpath_capture.survey import is_long  # noqa: PLC0415 - as above

    if len(data) > LONGEST * LIKELY_RECORD and is_long(data, LONGEST):
        return None
    try:
        return read_capture(data, plan_workers(data), LONGEST)
    except TooManyPacketsError:
        return None


def survey_long(name: str, data: bytes | memoryview, tell: Tell = tell_nobody) -> Survey:
    """Survey a capture that is too long to be held. `ValueError` where it is no capture."""
    from podpath_capture.survey import survey_capture  # noqa: PLC0415 - an extra

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
    """Say which connections of long captures are not followed from point to point, and how to get
    captures of which they are.
    """
    cut = f"tcpdump -r {shlex.quote(name)} -w part.pcap 'host 10.244.1.5 and port 443'"
    return (
        f"{count} packets are of connections that have too many to be followed from point to "
        f"point, each packet by itself: cut out what is in question, such as {cut}"
    )
