"""Two hosts that say the same, or differ, where they must not: one key of the evidence with two
values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from podpath.net.provenance import Span


class ClashKind(StrEnum):
    """What two hosts have in common, or apart."""

    MAC = "the MAC of a card"
    ADDRESS = "the address of a card"
    BRIDGE_MAC = "the MAC of a bridge"
    TUNNEL_MAC = "the MAC of a tunnel's device"
    TUNNEL = "the parameters of one tunnel"
    TUNNEL_NEIGHBOR = "the MAC of a tunnel's other end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """One thing that two hosts have alike, or have differently."""

    kind: ClashKind
    key: str
    """What it is about: a MAC, or a device."""
    values: tuple[str, str]
    """What the two say: their own addresses, or the parameter."""
    hosts: tuple[str, str]
    spans: tuple[Span, Span]
    near: bool = False
    """True where both hosts have an address in one network: they hear each other."""
