"""Lines of `podpath/drops/v1` that tests make up."""

from __future__ import annotations

import json
from typing import Any


def make_drop(reason: str = "NETFILTER_DROP", **more: object) -> dict[str, Any]:
    """Return a drop as `podpath watch --json` prints it."""
    text = "udp 10.9.1.2:40000 > 192.0.2.2:53"
    flow = "udp 10.9.1.2:0 > 192.0.2.2:53"
    return {
        "schema": "podpath/drops/v1", "kind": "drop", "reason": reason, "netns": "host",
        "pod": None, "src_pod": "shop/web-0", "dst_pod": None, "src": "10.9.1.2",
        "dst": "192.0.2.2", "text": text, "flow": flow, "packet": "45000000",
    } | more  # fmt: skip


def make_flow(packets: int = 5, **more: object) -> dict[str, Any]:
    """Return a flow of a turn, of the same drop."""
    drop = make_drop()
    kept = {name: drop[name] for name in ("reason", "netns", "pod", "src_pod", "dst_pod")}
    return kept | {
        "src": drop["src"], "dst": drop["dst"], "text": drop["flow"], "packets": packets,
        "function": "nf_hook_slow+0x7d", "decided_by": "iptables-save.txt",
    } | more  # fmt: skip


def make_turn(*flows: dict[str, Any], **losses: int) -> dict[str, Any]:
    """Return the counts of a turn."""
    lost = {"seen": 0, "uncounted": 0, "unsent": 0, "missed": 0} | losses
    return {
        "schema": "podpath/drops/v1", "kind": "flows", "seconds": 5.0, "flows": list(flows),
        "left_out": 2, "losses": lost,
    }  # fmt: skip


def encode(document: dict[str, Any]) -> bytes:
    """Return a line."""
    return json.dumps(document).encode()
