"""Whether br_netfilter runs the IP hooks for what a bridge forwards."""

from __future__ import annotations

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Fact, Known, Option, Unknown
from podpath.node.links import Link

MODULE = "br_netfilter"
KEYS = {4: "net.bridge.bridge-nf-call-iptables", 6: "net.bridge.bridge-nf-call-ip6tables"}


def switch(walk: Walk, namespace: Namespace, bridge: Link, family: int) -> Fact[str]:
    """Return whether bridged packets run through iptables: the bridge's own switch, the
    namespace's, or no module at all.
    """
    netns = namespace.netns
    modules = walk.engine.node.home_of(netns).modules
    key = KEYS[family]
    fact = netns.sysctls.get(key)
    own = bridge.bridge is not None and (
        bridge.bridge.nf_call_iptables if family == 4 else bridge.bridge.nf_call_ip6tables
    )
    if fact is None and modules.complete and MODULE not in modules.items:
        return Known("0", modules.span, f"the module {MODULE} is not loaded")
    if own:
        return Known("1", bridge.span, f"{bridge.name} has it switched on itself")
    if fact is not None:
        return fact
    if netns.sysctls_complete:
        return Known("0", None, f"{key} does not exist: the module {MODULE} is not loaded")
    options = (
        Option("1", "bridged packets run through iptables"),
        Option("0", f"bridged packets skip iptables: {MODULE} is not loaded, or switched off"),
    )
    return Unknown(f"{key} in netns {netns.name}", f"sysctl {key}; lsmod | grep {MODULE}", options)
