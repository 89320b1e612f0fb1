"""Any reason in words, by its family."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.boundaries import BoundaryReason
from podpath.datapath.reasons.bridges import BridgeReason
from podpath.datapath.reasons.cilium import CiliumReason
from podpath.datapath.reasons.devices import DeviceReason
from podpath.datapath.reasons.neighbours import NeighbourReason
from podpath.datapath.reasons.routes import RouteReason
from podpath.datapath.reasons.rules import RuleReason
from podpath.datapath.reasons.tracking import TrackingReason
from podpath.datapath.reasons.translation import TranslationReason
from podpath.report.sentences.boundaries import spell_boundary
from podpath.report.sentences.bridges import spell_bridge
from podpath.report.sentences.cilium import spell_cilium
from podpath.report.sentences.devices import spell_device
from podpath.report.sentences.neighbours import spell_neighbour
from podpath.report.sentences.routes import spell_route
from podpath.report.sentences.rules import spell_rule
from podpath.report.sentences.tracking import spell_tracking
from podpath.report.sentences.translation import spell_translation


def spell_reason(reason: Reason) -> str:  # one arm for each family
    """Say a reason in words, without a capital or a full stop."""
    if isinstance(reason, DeviceReason):
        return spell_device(reason)
    if isinstance(reason, BridgeReason):
        return spell_bridge(reason)
    if isinstance(reason, CiliumReason):
        return spell_cilium(reason)
    if isinstance(reason, RouteReason):
        return spell_route(reason)
    if isinstance(reason, NeighbourReason):
        return spell_neighbour(reason)
    if isinstance(reason, TrackingReason):
        return spell_tracking(reason)
    if isinstance(reason, TranslationReason):
        return spell_translation(reason)
    if isinstance(reason, RuleReason):
        return spell_rule(reason)
    if isinstance(reason, BoundaryReason):
        return spell_boundary(reason)
    assert_never(reason)
