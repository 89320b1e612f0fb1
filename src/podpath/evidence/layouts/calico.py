"""`calicoctl node diags` and `calicoctl cluster diags` (projectcalico/calico,
`calicoctl/commands`).

The first is one node in one folder, `diagnostics`; the second has a folder for each node, whose
outputs the node's calico-node pod printed, which runs in the host's namespace, and objects of the
cluster.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, HostRule, LayoutRow, ReadAs

NODE = BundleLayout(
    name="calicoctl node diags",
    of_node=True,
    empty_tells=True,
    marks=(r"ipv4_route", r"ipv4_addr", r"ipv4_tables", r"nft_ruleset", r"ipsets"),
    needed=2,
    hosts=(HostRule(r"hostname"),),
    rows=(
        LayoutRow(r"ipv4_route", "ip -4 route"),
        LayoutRow(r"ipv6_route", "ip -6 route"),
        LayoutRow(r"ipv4_addr", "ip -4 addr"),
        LayoutRow(r"ipv6_addr", "ip -6 addr"),
        LayoutRow(r"nft_ruleset", "nft -n -a list ruleset"),
        LayoutRow(r"ipv4_tables", "iptables-save -c"),
        LayoutRow(r"ipv6_tables", "ip6tables-save -c"),
        LayoutRow(r"ipsets|ipset_container", "ipset list"),
        LayoutRow(r"netstat", "netstat -a -n"),
        LayoutRow(r"ss", "ss -a -n"),
        LayoutRow(r"hostname|date", how=ReadAs.ASIDE),
        LayoutRow(r"journalctl_calico_node|logs/.*", how=ReadAs.LOG),
    ),
)
_KINDS = (
    r"nodes|namespaces|networkpolicies|services|endpoints|endpointslices|pods|ippools\S*|bgp\S*|"
    r"felixconfigurations\S*|(?:global)?networkpolicies\S*|network-attachment-definitions|"
    r"installations\S*"
)
_NODE = r"nodes/(?P<host>[^/]+)/"
CLUSTER = BundleLayout(
    name="calicoctl cluster diags",
    marks=(
        r"nodes/[^/]+/iptables-(?:legacy|nft)-save\.txt", r"nodes/[^/]+/ip-rule\.txt",
        r"cluster/nodes\.yaml",
    ),
    needed=2,
    rows=(
        LayoutRow(
            rf"{_NODE}iptables-(?P<backend>legacy|nft)-save\.txt", "iptables-{backend}-save -c",
        ),
        LayoutRow(rf"{_NODE}nft-ruleset\.txt", "nft -n -a list ruleset"),
        LayoutRow(rf"{_NODE}ip-route\.txt", "ip route show table all"),
        LayoutRow(rf"{_NODE}ip-route-v6\.txt", "ip -6 route show table all"),
        LayoutRow(rf"{_NODE}ip-rule\.txt", "ip rule"),
        LayoutRow(rf"{_NODE}ip-(?P<object>addr|link|neigh)\.txt", "ip {object}"),
        LayoutRow(rf"{_NODE}ipset-list\.txt", "ipset list"),
        LayoutRow(rf"{_NODE}conntrack-list\.txt", "conntrack -L"),
        LayoutRow(
            rf"{_NODE}bpf-(?:nat|routes|conntrack|ipsets|arp|ifstate)\.(?:json|txt)",
            how=ReadAs.SNIFFED,
        ),
        LayoutRow(rf"{_NODE}(?:tc-|bpf-)[^/]*(?:/.*)?", how=ReadAs.ASIDE),
        LayoutRow(rf"{_NODE}.*", how=ReadAs.LOG),
        LayoutRow(
            rf"cluster/(?:.*/)?(?P<kind>{_KINDS})\.yaml",
            "kubectl get {kind} --all-namespaces -o yaml",
        ),
        LayoutRow(r"(?:links|tls)/.*|cluster/.*", how=ReadAs.ASIDE),
    ),
)  # fmt: skip
