"""Why a rule or route that nearly decided did not."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.node.netfilter import Rule


@distinct
class OtherTos(NamedTuple):
    """The route is for another TOS."""

    tos: int


@distinct
class DeviceUnusable(NamedTuple):
    """The route's device is down, or is not the one asked for."""


@distinct
class MetricLoses(NamedTuple):
    """The route's metric loses to a smaller one."""

    metric: int
    best: int


@distinct
class LaterAmongEquals(NamedTuple):
    """The route comes later than one that is as good."""


@distinct
class AcceptsTooLate(NamedTuple):
    """The rule would accept the packet, but stands behind the one that ended it."""

    rule: Rule


@distinct
class LeadsTooLate(NamedTuple):
    """The rule leads to one that accepts the packet, but stands behind the one that ended it."""

    rule: Rule
    accepting: Rule


@distinct
class MissedByOne(NamedTuple):
    """One condition alone kept the rule from matching."""

    rule: Rule
    condition: str
    """As iptables spells it."""


NearReason = (
    OtherTos | DeviceUnusable | MetricLoses | LaterAmongEquals | AcceptsTooLate | LeadsTooLate
    | MissedByOne
)  # fmt: skip
