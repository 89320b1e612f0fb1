"""`calicoctl node diags` and `calicoctl cluster diags` (projectcalico/calico,
`calicoctl/commands`).

The first is one node in one folder, `diagnostics`; the second has a folder for each node, whose
outputs the node's calico-node pod printed, which runs in the host's namespace, and objects of the
cluster.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import HostRule, How, Layout, Row

NODE = Layout(
    name="calicoctl node diags",
    of_node=True,
    empty_tells=True,
    marks=(r"ipv4_route", r"ipv4_addr", r"ipv4_tables", r"nft_ruleset", r"ipsets"),
    needed=2,
    hosts=(HostRule(r"hostname"),),
    rows=(
        Row(r"ipv4_route", "ip -4 route"),
        Row(r"ipv6_route", "ip -6 route"),
        Row(r"ipv4_addr", "ip -4 addr"),
        Row(r"ipv6_addr", "ip -6 addr"),
        Row(r"nft_ruleset", "nft -n -a list ruleset"),
        Row(r"ipv4_tables", "iptables-save -c"),
        Row(r"ipv6_tables", "ip6tables-save -c"),
        Row(r"ipsets|ipset_container", "ipset list"),
        Row(r"netstat", "netstat -a -n"),
        Row(r"ss", "ss -a -n"),
        Row(r"hostname|date", how=How.ASIDE),
        Row(r"journalctl_calico_node|logs/.*", how=How.LOG),
    ),
)
_KINDS = (
    r"nodes|namespaces|networkpolicies|services|endpoints|endpointslices|pods|ippools\S*|bgp\S*|felixconfigurations\S*|"
    r"(?:global)?networkpolicies\S*|network-attachment-definitions|installations\S*"
)
_NODE = r"nodes/(?P<host>[^/]+)/"
CLUSTER = Layout(
    name="calicoctl cluster diags",
    marks=(r"nodes/[^/]+/iptables-(?:legacy|nft)-save\.txt", r"nodes/[^/]+/ip-rule\.txt", r"cluster/nodes\.yaml"),
    needed=2,
    rows=(
        Row(rf"{_NODE}iptables-(?P<backend>legacy|nft)-save\.txt", "iptables-{backend}-save -c"),
        Row(rf"{_NODE}nft-ruleset\.txt", "nft -n -a list ruleset"),
        Row(rf"{_NODE}ip-route\.txt", "ip route show table all"),
        Row(rf"{_NODE}ip-route-v6\.txt", "ip -6 route show table all"),
        Row(rf"{_NODE}ip-rule\.txt", "ip rule"),
        Row(rf"{_NODE}ip-(?P<object>addr|link|neigh)\.txt", "ip {object}"),
        Row(rf"{_NODE}ipset-list\.txt", "ipset list"),
        Row(rf"{_NODE}conntrack-list\.txt", "conntrack -L"),
        Row(rf"{_NODE}bpf-(?:nat|routes|conntrack|ipsets|arp|ifstate)\.(?:json|txt)", how=How.SNIFFED),
        Row(rf"{_NODE}(?:tc-|bpf-)[^/]*(?:/.*)?", how=How.ASIDE),
        Row(rf"{_NODE}.*", how=How.LOG),
        Row(rf"cluster/(?:.*/)?(?P<kind>{_KINDS})\.yaml", "kubectl get {kind} --all-namespaces -o yaml"),
        Row(r"(?:links|tls)/.*|cluster/.*", how=How.ASIDE),
    ),
)  # fmt: skip
