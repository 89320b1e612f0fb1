"""Options of bridges, their ports and vxlan devices, from the words that `ip -d link` prints to the
model's fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.net.addresses import Address, IfName
from podpath.node.links import Bridge, BridgePort, Geneve, TunnelEnds, Vxlan

_ON = frozenset({"on", "true", "1", "yes"})
_GENEVE_PORT = 6081
"""The UDP port that iproute2 takes where none is set (RFC 8926)."""
_NUMBER = re.compile(r"[0-9]{1,10}")
_VXLAN_PORT = 8472
"""The UDP port that the kernel takes where none is set (drivers/net/vxlan/vxlan_core.c:vxlan_port
v6.12).
"""


def is_on(details: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """Tell whether an option is switched on; the default where the output does not show it."""
    value = details.get(key)
    return default if value is None else value.lower() in _ON


def make_bridge(details: Mapping[str, str]) -> Bridge:
    """Return a bridge's own options; those not shown have the kernel's default, which is off."""
    return Bridge(
        vlan_filtering=is_on(details, "vlan_filtering"),
        nf_call_iptables=is_on(details, "nf_call_iptables"),
        nf_call_ip6tables=is_on(details, "nf_call_ip6tables"),
    )


def make_port(details: Mapping[str, str]) -> BridgePort:
    """Return what a bridge holds of a port; options not shown have the kernel's default."""
    return BridgePort(
        state=details.get("state", "forwarding").lower(),
        hairpin=is_on(details, "hairpin"),
        isolated=is_on(details, "isolated"),
        learning=is_on(details, "learning", default=True),
        flood=is_on(details, "flood", default=True),
        bcast_flood=is_on(details, "bcast_flood", default=True),
        mcast_flood=is_on(details, "mcast_flood", default=True),
        neigh_suppress=is_on(details, "neigh_suppress"),
    )


def make_vxlan(details: Mapping[str, str]) -> Vxlan:
    """Return what a vxlan device has beyond a link."""
    device = details.get("link") or details.get("dev")
    return Vxlan(
        vni=_parse_number(details.get("id")) or 0,
        port=_parse_number(details.get("port") or details.get("dstport")) or _VXLAN_PORT,
        local=_parse_address(details.get("local") or details.get("local6")),
        remote=_parse_address(
            details.get("remote")
            or details.get("group")
            or details.get("remote6")
            or details.get("group6")
        ),
        dev=None if device is None else IfName(device),
        learning=is_on(details, "learning", default=True),
        checksum=is_on(details, "udp_csum") if "udp_csum" in details else None,
        external=is_on(details, "external", default=False),
    )


def make_ends(details: Mapping[str, str]) -> TunnelEnds | None:
    """Return the ends of an ipip or gre device; None where no option of it is shown."""
    external = is_on(details, "external", default=False)
    if not external and not {"remote", "local"} & details.keys():
        return None
    return TunnelEnds(
        remote=_parse_address(details.get("remote")),
        local=_parse_address(details.get("local")),
        ttl=_parse_number(details.get("ttl")) or 0,
        sends_key=details.get("okey", ""),
        takes_key=details.get("ikey", ""),
        external=external,
    )


def make_geneve(details: Mapping[str, str]) -> Geneve | None:
    """Return what a geneve device has beyond a link; None where no option of it is shown."""
    external = is_on(details, "external", default=False)
    vni = _parse_number(details.get("id") or details.get("vni"))
    if vni is None and not external:
        return None
    return Geneve(
        vni=vni or 0,
        port=_parse_number(details.get("port") or details.get("dstport")) or _GENEVE_PORT,
        remote=_parse_address(details.get("remote") or details.get("remote6")),
        external=external,
    )


def _parse_number(text: str | None) -> int | None:
    if text is not None and _NUMBER.fullmatch(text):
        return int(text)
    return None


def _parse_address(text: str | None) -> Address | None:
    try:
        return None if text is None else Address.parse(text)
    except ValueError:
        return None
