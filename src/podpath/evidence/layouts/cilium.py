"""cilium-bugtool and cilium's sysdump (cilium/cilium, `bugtool` and `cilium-cli/sysdump`).

A bugtool's folder holds one agent's node: `cmd/` with a file for each command, whose spaces and
slashes are made `-`, as plain text or in a fence. The agent runs in the host's namespace. A sysdump
is objects of the cluster, with a bugtool's folder for each agent: every such folder is a bundle of
its own, of its own node.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.evidence.layouts.layout import BundleLayout, HostRule, LayoutRow, ReadAs, outputs

_HOST = (
    "ip a", "ip -4 r", "ip -6 r", "ip -d -s l", "ip -4 n", "ip -6 n", "ip rule", "ip -4 rule",
    "ip -6 rule", "ip -4 route show table {table}", "ip -6 route show table {table}",
    "ss -t -p -a -i -s", "ss -u -p -a -i -s", "uname -a", "sysctl -a", "iptables-save -c",
    "ip6tables-save -c", "iptables -S", "ip6tables -S", "iptables -L -v", "iptables-nft-save -c",
    "iptables-legacy-save -c", "ip6tables-nft-save -c", "ip6tables-legacy-save -c",
    "iptables-legacy -S", "ip6tables-legacy -S", "iptables-nft -S", "ip6tables-nft -S",
    "iptables-legacy -L -v", "iptables-nft -L -v", "lsmod", "nft list ruleset",
    "nft -a list ruleset", "ipset list", "ethtool -k {device}", "ethtool -S {device}",
    "ethtool -i {device}", "kubectl get nodes -o wide", "kubectl describe nodes",
)  # fmt: skip
_AGENT = (
    "status --verbose",
    "config",
    "config -a",
    "service list",
    "endpoint list",
    "bpf lb list",
    "bpf endpoint list",
)
_CLUSTER = (
    "pods", "services", "endpoints", "endpointslices", "networkpolicies", "nodes", "namespaces",
)  # fmt: skip
_NO_STATE = (
    r"(?:ps-|top-|uptime|gops-|bpftool-|taskset|ls--la|tc-|ip--s-xfrm|ip-xfrm|cat--proc-kallsyms|"
    r"cat--proc-net-xfrm|hubble-|cilium(?:-dbg)?-(?:metrics|map|fqdn|identity|policy-selectors|"
    r"bpf-(?:sha|fs|recorder|metrics|config)|recorder|version|"
    r"build-config|statedb|shell|debuginfo)|bpf-map).*"
)


def mangle(command: str) -> str:
    """Spell a command as the file that holds its output is named."""
    return command.replace("/", " ").replace(" ", "-")


def _list_bugtool() -> Iterator[LayoutRow]:
    ending = r"\.(?:md|txt)"
    yield from outputs("cmd/", _HOST, mangle, ending)
    yield from outputs("cmd/cilium(?:-dbg)?-", _AGENT, mangle, ending)
    yield LayoutRow(rf"cmd/cat-(?P<file>-etc-resolv\.conf){ending}", "cat /etc/resolv.conf")
    yield LayoutRow(rf"cmd/(?:dmesg|cat--var-log|journalctl).*{ending}", how=ReadAs.LOG)
    yield LayoutRow(rf"cmd/hostname{ending}", how=ReadAs.ASIDE)
    yield LayoutRow(rf"cmd/{_NO_STATE}", how=ReadAs.ASIDE)
    yield LayoutRow(
        r"(?:conf|envoy|hubble|cilium-envoy)/.*|.*\.(?:o|html|prof|pprof)|cmd/.*state/.*",
        how=ReadAs.ASIDE,
    )


def _fenced(row: LayoutRow) -> LayoutRow:
    """Let a row pass over the heading and the fence of bugtool's markdown form, and its note of an
    error at the end.
    """
    return row._replace(noise=r"# \S.*|```\w*|> Error while running .*") if row.command else row


BUGTOOL = BundleLayout(
    name="cilium-bugtool",
    of_node=True,
    empty_tells=True,
    marks=(
        (
            r"cmd/(?:hostname|ip-a|iptables-save--c|ip--4-r|sysctl--a|"
            r"cilium(?:-dbg)?-status---verbose|uname--a)\.(?:md|txt)"
        ),
    ),
    hosts=(
        HostRule(r"cmd/hostname\.(?:md|txt)"),
        HostRule(r"cmd/uname--a\.(?:md|txt)", r"Linux (?P<host>\S+) "),
    ),
    rows=tuple(_fenced(row) for row in _list_bugtool()),
)
_STAMP = r"-\d{8}-\d{6}"
SYSDUMP = BundleLayout(
    name="cilium sysdump",
    marks=(
        rf"k8s-nodes{_STAMP}\.yaml", rf"k8s-pods{_STAMP}\.yaml", rf"cilium-configmap{_STAMP}\.yaml",
        rf"ciliumendpoints{_STAMP}\.yaml", rf"k8s-services{_STAMP}\.yaml",
    ),
    needed=2,
    rows=(
        *(LayoutRow(
            rf"k8s-{kind}{_STAMP}\.yaml", f"kubectl get {kind} --all-namespaces -o yaml",
        ) for kind in _CLUSTER),
        LayoutRow(rf"k8s-events{_STAMP}\.yaml", how=ReadAs.LOG),
        LayoutRow(
            rf"cilium-configmap{_STAMP}\.yaml",
            "kubectl -n kube-system get configmap cilium-config -o yaml",
        ),
        LayoutRow(
            rf"(?P<kind>cilium\w*?){_STAMP}\.yaml", "kubectl get {kind} --all-namespaces -o yaml",
        ),
        LayoutRow(rf"k8s-pods{_STAMP}\.txt", how=ReadAs.ASIDE),
        LayoutRow(r"(?:logs|hubble)-.*", how=ReadAs.LOG),
        LayoutRow(r"(?:cniconf|gops|metrics|aws|gatewayapi|cilium-helm|k8s)-.*", how=ReadAs.ASIDE),
        LayoutRow(r".*-(?:daemonset|deployment|configmap|cronjob|certificates)-.*\.yaml|"
                  r"cilium-sysdump\.log", how=ReadAs.ASIDE),
    ),
)  # fmt: skip
