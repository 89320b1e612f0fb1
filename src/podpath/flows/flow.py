"""A flow as somebody states it: who speaks to whom, and what has to become of it; or a set of
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.provenance import Span


class FlowSet(NamedTuple):
    """Flows that are not named one by one."""

    sources: tuple[str, ...] = ()
    """Pods, addresses, and networks as `NETWORK in DEV`; empty for every pod."""
    targets: tuple[str, ...] = ()
    """Networks, addresses, pods and services with a port; empty for every address."""
    protocols: tuple[str, ...] = ("tcp", "udp", "icmp")
    ports: str = "1-65535"
    """Destination ports and ranges of them, with commas."""


class FlowWitness(NamedTuple):
    """One flow of a set, and those that have its answer."""

    probe: Probe
    stands_for: tuple[str, ...]
    """Sources, destinations and ports, in words."""
    walked: bool = True
    """False for flows that nobody walked: they are no connections of this node, or the bound on
    walks is met.
    """


EVERY_POD = "pods"
"""The source of a set: every pod that the evidence shows."""
EVERY_PORT = "1-65535"


class Expectation(StrEnum):
    """What has to become of a flow."""

    CONNECTS = "connects"
    FAILS = "fails"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One connection, and what is expected of it."""

    name: str
    source: str
    """`pod/NS/NAME`, `host` or an address, as a probe spells its ends."""
    target: str
    """The same, or `svc/NS/NAME`, with a port where the protocol has them."""
    protocol: str = "tcp"
    device: str = ""
    """The device on which the first packet arrives at the node; empty: a process sends it."""
    expect: Expectation
    by: str = ""
    """Of a flow that has to fail: whose line, or which chain, has to end it; empty: any."""
    origin: str = ""
    """Where it was derived from, in words; empty where somebody wrote it."""
    span: Span | None = None
    """Where it stands in its file."""
    ports: str = ""
    """Of a set of flows: destination ports and ranges of them, with commas; empty for a single
    one. The ends of a set may be networks, and its source all pods.
    """
    stands_for: tuple[str, ...] = ()
    """Of a flow that stands for a set: the destinations and ports whose answer is its own."""

    @property
    def is_set(self) -> bool:
        """Tell whether it is a set of flows, which no probe spells."""
        return bool(self.ports)

    @property
    def as_set(self) -> FlowSet:
        """Return the flows of a set."""
        place = f" in {self.device}" if self.device else ""
        sources = () if self.source == EVERY_POD else (f"{self.source}{place}",)
        return FlowSet(sources, (self.target,), (self.protocol,), self.ports)

    @property
    def probe(self) -> str:
        """Spell it as a probe."""
        place = f" in {self.device}" if self.device else ""
        return f"{self.protocol} {self.source} > {self.target}{place}"


def spell_target(target: str, port: str) -> str:
    """Put a port to a target, in brackets where the target is an IPv6 address."""
    if not port:
        return target
    try:
        address = Address.parse(target)
    except ValueError:
        return f"{target}:{port}"
    if address.family == 6:
        return f"[{target}]:{port}"
    return f"{target}:{port}"
