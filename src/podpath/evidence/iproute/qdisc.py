"""`tc qdisc`: the queueing disciplines of devices, from text and from JSON.

`clsact` and `ingress` queue nothing: they are where filters hang, which may drop or redirect.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.json_objects import (
    JsonObject,
    head_of,
    is_set,
    read_objects,
    text_of,
)
from podpath.evidence.node_records import QdiscRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source

_LINE = re.compile(
    r"qdisc (?P<kind>[\w-]+) (?P<handle>[0-9a-fA-F]+:)?\s*(?:\[[^]]*\] )?dev (?P<device>\S+)"
    r"(?P<more>.*)$"
)
_MORE = re.compile(
    r"\s+(?:Sent|backlog|maxpacket|new_flows|rate|requeues|direct_packets|memory|flows|gc|throttled|"
    r"highprio|drop|overlimit|ecn|linklayer|Version|delay|limit|target|[\w-]+ [\d(])"
)
_JSON = re.compile(r'"kind"\s*:\s*"[^"]*"\s*,\s*"handle"\s*:')
_EXPECTED = "a queueing discipline"


def recognise(source: Source) -> int:
    """Recognize lines that begin with `qdisc KIND HANDLE dev DEVICE`."""
    degree = share(sample(source), _LINE)
    if degree > 0.5:
        return CERTAIN
    return LIKELY if degree > 0 else NO


def read(source: Source) -> Reading:
    """Read disciplines from text; counters below them (`-s`) are headings."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        found = _LINE.match(line)
        if found is not None:
            try:
                ledger.add(
                    QdiscRecord(
                        span=ledger.span(index),
                        kind=found["kind"],
                        link=parse_name(found["device"]),
                        root=" root" in found["more"],
                    )
                )
            except ValueError as error:
                ledger.gap(index, str(error))
        elif _MORE.match(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def recognise_json(source: Source) -> int:
    """Recognize objects with a kind and a handle."""
    return CERTAIN if _JSON.search(head_of(source)) else NO


def read_json(source: Source) -> Reading:
    """Read disciplines from JSON."""

    def build(ledger: Ledger, item: JsonObject) -> str | None:
        kind, device = text_of(item.value, "kind"), text_of(item.value, "dev")
        if kind is None or device is None:
            return "expected a queueing discipline, saw an object without kind and dev"
        try:
            ledger.add(
                QdiscRecord(
                    span=ledger.span(item.first, item.last),
                    kind=kind,
                    link=parse_name(device),
                    root=is_set(item.value, "root"),
                )
            )
        except ValueError as error:
            return str(error)
        return None

    return read_objects(source, build, _EXPECTED)


FORMATS = (Format("tc qdisc", recognise, read), Format("tc -j qdisc", recognise_json, read_json))
