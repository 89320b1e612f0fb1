"""tunnel-network: the ends of a tunnel are of different networks, or listen on different ports.

What it is
    A VXLAN device is of one network (VNI) and takes packets at one UDP port; an IPIP or GRE device
    takes them from its configured remote end, and with its key, alone; a Geneve device is of one
    network, port and remote end. A WireGuard device takes packets of peers whose public keys it
    knows, from the addresses that it allows them, and sends to the peer that is allowed the
    destination. The device of the node that sends and that of the node that receives do not agree:
    two plugins or versions of one, or a device that an older configuration left behind (8472 is
    Linux's port, 4789 the standard's).

Why it breaks
    The outer packet arrives. Where the port differs nobody listens, and ICMP says so to the tunnel;
    where the network, the remote end or a key differs the driver drops it silently
    (VXLAN_VNI_NOT_FOUND). Without a peer, or its endpoint, WireGuard sends nothing at all
    (Required key not available, Destination address required).

How to confirm
    ip -d link show type vxlan              # on both nodes: `id`, `dstport`; `remote` of ipip, gre
    wg show                                 # on both nodes: public keys, endpoint, allowed ips
    tcpdump -ni UPLINK udp port 8472 or udp port 4789

How to fix
    Recreate the device on the node that differs, with the network and port of the others, or
    delete it there and restart the plugin's daemon. Of WireGuard, compare each node's public key
    with what the other has as its peer (`wg set DEVICE peer KEY allowed-ips RANGES`).

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
    "Keep the network's number and port in the plugin's configuration, and delete its devices when "
    "these change."
)
