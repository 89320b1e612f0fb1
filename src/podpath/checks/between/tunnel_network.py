"""tunnel-network: the two ends of a tunnel have different network identifiers, keys, peers or
ports.

What it is
    A VXLAN device belongs to one network (VNI) and receives packets on one UDP port. An IPIP or GRE
    device accepts packets only from its configured remote end, and GRE only with its key. A Geneve
    device has one network, port and remote end. A WireGuard device accepts packets only from peers
    whose public keys it knows, with the source addresses it allows them, and sends to the peer that
    is allowed the destination. Here the devices of the sending and the receiving node do not match:
    two plugins, two versions of one plugin, or a device left behind by an older configuration (8472
    is Linux's default port, 4789 the standard one).

Why it breaks
    The outer packet arrives. If the port differs, nothing listens there, and the tunnel gets an
    ICMP port unreachable. If the network, the remote end or a key differs, the driver drops the
    packet silently (VXLAN_VNI_NOT_FOUND). Without a peer, or without the peer's endpoint, WireGuard
    sends nothing at all (Required key not available, Destination address required).

How to confirm
    ip -d link show type vxlan              # on both nodes: `id`, `dstport`; `remote` of ipip, gre
    wg show                                 # on both nodes: public keys, endpoint, allowed ips
    tcpdump -ni UPLINK udp port 8472 or udp port 4789

How to fix
    Recreate the device on the node that differs, with the network and port of the others; or delete
    it there and restart the plugin's daemon. For WireGuard, compare each node's public key with the
    peer key that the other node has (`wg set DEVICE peer KEY allowed-ips RANGES`).

References
    drivers/net/vxlan/vxlan_core.c:vxlan_rcv v6.12; drivers/net/geneve.c:geneve_lookup v6.12;
    wg(8); flannel's VNI, Port; Calico's vxlanVNI, vxlanPort
"""

from __future__ import annotations

from podpath.checks.category import Category

CATEGORIES = (Category.TUNNEL_CONFIGURATION, Category.TUNNEL_ENDPOINT)
NAME = "tunnel-network"
"""Seen by walks over several nodes alone."""
PREVENTION = (
    "Keep the network identifier and port in the plugin's configuration, and delete its devices "
    "when these change."
)
