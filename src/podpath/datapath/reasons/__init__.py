"""Why something was decided, as values: one class for each thing that can decide, and no sentence.

What decides about packets (`checks`, `diagnosis`) matches on these classes; `report.sentences`
alone says them in words.
"""

from __future__ import annotations

from podpath.datapath.reasons.boundaries import BoundaryReason
from podpath.datapath.reasons.bridges import BridgeReason
from podpath.datapath.reasons.cilium import CiliumReason
from podpath.datapath.reasons.devices import DeviceReason
from podpath.datapath.reasons.neighbours import NeighbourReason
from podpath.datapath.reasons.routes import RouteReason
from podpath.datapath.reasons.rules import RuleReason
from podpath.datapath.reasons.tracking import TrackingReason
from podpath.datapath.reasons.translation import TranslationReason

Reason = (
    DeviceReason | BridgeReason | CiliumReason | RouteReason | NeighbourReason | TrackingReason
    | TranslationReason | RuleReason | BoundaryReason
)  # fmt: skip
"""What can decide about a packet at a step."""
