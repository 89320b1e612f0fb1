"""What the model leaves out, as data: where a walk meets one of these it ends Undecided and says
so.

A boundary that the evidence cannot show (an XDP program on a device, a tc filter) does not end
walks: it is listed so that reports can name what was not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.tracing.trace import Undecided
from podpath.datapath.vocabulary import BoundaryName, StepDecision
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk


class Boundary(NamedTuple):
    """One thing that is not modeled."""

    name: BoundaryName
    why: str
    """Why a walk cannot go on, or what it takes for granted."""
    ask: str
    """The command that shows whether the node has it."""
    ends: bool = True
    """False: a walk goes on as if it were not there."""


_ENDS = (
    Boundary(
        BoundaryName.VRF,
        "the device belongs to a VRF, whose tables and hooks are not modeled",
        "ip -d link show type vrf; ip vrf",
    ),
    Boundary(
        BoundaryName.MULTICAST_DELIVERY,
        "group membership and multicast routing are not modeled",
        "ip maddr; ip mroute",
    ),
    Boundary(
        BoundaryName.LINK_LOCAL,
        "link-local addresses are walked only with a device",
        "ip -6 route get ADDRESS oif DEVICE",
    ),
    Boundary(
        BoundaryName.MACVLAN,
        "devices that share another device (ipvlan, macvlan of an unknown one) are not modeled",
        "ip -d link",
    ),
    Boundary(
        BoundaryName.INNER_VLAN,
        "a VLAN on a bridge or veth is not modeled",
        "ip -d link show type vlan",
    ),
    Boundary(
        BoundaryName.TUNNEL, "this kind of tunnel is not modeled", "ip -d link show type KIND"
    ),
    Boundary(
        BoundaryName.TUNNEL_TO_SELF,
        "a vxlan device hands over by itself what is for the host's own end of a tunnel",
        "ip -d link show type vxlan",
    ),
    Boundary(
        BoundaryName.DUMMY,
        "a dummy device discards what it sends",
        "ip -d link show type dummy",
    ),
    Boundary(BoundaryName.CIRCLE, "the packet goes in a circle", ""),
    Boundary(
        BoundaryName.CILIUM_NODEPORT,
        "Cilium's translation of a service is not modeled where its maps are not shown, the "
        "backend is on another node, or a proxy or a policy comes first",
        "cilium bpf lb list",
    ),
    Boundary(
        BoundaryName.CILIUM_ENDPOINT,
        "the address is in the node's own pod range, and no output shows which pod has it, "
        "or that none has",
        "cilium-dbg endpoint list; kubectl get pods -A -o wide",
    ),
    Boundary(
        BoundaryName.UNSEEN_NAMESPACE,
        "no output shows the addresses, ARP answers and routes of a namespace that is only "
        "inferred",
        "nsenter -t PID -n ip addr; ip neigh; ip route",
    ),
    Boundary(
        BoundaryName.OTHER_NODE,
        "Cilium's programs or an Open vSwitch bridge on another node decide what happens to it",
        "on that node: cilium-dbg monitor -t drop, or ovs-appctl ofproto/trace BRIDGE FLOW",
    ),
    Boundary(
        BoundaryName.PRIVATE_TUNNEL,
        "which node a program (tun, ppp) or WireGuard sends it to is not in the devices' listings",
        "on both nodes: wg show (allowed ips, endpoint, handshake); ip route show dev DEVICE",
    ),
    Boundary(
        BoundaryName.FRAGMENTS,
        "fragments are not followed where IPv6 sends them, at chains of a device or before "
        "conntrack, in tunnels inside tunnels, and where rules change them",
        "ping -M do -s SIZE ADDRESS; nstat -az 'IpFrag*' 'IpReasm*'",
    ),
    Boundary(
        BoundaryName.BRIDGE_DETOUR,
        "the first frame to a next hop of a bridge ends at the bridge's own device, and one that "
        "is sent again, at once or after some seconds, does not pass there",
        "ip neigh; nft list chains netdev; the same connection once more",
    ),
    Boundary(
        BoundaryName.MIDWAY,
        "the evidence does not show how a connection that is already open was first translated",
        "conntrack -L -o extended",
    ),
    Boundary(
        BoundaryName.FLOW_TABLES,
        "no output shows what the flows of an Open vSwitch bridge do with it",
        "ovs-appctl ofproto/trace BRIDGE FLOW; ovs-ofctl dump-flows BRIDGE",
    ),
    Boundary(
        BoundaryName.IPVS,
        "IPVS schedules packets for its services at LOCAL_IN; its connections are not modeled",
        "ipvsadm -Ln",
    ),
)

_PASSED = (
    Boundary(
        BoundaryName.XDP,
        "an XDP program may drop or redirect a frame before the stack sees it",
        "bpftool net",
    ),
    Boundary(
        BoundaryName.TC,
        "tc filters (other than Cilium's programs) may drop or redirect a packet",
        "tc filter show dev DEVICE ingress",
    ),
    Boundary(
        BoundaryName.XFRM,
        "IPsec policies may drop, transform or re-route a packet",
        "ip xfrm policy; ip xfrm state",
    ),
    Boundary(
        BoundaryName.FLOWTABLE,
        "offloaded connections bypass the hooks between PREROUTING and POSTROUTING",
        "nft list flowtables",
    ),
    Boundary(
        BoundaryName.EBTABLES,
        "bridge chains (ebtables, nft family bridge) are not walked",
        "ebtables -L; nft list tables bridge",
    ),
    Boundary(
        BoundaryName.ARPTABLES, "ARP chains are not walked", "arptables -L; nft list tables arp"
    ),
    Boundary(
        BoundaryName.OPENFLOW,
        "where no output shows its flows, Open vSwitch is assumed to switch by MAC (NORMAL)",
        "ovs-ofctl dump-flows BRIDGE",
    ),
    Boundary(
        BoundaryName.EARLY_DEMUX,
        "an established local socket's packets skip routing and rp_filter",
        "sysctl net.ipv4.ip_early_demux",
    ),
    Boundary(
        BoundaryName.BPF_POLICY,
        "verdicts of Cilium's policy programs are not modeled",
        "cilium-dbg endpoint list; cilium-dbg monitor -t drop",
    ),
    Boundary(
        BoundaryName.REPLY_MARK,
        "replies of sockets and errors take the mark of what they answer",
        "sysctl net.ipv4.fwmark_reflect net.ipv4.tcp_fwmark_accept net.ipv6.fwmark_reflect",
    ),
    Boundary(BoundaryName.MULTICAST_SNOOPING, "a bridge floods groups", "bridge mdb"),
    Boundary(
        BoundaryName.TCP_WINDOWS,
        (
            "segments are assumed to fit the windows; conntrack only sees acknowledgements of "
            "data it has not seen"
        ),
        (
            "sysctl net.netfilter.nf_conntrack_tcp_be_liberal; sysctl "
            "net.netfilter.nf_conntrack_log_invalid"
        ),
    ),
    Boundary(
        BoundaryName.CONNTRACK_TIMEOUTS,
        "entries in the evidence are assumed to still exist, and to last through the walk",
        "conntrack -L",
    ),
    Boundary(
        BoundaryName.CONNTRACK_HELPERS,
        "a connection that a helper expects (FTP, SIP) counts as new",
        "conntrack -L expect",
    ),
    Boundary(
        BoundaryName.SCTP_DCCP,
        "their connections are tracked by ports alone",
        "conntrack -L -p sctp",
    ),
    Boundary(
        BoundaryName.SET_TARGETS,
        "what SET and recent add to sets and lists has no effect on later packets",
        "ipset save",
    ),
    Boundary(
        BoundaryName.TEE,
        "the copy that TEE makes of a packet is not walked",
        "iptables-save | grep TEE",
    ),
)


BOUNDARIES: dict[BoundaryName, Boundary] = {
    **{item.name: item for item in _ENDS},
    **{item.name: item._replace(ends=False) for item in _PASSED},
}
"""By name."""


def boundary(walk: Walk, skb: Skb, name: BoundaryName, *about: object) -> Undecided:
    """End a walk at something that is not modeled, with a Step that names it, and what it was met
    at.
    """
    reason = BoundaryMet(name, about)
    link = skb.link.name if skb.link is not None else None
    walk.trace.step(
        name, skb, "not modelled", skb.packet, StepDecision.UNDECIDED, reason, link=link
    )
    return Undecided(netns=skb.netns.name, reason=reason, ask=BOUNDARIES[name].ask)
