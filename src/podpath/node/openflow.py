"""The flows of an Open vSwitch bridge, as `ovs-ofctl` prints them.

What they mean is compiled by `datapath.openflow` when a packet first meets them: a bridge of
OVN-Kubernetes has tens of thousands, and a walk comes to some tens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.net.provenance import Span


class FlowEntry(NamedTuple):
    """One flow."""

    table: int
    priority: int
    match: tuple[tuple[str, str], ...]
    """Fields in their order, each with its value; empty for `tcp` and the like."""
    actions: str
    span: Span | None = None


class FlowGroup(NamedTuple):
    """A group of `ovs-ofctl dump-groups`."""

    type: str
    """`all`, `select`, `indirect`, `ff`."""
    buckets: tuple[str, ...]
    """The actions of each."""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFlow:
    """What decides in a bridge."""

    flows: tuple[FlowEntry, ...] = ()
    complete: bool = False
    """False where flows may be missing, or none is shown."""
    groups: Mapping[int, FlowGroup] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    """Numbers of the ports by name, as far as they are known (`ovs-ofctl show`)."""
    span: Span | None = None
