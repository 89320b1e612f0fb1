"""A flow as somebody states it: who speaks to whom, and what has to become of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from podpath.net.addresses import Address
from podpath.net.provenance import Span


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
    return f"[{target}]:{port}" if address.family == 6 else f"{target}:{port}"
