"""Drops as lines of JSON of the published schema `podpath/drops/v1`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from podpath.diagnosis.freed import DropExplanation
from podpath.drops.events import DropKey, HeardDrop
from podpath.drops.tally import FlowCount
from podpath.net import protocols
from podpath.report.borders import quote_object
from podpath.report.drop_text import spell_drop
from podpath.report.escape import escape

SCHEMA = "podpath/drops/v1"


def flow_object(key: DropKey, netns: str) -> dict[str, object]:
    """Return a flow's fields: what was dropped, why, and in which namespace."""
    return {
        "reason": escape(key.reason),
        "netns": escape(netns),
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
    drop: HeardDrop, function: str, found: DropExplanation, *, time: float, seconds: float
) -> str:
    """Render one drop; `time` is the clock's at the drop, `seconds` those until it was told."""
    step = found.step
    return _dump({
        "schema": SCHEMA,
        "kind": "drop",
        "time": round(time, 6),
        "told_after_ms": round(seconds * 1000, 1),
        **flow_object(drop.key, found.netns),
        "device": escape(found.link) or None,
        "ifindex": drop.key.ifindex,
        "input_ifindex": drop.key.input,
        "function": escape(function),
        "mark": drop.mark,
        "packet": drop.data.hex() or None,
        "agreement": found.agreement.value,
        "said": spell_drop(drop.key, found),
        "stage": None if step is None else escape(step.stage),
        "kernel": None if step is None else escape(step.function),
        "evidence": [quote_object(span) for span in dict.fromkeys(found.spans)],
    })  # fmt: skip


def render_counts_line(
    kind: str,
    flows: Iterable[tuple[FlowCount, str]],
    *,
    seconds: float,
    left_out: int,
    losses: Mapping[str, int],
) -> str:
    """Render a turn (`flows`) or everything (`summary`): counts and rates by flow, namespaces
    beside them.
    """
    return _dump({
        "schema": SCHEMA,
        "kind": kind,
        "seconds": round(seconds, 3),
        "flows": [
            {
                **flow_object(one.key, netns),
                "packets": one.packets,
                "bytes": one.size,
                "per_second": round(one.packets / max(seconds, 0.001), 3),
            }
            for one, netns in flows
        ],
        "left_out": left_out,
        "losses": dict(losses),
    })  # fmt: skip


def _dump(document: dict[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"
