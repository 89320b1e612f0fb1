"""What stands between a service and its pods says: kube-proxy, IPVS, MetalLB, kube-vip, keepalived,
clouds' controllers.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.PROXY_SYSCTL_DENIED,
        "/proc/sys/net/",
        r"open (?P<file>/proc/sys/net/\S*(?:nf_conntrack\w*|route_localnet|ip_vs\S*|"
        r"vs/\w+)): (?P<error>permission denied|read-only file system)",
    ),
    make_row(
        MessageKind.PROXY_MODULES_MISSING,
        "ipvs proxier",
        r"[Cc]an'?t use (?:the )?ipvs proxier|[Cc]annot use ipvs proxier",
    ),
    make_row(MessageKind.PROXY_MODULES_MISSING, "IPVS proxier", r"[Cc]an'?t use the IPVS proxier"),
    make_row(
        MessageKind.PROXY_MODULES_MISSING,
        "ernel modules",
        (
            r"(?:required )?(?:IPVS )?[Kk]ernel modules are not loaded|following required "
            r"(?:IPVS )?kernel modules"
        ),
    ),
    make_row(
        MessageKind.PROXY_CONFIGURATION_INVALID,
        "kubeproxy.config.k8s.io",
        r"kubeproxy\.config\.k8s\.io.*?(?P<error>unknown field|strict decoding error|"
        r"cannot unmarshal)|(?P<other>no kind \S+ is registered for version "
        r"\S*kubeproxy\.config\.k8s\.io[^\s\\\"]*)",
    ),
    make_row(
        MessageKind.PROXY_CONFIGURATION_INVALID,
        "blank means the best-available proxy",
        (
            r"Invalid value: \\*\"(?P<mode>[^\"\\]*)\\*\": must be .*blank means the "
            r"best-available proxy"
        ),
    ),
    make_row(
        MessageKind.PROXY_CONFIGURATION_INVALID,
        "nknown proxy mode",
        r"[Uu]nknown proxy mode[: ]*\"?(?P<mode>\w*)",
    ),
    make_row(MessageKind.RESTORE_FAILED, "Failed to execute iptables-restore"),
    make_row(
        MessageKind.RESTORE_FAILED,
        "Failed to execute",
        r"Failed to execute iptables-restore|execute.*nft.*failed",
    ),
    make_row(MessageKind.RESTORE_FAILED, "Sync failed", r"Sync failed"),
    make_row(
        MessageKind.BALANCER_WITHOUT_ADDRESS,
        "llocate IP",
        (
            r"[Ff]ailed to allocate IP for [\\\"]*(?P<service>[\w./-]+)[\\\"]*: "
            r"(?P<error>no available IPs|[^\"\\]+)"
        ),
    ),
    make_row(
        MessageKind.BALANCER_WITHOUT_ADDRESS, "no available IPs", "no available IPs(?: in pool)?"
    ),
    make_row(
        MessageKind.BALANCER_WITHOUT_ADDRESS,
        "is not allowed in config",
        r"(?P<address>[0-9a-fA-F:.]+)\W* is not allowed in config",
    ),
    make_row(
        MessageKind.BALANCER_FAILED,
        "yncing load balancer",
        r"Error syncing load balancer: (?:failed to ensure load balancer: )?(?P<error>.{0,160})",
    ),
    make_row(
        MessageKind.BALANCER_FAILED,
        "suitable subnets for creating the ELB",
    ),
    make_row(
        MessageKind.VRRP_CONFLICT,
        "VRID",
        r"(?:ip address associated with VRID.{0,6}? ?\d* ?not present in(?: received packet)?"
        r"(?: : (?P<address>[\d.:a-f]+))?|VIP associated with VRID mismatch)",
    ),
    make_row(
        MessageKind.VRRP_CONFLICT,
        "VRRP packet",
        (
            r"bogus VRRP packet received on (?P<device>\S+)|(?:received|ignoring) an? (?:invalid|"
            r"unexpected) VRRP packet"
        ),
    ),
    make_row(MessageKind.VRRP_CONFLICT, "received an invalid passwd", "received an invalid passwd"),
)
