"""Drops as lines of JSON of the published schema `podpath/drops/v1`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podpath.diagnosis.freed import DropExplanation
from podpath.drops.events import DropKey, DropNames, DropNotes, HeardDrop
from podpath.drops.tally import FlowCount, group
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.provenance import Span
from podpath.report.borders import quote_object
from podpath.report.drop_text import spell_drop
from podpath.report.escape import escape
from podpath.report.owner_words import owned_objects, owner_object

SCHEMA = "podpath/drops/v1"


class CountedFlow(NamedTuple):
    """A flow's count with what is known of it beside."""

    flow: FlowCount
    names: DropNames
    function: str = ""
    explanation: DropExplanation | None = None
    """What was told of it last; None where nothing was."""


def flow_object(key: DropKey, names: DropNames) -> dict[str, object]:
    """Return a flow's fields: what was dropped, why, and in which namespace."""
    return {
        "reason": escape(key.reason),
        "netns": escape(names.netns),
        "pod": escape(names.pod) or None,
        "src_pod": escape(names.source) or None,
        "dst_pod": escape(names.target) or None,
        "ethertype": key.ethertype,
        "protocol": protocols.protocol_name(key.protocol) if key.protocol else None,
        "src": None if key.src is None else str(key.src),
        "dst": None if key.dst is None else str(key.dst),
        "sport": key.sport,
        "dport": key.dport,
        "flags": protocols.flag_names(key.flags) if key.protocol == protocols.TCP else None,
        "text": escape(str(key)),
    }


def render_drop_line(
    drop: HeardDrop, function: str, found: DropExplanation, notes: DropNotes
) -> str:
    """Render one drop."""
    step = found.step
    return _dump(
        {
            "schema": SCHEMA,
            "kind": "drop",
            "time": round(notes.time, 6),
            "told_after_ms": round(notes.seconds * 1000, 1),
            **flow_object(drop.key, notes.names),
            "device": escape(found.link) or None,
            "ifindex": drop.key.ifindex,
            "input_ifindex": drop.key.input,
            "function": escape(function),
            "mark": drop.mark,
            "packet": drop.data.hex() or None,
            "original": None if drop.original is None else _ends_object(drop.original),
            "flow": escape(str(group(drop.key))),
            "agreement": found.agreement.value,
            "model_age": round(notes.age, 3),
            "said": spell_drop(drop.key, found),
            "stage": None if step is None else escape(step.stage),
            "kernel": None if step is None else escape(step.function),
            "evidence": [quote_object(span) for span in dict.fromkeys(found.spans)],
            "owner": owner_object(found.owner),
            "whose": owned_objects(found.owners.list_owned(found.spans)),
        }
    )


def _ends_object(packet: Packet) -> dict[str, object]:
    return {
        "src": str(packet.src),
        "dst": str(packet.dst),
        "sport": packet.sport,
        "dport": packet.dport,
    }


def render_listening_line(time: float) -> str:
    """Render that from this moment on every drop is heard."""
    return _dump({"schema": SCHEMA, "kind": "listening", "time": round(time, 6)})


def render_counts_line(
    kind: str,
    flows: Iterable[CountedFlow],
    *,
    seconds: float,
    left_out: int,
    losses: Mapping[str, int],
) -> str:
    """Render a turn (`flows`) or everything (`summary`): counts and rates by flow, and what decided
    each.
    """
    return _dump(
        {
            "schema": SCHEMA,
            "kind": kind,
            "seconds": round(seconds, 3),
            "flows": [_count_object(one, seconds) for one in flows],
            "left_out": left_out,
            "losses": dict(losses),
        }
    )


def _count_object(one: CountedFlow, seconds: float) -> dict[str, object]:
    found, packets = one.explanation, one.flow.packets
    spans = found.spans if found is not None else ()
    return {
        **flow_object(one.flow.key, one.names),
        "function": escape(one.function),
        "agreement": None if found is None else found.agreement.value,
        "decided_by": escape(_name_file(spans[0])) if spans else None,
        "packets": packets,
        "bytes": one.flow.size,
        "per_second": round(packets / max(seconds, 0.001), 3),
    }


def _name_file(span: Span) -> str:
    """Return the file of a bundle that a line stands in, which says what kind of line it is."""
    return span.source.name.rpartition("/")[2]


def _dump(document: dict[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"
