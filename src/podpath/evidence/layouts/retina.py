"""Microsoft Retina's capture (microsoft/retina, `pkg/capture/provider`): one node's own namespace,
with a capture of packets.

Each file of metadata says first what it will run, and then holds one output after the other, each
under its command line. `proc-net` and `proc-sys-net` are copies of the kernel's folders.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, HostRule, LayoutRow, ReadAs

_COMMAND = (
    r"(?:/\S*/)?(?P<command>(?:ip|iptables|ss|iptables-(?:legacy|nft)(?:-save)?)(?: [^()]+)?)$"
)
_DECIDES = (
    r"ipv[46]/(?:ip_forward|conf/[^/]+/(?:forwarding|rp_filter|arp_ignore|arp_announce|arp_filter|"
    r"proxy_arp|accept_local|route_localnet|src_valid_mark|disable_ipv6|accept_ra|send_redirects|"
    r"proxy_arp_pvlan)|tcp_tw_reuse|ip_local_port_range|"
    r"neigh/default/gc_thresh\d|tcp_mtu_probing|fwmark_reflect)|bridge/[^/]+|"
    r"netfilter/nf_conntrack_(?:max|count|tcp_be_liberal|acct)|nf_conntrack_max"
)

LAYOUT = BundleLayout(
    name="Retina capture",
    of_node=True,
    empty_tells=True,
    marks=(r"ip-resources\.txt", r"iptables-rules\.txt", r"socket-stats\.txt", r"proc-net/route"),
    needed=2,
    hosts=(HostRule(r"proc-sys-net/hostname"),),
    rows=(
        LayoutRow(r"ip-resources\.txt|iptables-rules\.txt|socket-stats\.txt", heading=_COMMAND),
        LayoutRow(
            r"proc-net/(?P<file>route|dev|arp|nf_conntrack|bonding/[^/]+)", "cat /proc/net/{file}"
        ),
        LayoutRow(rf"proc-sys-net/(?P<file>{_DECIDES})", "cat /proc/sys/net/{file}"),
        LayoutRow(r"(?:proc-net|proc-sys-net)/.*", how=ReadAs.ASIDE),
        LayoutRow(r"[^/]+\.log", how=ReadAs.LOG),
        LayoutRow(r"[^/]+\.pcap(?:ng)?\d*", how=ReadAs.SNIFFED),
    ),
)
