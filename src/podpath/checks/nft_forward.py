"""What native base chains of nftables at the hook `forward` do with a new connection of which the
devices are known by their kind, and the port.

A rule that names a card takes nothing that comes in by a container's bridge. A device whose name
says nothing of who made it may be anybody's.
"""

from __future__ import annotations

import re

from podpath.checks.forwarded import DevicePath, Family, family_of
from podpath.checks.nft_input import Maybe, NftRefusal, PortWalk, find_refusal_at
from podpath.net import nft
from podpath.node.nftables import NftTable
from podpath.node.node import Netns

_CARD = re.compile(r"(?:eth\d|en[opsx]\w|wl|wan|lan\d*$|ppp|bond\d|ib\d)\S*")
_COMES = frozenset({nft.Meta("iif"), nft.Meta("iifname")})


def find_forward_refusal(
    namespace: Netns, route: DevicePath, protocol: int, port: int
) -> NftRefusal | None:
    """Return what refuses it at the hook `forward`; None where nothing does for sure."""
    return find_refusal_at(
        namespace, "forward", lambda table: _ForwardPortWalk(table, protocol, port, route)
    )


def find_named_refusal(
    namespace: Netns, device: str, protocol: int, port: int
) -> NftRefusal | None:
    """Return what refuses at the hook `forward` what comes in by a device of that name, wherever it
    leaves.
    """
    return find_refusal_at(
        namespace, "forward", lambda table: _NamedPortWalk(table, protocol, port, device)
    )


class _NamedPortWalk(PortWalk):
    """Follows a forwarded connection that comes in by a device of a name. Local to one call."""

    def __init__(self, table: NftTable, protocol: int, port: int, device: str) -> None:
        super().__init__(table, protocol, port)
        self.device = device

    def match_device(self, left: nft.Expression, name: str) -> Maybe:
        if left not in _COMES:
            return None
        start, many, _ = name.partition("*")
        return self.device.startswith(start) if many else self.device == name


class _ForwardPortWalk(PortWalk):
    """Follows a forwarded connection. Local to one call."""

    def __init__(self, table: NftTable, protocol: int, port: int, route: DevicePath) -> None:
        super().__init__(table, protocol, port)
        self.route = route

    def match_device(self, left: nft.Expression, name: str) -> Maybe:
        family = self.route.comes if left in _COMES else self.route.leaves
        return _match_family(name, family)


def _match_family(name: str, family: Family | None) -> Maybe:
    """Tell whether a device of a rule may be one of a family's; None where its name leaves it
    open.
    """
    if name == "lo":
        return False
    is_card = _CARD.fullmatch(name) is not None
    if family is None:
        return False if family_of(name) is not None else None
    if is_card or ("*" not in name and family_of(name) not in {None, family}):
        return False
    return None
