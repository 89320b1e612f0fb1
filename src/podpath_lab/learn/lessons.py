"""The lessons: which incident, what a learner is told of it, and the hints, one after another.

The first hint says where to look, the last one all but names it. Every command in them runs inside
the lesson's world.
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath_lab.incidents.incident import Incident
from podpath_lab.incidents.registry import INCIDENTS

_ROUTED = """\
   pod1 10.1.0.2 ── lxc1 ┐
                         ├── host ── eth0 172.31.0.10 ── 172.31.0.1 world (198.51.100.1)
   pod2 10.1.0.3 ── lxc2 ┘
"""
_BRIDGED = """\
   pod1 10.1.0.2 ── veth1 ┐
                          ├ cni0, host ── eth0 172.31.0.10 ── 172.31.0.1 world (198.51.100.1)
   pod2 10.1.0.3 ── veth2 ┘
"""
_OVERLAY = """\
   pod1 10.1.0.2 ── cni0, host ── flannel.1 ┐
                                            ╞══ vxlan over 172.31.0.0/24
   pod3 10.1.1.2 ── cni0, node2 ─ flannel.1 ┘
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One incident to find."""

    incident: Incident
    story: str
    """What somebody reports, in whole sentences."""
    drawing: str
    first: tuple[str, ...]
    """Commands to begin with."""
    hints: tuple[str, ...]

    @property
    def name(self) -> str:
        """The incident's name: it says too much to be shown before the lesson is over."""
        return self.incident.name


def _teach(
    name: str, story: str, drawing: str, first: tuple[str, ...], hints: tuple[str, ...]
) -> Lesson:
    return Lesson(incident=INCIDENTS[name], story=story, drawing=drawing, first=first, hints=hints)


_CURL = "ip netns exec pod1 curl -m 2 http://{}/"
LESSONS: dict[str, Lesson] = {
    "neighbors": _teach(
        "ip-forward-off",
        "Since a package was upgraded last night, pods of this node cannot reach each other."
        " From the node itself both pods answer.",
        _ROUTED,
        (_CURL.format("10.1.0.3"), "curl -m 2 http://10.1.0.3/"),
        (
            (
                "Which way does the packet get? Listen on both sides of the host while pod1"
                " connects: tcpdump -ni lxc1 in one shell, tcpdump -ni lxc2 in another."
            ),
            (
                "It comes in on lxc1 and never leaves on lxc2: the host gets it and does not"
                " pass it on. What the host sends itself goes out. What is different about a"
                " packet that is not for the host?"
            ),
            (
                "A machine passes on other people's packets only where it is told to be a"
                " router. Which sysctl says that?"
            ),
            "sysctl net.ipv4.ip_forward",
        ),
    ),
    "nowhere": _teach(
        "blackhole-route",
        "pod1 cannot reach 198.51.100.1, a service outside. Other addresses outside work, and so"
        " does everything inside.",
        _ROUTED,
        (_CURL.format("198.51.100.1"), _CURL.format("172.31.0.1")),
        (
            "Does the packet leave the node? tcpdump -ni eth0 host 198.51.100.1",
            (
                "It comes in on lxc1 and does not leave. Ask the host what it would do with it:"
                " ip route get 198.51.100.1 from 10.1.0.2 iif lxc1"
            ),
            (
                "Invalid argument, where you expected a device: some route says so. Look at all"
                " of them, not only at the default route: ip route"
            ),
            "The longest prefix wins. Which route is more specific than `default`?",
        ),
    ),
    "silence": _teach(
        "firewall-rule",
        "pod1 can ping 198.51.100.1, but no web page loads. Nobody has changed anything,"
        " everybody says.",
        _ROUTED,
        (_CURL.format("198.51.100.1"), "ip netns exec pod1 ping -c 1 198.51.100.1"),
        (
            (
                "One protocol works and another does not: routes know nothing of ports, so look"
                " at what does."
            ),
            "Rules of the host: nft list ruleset, or iptables-save -c (with counters).",
            (
                "Run iptables -L FORWARD -nvx twice, with a curl in between: the counter that"
                " grows is the rule that your packet meets."
            ),
            "Which rule of FORWARD names ports 80 and 443?",
        ),
    ),
    "no answer": _teach(
        "missing-masquerade",
        "pod1 reaches pod2 and the node, but nothing outside. The colleague who looks after the"
        " world outside says that the requests arrive, and that the answers are sent.",
        _BRIDGED,
        (_CURL.format("198.51.100.1"), _CURL.format("10.1.0.3")),
        (
            "Look at the request where it leaves the node: tcpdump -ni eth0 host 198.51.100.1",
            (
                "Who is the sender of the packet on eth0? Would you know the way back to it, as"
                " a machine outside? ip netns exec world ip route"
            ),
            (
                "A pod's address means nothing outside. The node must put its own in its place."
                " Where would that rule stand? iptables -t nat -S"
            ),
            "In POSTROUTING of the table nat there should be MASQUERADE for 10.1.0.0/24.",
        ),
    ),
    "refused": _teach(
        "rejected-service",
        "The shop cannot reach its cart at 10.96.0.10: connection refused, at once. The cart's"
        " pod, pod2, runs and answers on port 8080.",
        _ROUTED,
        (_CURL.format("10.96.0.10"), _CURL.format("10.1.0.3:8080")),
        (
            "Refused at once, so somebody answers. Who? tcpdump -ni lxc1 while you connect.",
            (
                "It is an ICMP error, not a TCP reset, and it comes from the node: a rule sends"
                " it, no program does."
            ),
            (
                "10.96.0.10 is on no device: a Service's address is one that rules translate."
                " iptables-save | grep 10.96.0.10"
            ),
            (
                "Where kube-proxy knows no endpoint of a Service, it writes REJECT in the table"
                " filter instead of DNAT in the table nat. Read that rule's comment."
            ),
        ),
    ),
    "stranger": _teach(
        "br-netfilter-off",
        "pod1 cannot reach the Service at 10.96.0.10, whose only endpoint is pod2. From the node"
        " the Service works, and pod1 reaches pod2 directly.",
        _BRIDGED,
        (_CURL.format("10.96.0.10"), _CURL.format("10.1.0.3:8080")),
        (
            "Watch pod1's own device: ip netns exec pod1 tcpdump -ni eth0 tcp",
            (
                "An answer comes, and pod1 resets it. Compare the sender of the answer with the"
                " address that pod1 asked."
            ),
            (
                "The way there was translated (10.96.0.10 to 10.1.0.3), the way back was not."
                " Way there: through the host's routing. Way back: both pods are on one bridge,"
                " so the frame is switched and never routed."
            ),
            (
                "Conntrack can only undo a translation in packets that it sees. What makes a"
                " bridge show its frames to iptables? sysctl net.bridge"
            ),
        ),
    ),
    "wrong door": _teach(
        "rp-filter-reset",
        "pod1 reaches nothing outside since tuned was upgraded. This node uses a tunnel: packets"
        " to pods come by cilium_host and from pods by lxc1, by design.",
        _ROUTED,
        (_CURL.format("198.51.100.1"), "ip route get 10.1.0.2"),
        (
            "Does it leave the node? tcpdump -ni lxc1, then tcpdump -ni eth0.",
            (
                "It gets in and is gone, and no rule counts it. The kernel counts what it throws"
                " away itself: nstat -as | grep -i -e filter -e InAddrErr"
            ),
            (
                "IPReversePathFilter grows: the kernel asks, by which device would I answer this"
                " sender? ip route get 10.1.0.2 says another one than lxc1."
            ),
            (
                "How strict it is, the larger of two sysctls says: sysctl"
                " net.ipv4.conf.all.rp_filter net.ipv4.conf.lxc1.rp_filter"
            ),
        ),
    ),
    "third packet": _teach(
        "kube-proxy-before-cilium",
        "Connections of pod1 to the world outside hang since kube-proxy was restarted. The"
        " strange thing: the other side says that it does get the first packet, and answers it.",
        _ROUTED,
        (_CURL.format("198.51.100.1"), "iptables -S FORWARD"),
        (
            (
                "Follow the handshake where it leaves the node, and in the pod: tcpdump -ni eth0"
                " tcp and ip netns exec pod1 tcpdump -ni eth0 tcp"
            ),
            (
                "SYN goes out, SYN-ACK gets to the pod, the pod's ACK does not leave. Which"
                " rules does it meet? iptables -nvxL, and look at the counters of all chains."
            ),
            (
                "A rule drops what conntrack calls INVALID. Conntrack has seen the SYN, but not"
                " the SYN-ACK: Cilium's program (here a netdev chain of nft) took that one past"
                " it."
            ),
            (
                "With its own ACCEPT first, Cilium does not care what conntrack thinks. In which"
                " order does FORWARD call KUBE-FORWARD and CILIUM_FORWARD?"
            ),
        ),
    ),
    "large": _teach(
        "vxlan-mtu-black-hole",
        "pod1 connects to pod3 on the other node at once, and then it hangs: small answers come,"
        " uploads never end.",
        _OVERLAY,
        (
            _CURL.format("10.1.1.2"),
            "printf %04000d 0 | ip netns exec pod1 curl -m 3 -d @- http://10.1.1.2/",
        ),
        (
            (
                "What differs between what works and what does not? Try sizes: ip netns exec"
                " pod1 ping -c 1 -M do -s 1372 10.1.1.2, then -s 1472."
            ),
            "Watch what leaves the node: tcpdump -ni eth0 udp port 8472 or 'ip[6:2] & 0x3fff != 0'",
            (
                "A full packet and its wrapping together are longer than the wire's 1500 bytes,"
                " so they leave in fragments, and the network between these nodes drops"
                " fragments."
            ),
            (
                "vxlan adds 50 bytes. What is the tunnel's MTU, and what may it be? ip -d link"
                " show flannel.1"
            ),
        ),
    ),
}
"""In the order of learning. Their names give nothing away."""
