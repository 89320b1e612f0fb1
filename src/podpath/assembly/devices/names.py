"""What a device's name alone says of it, where no output shows its kind: names that kernels and
network plugins give.

Only the last resort of inferences: what outputs and captures show of a device comes first.
"""

from __future__ import annotations

import re

from podpath.node.links import Link

_UPLINK = re.compile(
    r"(?:eth|ens|eno|enp|enx|enP|em|p\d+p|bond|team|wlan|wlp|ib|venet|net)\d[\w.]*|en[a-z]\w+|"
    r"bond[\w.-]*"
)
"""The kernel's own names, and those of systemd's naming scheme (systemd.net-naming-scheme(7))."""
_POD_SIDE = re.compile(r"(?:lxc|cali|veth|eni[0-9a-f]|azv|gke|tap|vethwepl|lxd|ovn|vnet)[\w.-]*")
"""Prefixes that network plugins give the host's end of a pod's veth pair."""
_BRIDGE = re.compile(
    r"(?:cni|cbr|docker|podman|nerdctl|virbr|lxdbr|lxcbr|br|kube-bridge|weave|crictl)"
    r"(?:[\d_-][\w.-]*|)"
)
_PLUGIN = re.compile(
    r"(?:cilium_\w+|flannel[.\w-]*|vxlan[.\w-]*|tunl\d|geneve\w*|genev_sys\w*|antrea-\w+|"
    r"kube-ipvs\d|nodelocaldns|dummy\d)"
)
_NAME = re.compile(r"[A-Za-z][\w.:@-]{0,14}")


def looks_like_device(name: str) -> bool:
    """Tell whether a word, such as the stem of `eth0.pcap`, is the name of a device by its
    shape.
    """
    return (
        any(pattern.fullmatch(name) for pattern in (_UPLINK, _POD_SIDE, _BRIDGE, _PLUGIN))
        and _NAME.fullmatch(name) is not None
    )


def looks_like_uplink(link: Link) -> bool:
    """Tell whether the device leads out of the node, by its kind or name."""
    if link.kind in {"bond", "team"} or link.bond_slave_of is not None:
        return True
    return link.kind in {"", "vlan", "veth"} and _is_uplink_name(link)


def looks_like_pod_side(link: Link) -> bool:
    """Tell whether the device is the host's end of a pod's veth pair, by its kind or name: a veth
    that is called as an uplink is may be one, where the host is a container itself.
    """
    if link.kind == "veth":
        return not _is_uplink_name(link)
    return not link.kind and _POD_SIDE.fullmatch(link.name) is not None


def _is_uplink_name(link: Link) -> bool:
    known = _UPLINK.fullmatch(link.name) is not None
    return known and _POD_SIDE.fullmatch(link.name) is None


def looks_like_bridge(link: Link) -> bool:
    """Tell whether the device is a bridge, by its kind or name."""
    return link.kind == "bridge" or (not link.kind and _BRIDGE.fullmatch(link.name) is not None)


def looks_internal(link: Link) -> bool:
    """Tell whether the device is one that a network plugin puts between pods and the host's
    uplink.
    """
    return (
        link.kind in {"vxlan", "dummy", "ipip", "geneve", "wireguard"}
        or _PLUGIN.fullmatch(link.name) is not None
    )
