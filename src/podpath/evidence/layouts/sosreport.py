"""sosreport (sosreport/sos): files named after commands, with everything that is not a letter
replaced by `_`, a folder for each plugin.

What was run in a network namespace stands in `namespaces/NAME/` since sos 4, and beside the host's
own outputs before; the file's name repeats the namespace. Copies of files stand under their own
paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.evidence.layouts.layout import BundleLayout, HostRule, LayoutRow, ReadAs, outputs

_HOST = (
    "ip -o addr", "ip -d address", "ip address", "ip -s -d link", "ip -s link", "ip link",
    "ip route show table all", "ip -6 route show table all", "ip -4 rule list", "ip -6 rule list",
    "ip rule list", "ip -s -s neigh show", "ip neigh show nud noarp", "bridge -s -s -d link show",
    "bridge -s -s -d -t fdb show", "bridge -d vlan show", "ss -peaonmi", "ss -tulpn",
    "netstat -W -neopa", "netstat -T -neopa", "netstat -neopa", "nstat -zas", "ethtool -k {device}",
    "ethtool -S {device}", "ethtool -i {device}",
)  # fmt: skip
_FIREWALL = (
    "iptables -t {table} -nvL", "ip6tables -t {table} -nvL", "iptables -vnxL", "ip6tables -vnxL",
    "nft -a list ruleset", "nft list ruleset", "iptables-save", "ip6tables-save",
    "firewall-cmd --list-all-zones", "ipvsadm -Ln", "ipset list", "conntrack -L -o extended",
    "conntrack -L", "conntrack -S",
)  # fmt: skip
_INSIDE = (
    "ip -d address show", "ip address show", "ip route show table all",
    "ip -6 route show table all", "ip -s -s neigh show", "ip -4 rule list", "ip -6 rule list",
    "ip rule list", "sysctl -a", "netstat -W -neopa", "netstat -T -neopa", "netstat -neopa",
    "nstat -zas", "iptables-save", "ip6tables-save", "ss -peaonmi", "nft -a list ruleset",
    "nft list ruleset", "iptables -vnxL", "ethtool -k {device}", "ethtool -S {device}",
    "ethtool -i {device}", "conntrack -L -o extended", "conntrack -S",
)  # fmt: skip
_SPACES = r"sos_commands/[^/]+/namespaces/(?P<netns>[^/]+)/"
_OTHER = (
    r"netstat_-s|ss_-s|tc_|ip_(?:vrf|maddr|mroute|netns|-d_(?:-6_)?route_show_cache)|ethtool|"
    r"devlink|networkctl|nmstatectl|plotnetcfg"
)
_COPIES = (
    LayoutRow(r"(?P<file>etc/cni/net\.d/[^/]+\.conf(?:list)?)", "cat /{file}"),
    LayoutRow(r"(?P<file>etc/resolv\.conf)", "cat /{file}"),
    LayoutRow(r"(?P<file>etc/iproute2/rt_tables(?:\.d/[^/]+)?)", "cat /{file}"),
    LayoutRow(r"(?P<file>proc/net/(?:route|dev|arp|nf_conntrack|bonding/[^/]+))", "cat /{file}"),
    LayoutRow(r"(?P<file>proc/modules)", "cat /{file}"),
    LayoutRow(r"(?P<file>proc/version)", "cat /{file}"),
    LayoutRow(r"(?P<file>proc/sys/net/.+)", "cat /{file}"),
    LayoutRow(
        r"(?P<file>sys/class/net/[^/]+/(?:mtu|flags|operstate|address|brport/hairpin_mode))",
        how=ReadAs.SNIFFED,
    ),
    LayoutRow(
        (
            r"etc/(?:sysctl\.(?:conf|d/.*)|netplan/.*|network/.*|sysconfig/network-scripts/.*|"
            r"systemd/network/.*)"
        ),
        how=ReadAs.SNIFFED,
    ),
    LayoutRow(r"var/log/.*|sos_commands/logs/.*", how=ReadAs.LOG),
    LayoutRow(r"sos_commands/kernel/dmesg.*", how=ReadAs.LOG),
)


def mangle(command: str) -> str:
    """Spell a command as the file that holds its output is named."""
    return re.sub(r"[^\w\-./]+", "_", re.sub(r"^/(?:usr/)?s?bin/", "", command)).replace("/", ".")


def _list_rows() -> Iterator[LayoutRow]:
    inside = rf"{_SPACES}ip_netns_exec_(?P=netns)_+"
    beside = r"sos_commands/[^/]+/ip_netns_exec_(?P<netns>[^/]+?)_"
    again = r"(?:\.\d+)?"
    yield from outputs(inside, _INSIDE, mangle, again)
    yield LayoutRow(
        rf"{_SPACES}ip_netns_exec_.*_(?:netstat_-s|ip_vrf_show|ethtool_.*)", how=ReadAs.ASIDE
    )
    yield LayoutRow(rf"{_SPACES}.*", how=ReadAs.SNIFFED)
    yield from outputs(beside, _INSIDE, mangle, again)
    yield LayoutRow(r"sos_commands/[^/]+/ip_netns_exec_(?P<netns>[^_]+)_.*", how=ReadAs.SNIFFED)
    yield from outputs(r"sos_commands/networking/", _HOST, mangle, again)
    yield from outputs(
        r"sos_commands/(?:firewall_tables|networking|firewalld|conntrack|ipvs|ipset)/",
        _FIREWALL,
        mangle,
        again,
    )
    yield from outputs(
        r"sos_commands/(?:kernel|processor|host)/",
        ("sysctl -a", "lsmod", "uname -a"),
        mangle,
        again,
    )
    yield from outputs(
        r"sos_commands/openvswitch/",
        ("ovs-vsctl -t 5 show", "ovs-vsctl show", "ovs-appctl bond/show"),
        mangle,
    )
    yield from outputs(
        r"sos_commands/(?:podman|docker|crio)/", ("docker ps", "docker ps -a"), mangle
    )
    yield LayoutRow(
        r"sos_commands/kubernetes/.*(?:\.yaml|\.json|_-o_(?:yaml|json|wide)|describe.*)",
        how=ReadAs.SNIFFED,
    )
    yield from _COPIES
    yield LayoutRow(rf"sos_commands/networking/(?:{_OTHER}).*", how=ReadAs.ASIDE)
    yield LayoutRow(r"sos_commands/(?!networking/|firewall_tables/).*", how=ReadAs.ASIDE)
    yield LayoutRow(
        (
            r"(?:sos_reports|sos_logs|sos_strings|boot|lib|usr|dev|run|root|home|opt|var|sys|proc|"
            r"etc)/.*"
        ),
        how=ReadAs.ASIDE,
    )
    yield LayoutRow(
        r"version\.txt|environment|date|df|free|installed-.*|last|lsb-release|lsmod|lsof|lspci|"
        r"mount|ps|pstree|uptime|chkconfig|hostname|uname|root-symlinks|dmidecode|vgdisplay|"
        r"ip_addr|ip_route|netstat",
        how=ReadAs.ASIDE,
    )


LAYOUT = BundleLayout(
    name="sosreport",
    of_node=True,
    empty_tells=True,
    marks=(r"sos_commands/[^/]+/[^/]+", r"sos_commands/networking/namespaces/[^/]+/[^/]+"),
    hosts=(
        HostRule(r"sos_commands/host/hostname"),
        HostRule(r"sos_commands/(?:kernel|host)/uname_-a", r"Linux (?P<host>\S+) "),
        HostRule(r"etc/hostname"),
        HostRule(r"hostname"),
    ),
    rows=tuple(_list_rows()),
)
