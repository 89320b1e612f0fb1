"""The EKS log collector (awslabs/amazon-eks-ami, `eks-log-collector.sh`): one node, its own
namespace alone.

Tables are printed by `iptables --list` with a count of rules below each, and again by
`iptables-save`.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import HostRule, How, Layout, Row

_COUNT = r"=+|Total Number of Rules: \d+|\*\*\* .* \*\*\*\s*|Try `?iptables.*"

LAYOUT = Layout(
    name="EKS log collector",
    of_node=True,
    marks=(
        r"networking/iptables-save\.txt", r"networking/iproute\.txt", r"networking/iprule\.txt", r"sysctls/sysctl_all\.txt",
        r"kernel/uname\.txt", r"system/instance-id\.txt", r"networking/conntrack\.txt",
    ),
    needed=2,
    hosts=(HostRule(r"kernel/uname\.txt", r"Linux (?P<host>\S+) "), HostRule(r"system/instance-id\.txt")),
    rows=(
        Row(r"networking/(?P<six>ip6|ip)tables-save\.txt", "{six}tables-save"),
        Row(r"networking/(?P<six>ip6|ip)tables-(?P<table>mangle|filter|nat|raw|security)\.txt",
            "{six}tables --wait 1 --numeric --verbose --list --table {table}", noise=_COUNT),
        Row(r"networking/(?P<six>ip6|ip)tables\.txt", "{six}tables --wait 1 --numeric --verbose --list", noise=_COUNT),
        Row(r"networking/conntrack6?\.txt", heading=r"\*\*\* Output of (?P<command>conntrack [^*]+?) \*\*\*"),
        Row(r"networking/ifconfig\.txt", "ifconfig"),
        Row(r"networking/iprule\.txt", "ip rule show"),
        Row(r"networking/ip6rule\.txt", "ip -6 rule show"),
        Row(r"networking/iproute\.txt", "ip route show table all"),
        Row(r"networking/ip6route\.txt", "ip -6 route show table all"),
        Row(r"networking/ipset\.txt", "ipset --list", heading=r"(?P<keep>Name: )", noise=r"(?:create|add) .*|-e.*"),
        Row(r"networking/ipvsadm\.txt", "ipvsadm --list --numeric", heading=r"(?P<keep>IP Virtual Server version)"),
        Row(r"networking/ethtool\.txt", "ethtool -S {device}", heading=r"Interface (?P<device>\S+)"),
        Row(r"networking/resolv\.conf", "cat /etc/resolv.conf"),
        Row(r"networking/(?:ping_|curl_)[^/]+", how=How.LOG),
        Row(r"networking/(?:ebpf-|configure-multicard|systemd-network/)[^/]*.*", how=How.ASIDE),
        Row(r"sysctls/sysctl_all\.txt", "sysctl --all"),
        Row(r"kernel/uname\.txt", "uname -a"),
        Row(r"modinfo/ip_vs", "lsmod | grep -e ip_vs -e nf_conntrack"),
        Row(r"modinfo/[^/]+", how=How.ASIDE),
        Row(r"cni/(?P<file>[^/]+\.conf(?:list)?)", "cat /etc/cni/net.d/{file}"),
        Row(r"system/netstat\.txt", "netstat -plant"),
        Row(r"kubelet/svc\.log", "kubectl get svc"),
        Row(r"docker/docker-ps\.txt", "docker ps --all --no-trunc"),
        Row(r"(?:kernel/dmesg|var_log/|kubelet/.*\.log|containerd/|docker/|nodeadm/|ipamd/.*\.log|sandbox-image/).*",
            how=How.LOG),
        Row(r"(?:system|storage|gpu|ipamd|kubelet|cni|throttles?|kernel|xfs|lsof|soci[^/]*)/.*", how=How.ASIDE),
    ),
)  # fmt: skip
