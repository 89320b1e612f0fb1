"""Why a walk cannot go on."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.datapath.vocabulary import BoundaryName


@distinct
class BoundaryMet(NamedTuple):
    """The walk met something that the model leaves out."""

    boundary: BoundaryName
    about: tuple[object, ...] = ()
    """The names and addresses that tell where: the device, what it stands on, its kind."""


@distinct
class ChainsCircle(NamedTuple):
    """Chains call each other without end, which the kernel refuses to load."""


@distinct
class ChainsTooDeep(NamedTuple):
    """A chain is called deeper than nftables calls chains: the kernel refuses to load such
    rules.
    """

    chain: str
    levels: int
    """The chains that the kernel lets stand one in another, the base chain included."""


@distinct
class TargetNotFollowed(NamedTuple):
    """The effect of a target is known in words and not modeled."""

    target: str
    where: str
    """The rule, with its chain, table and namespace."""


@distinct
class StatementNotFollowed(NamedTuple):
    """A statement of nftables changes the packet in a way that is not known."""

    statement: str
    where: str
    """The rule, with its chain, table and namespace."""


BoundaryReason = (
    BoundaryMet | ChainsCircle | ChainsTooDeep | TargetNotFollowed | StatementNotFollowed
)
