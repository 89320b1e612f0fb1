"""Why a walk cannot go on, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import boundaries
from podpath.datapath.reasons.boundaries import BoundaryReason
from podpath.datapath.walk.not_modelled import BOUNDARIES

DETAILS = {
    "circle": "{0} is reached from within a tunnel",
    "IPVS": "{0} is on {1}",
    "flow tables": "{1} at {0}",
    "OpenFlow": "{0} is a port of a switch that ovs-vsctl show would name",
    "unseen namespace": "{0} may have {1}",
    "tunnel": "{0} is of kind {1}",
    "tunnel of a program or of keys": "{0} is of kind {1}",
    "another node's data path": "{1} on {0}",
    "fragments": "{0} bytes are more than the MTU {1}",
    "VLAN over an inner device": "{0} on {1}",
}
"""How a boundary says where it was met, for those that say more than a name."""


def spell_boundary(reason: BoundaryReason) -> str:
    """Say what a walk met that is not modeled."""
    match reason:
        case boundaries.BoundaryMet(name, about):
            why = BOUNDARIES[name].why
            if about:
                return f"{why}: {DETAILS.get(name, '{0}').format(*about)}"
            return why
        case boundaries.ChainsCircle():
            return "its chains call each other in a loop, which the kernel refuses to load"
        case boundaries.ChainsTooDeep(chain, levels):
            return (
                f"{chain} is called {levels} chains deep, which the kernel refuses to load (Too "
                "many links)"
            )
        case boundaries.TargetNotFollowed(target, where):
            from podpath.xtables.registry import TARGETS  # noqa: PLC0415 - every extension

            return f"{TARGETS[target].stops} at {where}"
        case boundaries.StatementNotFollowed(statement, where):
            return f"{statement} at {where} changes the packet in a way that is not modeled"
        case _:
            assert_never(reason)
