"""What differs between two outputs of the same thing, taken in two states of one host."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Span


class ShiftKind(StrEnum):
    """What sort of thing is there in one state and not in the other."""

    ADDRESS = "address"
    ROUTE = "route"
    RULE = "policy rule"
    LISTENER = "listener"
    ZONE = "setting of a zone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A thing that is there in the state that works and not, or otherwise, in the one that fails;
    or only in the latter.
    """

    kind: ShiftKind
    name: str
    """What it is, in words: `10.0.0.5/24 on eth0`, `the default route`."""
    good: Span | None
    """Its line in the state that works; None where it is only in the other."""
    bad: Span | None
    """Its line in the state that fails; None where it is gone there."""
    told: bool
    """True where the words round the outputs say which of them shows the failure; else it is the
    one that lacks things.
    """
    netns: str
    between: str = ""
    """The label of the failing state: what had happened by then."""
    act: str = ""
    """A command that was typed between the two, and changes what the host's programs do."""
    lost: tuple[str, ...] = ()
    """Of a zone's setting, the values that it has in the state that works alone."""
    prefix: Prefix | None = None
    """Of a route, its destination."""
    address: Address | None = None
    link: str = ""
    port: int | None = None
    """Of a listener, its port."""
