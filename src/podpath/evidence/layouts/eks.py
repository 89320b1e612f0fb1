"""The EKS log collector (awslabs/amazon-eks-ami, `eks-log-collector.sh`): one node, its own
namespace alone.

Tables are printed by `iptables --list` with a count of rules below each, and again by
`iptables-save`.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, HostRule, LayoutRow, ReadAs

_COUNT = r"=+|Total Number of Rules: \d+|\*\*\* .* \*\*\*\s*|Try `?iptables.*"

LAYOUT = BundleLayout(
    name="EKS log collector",
    of_node=True,
    marks=(
        r"networking/iptables-save\.txt", r"networking/iproute\.txt", r"networking/iprule\.txt",
        r"sysctls/sysctl_all\.txt", r"kernel/uname\.txt", r"system/instance-id\.txt",
        r"networking/conntrack\.txt",
    ),
    needed=2,
    hosts=(
        HostRule(r"kernel/uname\.txt", r"Linux (?P<host>\S+) "),
        HostRule(r"system/instance-id\.txt"),
    ),
    rows=(
        LayoutRow(r"networking/(?P<six>ip6|ip)tables-save\.txt", "{six}tables-save"),
        LayoutRow(r"networking/(?P<six>ip6|ip)tables-(?P<table>mangle|filter|nat|raw|"
                  r"security)\.txt",
            "{six}tables --wait 1 --numeric --verbose --list --table {table}", noise=_COUNT),
        LayoutRow(
            r"networking/(?P<six>ip6|ip)tables\.txt",
            "{six}tables --wait 1 --numeric --verbose --list", noise=_COUNT,
        ),
        LayoutRow(
            r"networking/conntrack6?\.txt",
            heading=r"\*\*\* Output of (?P<command>conntrack [^*]+?) \*\*\*",
        ),
        LayoutRow(r"networking/ifconfig\.txt", "ifconfig"),
        LayoutRow(r"networking/iprule\.txt", "ip rule show"),
        LayoutRow(r"networking/ip6rule\.txt", "ip -6 rule show"),
        LayoutRow(r"networking/iproute\.txt", "ip route show table all"),
        LayoutRow(r"networking/ip6route\.txt", "ip -6 route show table all"),
        LayoutRow(
            r"networking/ipset\.txt", "ipset --list", heading=r"(?P<keep>Name: )",
            noise=r"(?:create|add) .*|-e.*",
        ),
        LayoutRow(
            r"networking/ipvsadm\.txt", "ipvsadm --list --numeric",
            heading=r"(?P<keep>IP Virtual Server version)",
        ),
        LayoutRow(
            r"networking/ethtool\.txt", "ethtool -S {device}", heading=r"Interface (?P<device>\S+)",
        ),
        LayoutRow(r"networking/resolv\.conf", "cat /etc/resolv.conf"),
        LayoutRow(r"networking/(?:ping_|curl_)[^/]+", how=ReadAs.LOG),
        LayoutRow(
            r"networking/(?:ebpf-|configure-multicard|systemd-network/)[^/]*.*", how=ReadAs.ASIDE,
        ),
        LayoutRow(r"sysctls/sysctl_all\.txt", "sysctl --all"),
        LayoutRow(r"kernel/uname\.txt", "uname -a"),
        LayoutRow(r"modinfo/ip_vs", "lsmod | grep -e ip_vs -e nf_conntrack"),
        LayoutRow(r"modinfo/[^/]+", how=ReadAs.ASIDE),
        LayoutRow(r"cni/(?P<file>[^/]+\.conf(?:list)?)", "cat /etc/cni/net.d/{file}"),
        LayoutRow(r"system/netstat\.txt", "netstat -plant"),
        LayoutRow(r"kubelet/svc\.log", "kubectl get svc"),
        LayoutRow(r"docker/docker-ps\.txt", "docker ps --all --no-trunc"),
        LayoutRow(r"(?:kernel/dmesg|var_log/|kubelet/.*\.log|containerd/|docker/|nodeadm/|"
                  r"ipamd/.*\.log|sandbox-image/).*",
            how=ReadAs.LOG),
        LayoutRow(r"(?:system|storage|gpu|ipamd|kubelet|cni|throttles?|kernel|xfs|lsof|"
                  r"soci[^/]*)/.*", how=ReadAs.ASIDE),
    ),
)  # fmt: skip
