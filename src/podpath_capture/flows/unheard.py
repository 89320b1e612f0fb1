"""Name lookups and pings one by one: which of them nothing answers, though others of the same ends
are answered. A client that keeps its port for all its lookups is one flow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ECHO_REPLIES, ECHO_REQUESTS, UDP
from podpath_capture.arrays.segments import are_among, distinct, first_of_each
from podpath_capture.columns import PacketColumns
from podpath_capture.decoding.transport_layer import NAMES
from podpath_capture.flows.flows import Flows

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
PATIENCE = 2_000_000_000
"""Nanoseconds after which an answer that is not there is late: resolvers take milliseconds."""
_NUMBERED = np.zeros(256, np.bool_)
_NUMBERED[[UDP, *ECHO_REQUESTS]] = True


def find_requests(columns: PacketColumns, rows: Rows) -> tuple[Mask, Mask]:
    """Tell which of some packets ask with a number that their answer repeats, and which are
    answers.
    """
    protocol, kind = columns.protocol[rows], columns.icmp_type[rows]
    named = (protocol == UDP) & (columns.query[rows] != 0)
    asking, answering = (named & (ports[rows] == NAMES) for ports in (columns.dport, columns.sport))
    for number, request in ECHO_REQUESTS.items():
        echo = protocol == number
        asking |= echo & (kind == request)
        answering |= echo & (kind == ECHO_REPLIES[number])
    return asking, answering


def find_unheard(columns: PacketColumns, flows: Flows, end: int | None = None) -> Rows:
    """Return the requests that nothing answers, each once, in flows in which others are answered;
    those that were sent too soon before the capture's `end` to tell are none, and those of flows
    with an answer whose number was cut off.
    """
    rows = np.flatnonzero(_NUMBERED.take(columns.protocol) & (flows.number >= 0))
    asking, answering = find_requests(columns, rows)
    asked, given = rows[asking], rows[answering]
    if not len(asked) or not len(given):
        return asked[:0]
    words = flows.number[asked].astype(np.int64) << 16 | _number(columns, asked)
    answered = distinct(flows.number[given].astype(np.int64) << 16 | _number(columns, given))
    unnamed = rows[
        (columns.protocol[rows] == UDP)
        & (columns.sport[rows] == NAMES)
        & (columns.query[rows] == 0)
    ]
    heard = are_among(flows.number[asked], distinct(flows.number[given]))
    heard &= ~are_among(flows.number[asked], distinct(flows.number[unnamed]))
    late = int(columns.time.max()) if end is None else end
    again = _find_repeated(words, columns.time[asked])
    open_still = heard & ~are_among(words, answered)
    open_still &= again | (columns.time[asked] <= late - PATIENCE)
    found: Rows = np.sort(asked[open_still][first_of_each(words[open_still])])
    return found


def _number(columns: PacketColumns, rows: Rows) -> Rows:
    """Return the number of a request or an answer."""
    numbers = np.where(columns.protocol[rows] == UDP, columns.query[rows], columns.seq[rows])
    return numbers.astype(np.int64) & 0xFFFF


def _find_repeated(words: Rows, times: Rows) -> Mask:
    """Tell which requests are sent again, after a wait that no answer takes."""
    order = np.lexsort((times, words))
    again = np.zeros(len(words), np.bool_)
    same = words[order][1:] == words[order][:-1]
    again[order[:-1]] = same & (times[order][1:] - times[order][:-1] >= PATIENCE // 2)
    return again
