"""`lsof -i`: which program has which socket, by the columns of its rows.

What lsof lists beside sockets of IP (files, pipes, sockets of UNIX) says nothing about a path.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.nettools.sockets import read_end, read_state
from podpath.evidence.node_records import SocketRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net import protocols
from podpath.net.provenance import Source

_HEADING = re.compile(r"\s*COMMAND\s+PID\s+(?:TID\s+(?:TASKCMD\s+)?)?USER\s+FD\s+TYPE\s")
_SOCKET = re.compile(
    r"\s*(?P<process>\S+)\s+\d+\s+(?:\d+\s+)?\S+\s+\S+\s+IPv[46]\s+\S+\s+\S+\s+"
    r"(?P<protocol>TCP|UDP|SCTP)\s+(?P<local>[^\s>]+?)(?:->\S+)?(?:\s+\((?P<state>\w+)\))?\s*$"
)
_OTHER = re.compile(
    r"\s*\S+\s+\d+\s+(?:\d+\s+)?\S+\s+\S+\s+(?:REG|DIR|CHR|FIFO|unix|a_inode|netlink|sock|raw6?)\s"
)


def recognise(source: Source) -> int:
    """Recognize lsof by its heading, or by a row of a socket."""
    lines = sample(source)
    known = any(_HEADING.match(line) or _SOCKET.match(line) for line in lines[:12])
    return CERTAIN if known else NO


def read(source: Source) -> Reading:
    """Read the sockets of IP protocols; other files are listed as headings."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        if _HEADING.match(line) or _OTHER.match(line):
            ledger.head(index)
        elif (found := _SOCKET.match(line)) is not None:
            _add(ledger, index, found)
        elif line.strip():
            ledger.title(index)
    return ledger.close("a row of lsof")


def _add(ledger: Ledger, index: int, found: re.Match[str]) -> None:
    try:
        end = read_end(found["local"])
    except ValueError as error:
        ledger.gap(index, str(error))
        return
    ledger.add(
        SocketRecord(
            span=ledger.span(index),
            protocol=protocols.protocol_number(found["protocol"].lower()),
            state=read_state(found["state"] or "UNCONN"),
            local=end.address,
            port=end.port,
            link=end.link,
            process=found["process"],
        )
    )


FORMAT = Format("lsof", recognise, read)
