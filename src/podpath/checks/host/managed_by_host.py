"""managed-by-host: NetworkManager or systemd-networkd manages devices that belong to a CNI plugin or container engine.

What it is
    `nmcli device` lists a plugin's device (cali..., flannel.1, cni0, vxlan.calico, cilium_..., veth...) as
    connected with a profile of its own, or `networkctl` as configuring or configured.

Why it breaks
    The manager takes such a device for its own: it removes addresses, routes and rules that it did not set, sets
    the device down, asks for DHCP on it, or changes its MAC. Pods lose their network some time after they start, or
    after the manager restarts.

How to confirm
    nmcli device; networkctl list
    journalctl -u NetworkManager -u systemd-networkd | grep -E 'cali|flannel|cni|veth|lxc'

How to fix
    NetworkManager: /etc/NetworkManager/conf.d/cni.conf with [keyfile] unmanaged-devices=interface-
    name:cali*;interface-name:flannel*;interface-name:cni*;interface-name:veth*. networkd: a .network file with
    [Match] Name=... and [Link] Unmanaged=yes; ManageForeignRoutes=no, ManageForeignRoutingPolicyRules=no in
    networkd.conf.

References
    NetworkManager.conf(5); networkd.conf(5); docs.tigera.io, configure NetworkManager
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.stated import statements_of
from podpath.net.statements import ManagedDevice
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_MANAGER,)
NAME = "managed-by-host"


PLUGINS = (
    "cali",
    "flannel",
    "cni",
    "vxlan.calico",
    "tunl",
    "cilium",
    "lxc",
    "veth",
    "weave",
    "vxlan-6784",
    "kube-",
    "eni",
    "wireguard.cali",
)
TAKEN = ("connected", "disconnected", "configured", "configuring", "failed", "connecting", "activating")


def check(case: Case) -> Iterator[Finding]:
    """Report the first device of a plugin that a manager took."""
    for device, stated in statements_of(case, ManagedDevice):
        if not device.link.startswith(PLUGINS) or device.state.split(" (")[0] not in TAKEN or "externally" in device.state:
            continue
        yield Finding(
            check=NAME,
            severity="fault",
            claim=f"{device.manager} manages {device.link}, a device of the network plugin (its state there is {device.state}).",
            evidence=(stated.span,),
            reasoning=("A manager removes or replaces what it did not set itself.",),
            breaks=("addresses, routes and rules of pods, when the manager next looks at the device",),
            prevention="Tell the manager to leave the plugin's devices alone.",
            certainty=0.5,
            marks=(str(device.link), device.state),
        )
        return
