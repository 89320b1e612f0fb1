"""The shapes of cluster that faults are planted on, and what the drawing of nodes begins with."""

from __future__ import annotations

import os
import random

from scripts.kubernetes.plan import Plan

SEED = int(os.environ.get("PODPATH_SEED") or random.SystemRandom().randrange(1 << 32))
"""Drawn anew for each run, and printed; `PODPATH_SEED` repeats one."""
SHAPES = (
    "3 vxlan bridged iptables-nft",
    "3 host-gw routed iptables-legacy",
    "2 vxlan routed nftables",
    "3 host-gw bridged nftables",
)


def plan_of(shape: str, name: str = "any") -> Plan:
    """Return the plan of a cluster of a shape."""
    count, overlay, plugin, proxy = shape.split()
    return Plan(name=name, nodes=int(count), overlay=overlay, plugin=plugin, proxy=proxy)
