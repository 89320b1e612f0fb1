"""What the agents of networks say: flannel, Calico, Cilium, Weave, kube-router, kube-ovn, Multus,
the clouds' own.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_AGENT_ACCOUNT = (
    r"[\w.-]*(?:calico|canal|tigera|cilium|hubble|flannel|weave|kube-router|kube-proxy|antrea|ovn|"
    r"sdn|multus|whereabouts|aws-node|azure-cn|cni|coredns|kube-dns|node-?local-?dns|metallb|"
    r"network)[\w.-]*"
)
"""Accounts of programs that serve the network; what an application may not read breaks no path."""

_ADDRESS = r"[0-9a-fA-F:.]+"

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.SUBNET_FILE_MISSING,
        "flannel/subnet.env: no such file",
        r"open (?P<file>\S*subnet\.env): no such file",
    ),
    make_row(
        MessageKind.AGENT_SOCKET_MISSING,
        "calico/nodename: no such file",
        r"(?P<file>/\S*calico/nodename): no such file",
    ),
    make_row(
        MessageKind.AGENT_SOCKET_MISSING,
        "unable to connect to Cilium",
        r"connect to (?P<agent>Cilium) (?:daemon|agent)",
    ),
    make_row(
        MessageKind.AGENT_SOCKET_MISSING,
        "dial unix ",
        r"dial unix (?P<file>/\S*(?P<agent>cilium|kube-ovn|multus|antrea|calico|spiderpool|terway|"
        r"galaxy)\S*): connect: (?:no such file|connection refused)",
    ),
    make_row(
        MessageKind.AGENT_SOCKET_MISSING,
        "connection refused",
        (
            r"(?:127\.0\.0\.1|localhost):(?P<port>50051|50052|6784|10090|10091)[\"/: ].*connection "
            r"refused"
        ),
    ),
    make_row(MessageKind.AGENT_SOCKET_MISSING, "o flannel subnet", r"[Nn]o flannel subnet"),
    make_row(
        MessageKind.AGENT_SOCKET_MISSING,
        "calico/node container is running",
        r"(?P<agent>calico)/node container is running",
    ),
    make_row(
        MessageKind.TUN_DEVICE_MISSING,
        "/dev/net/tun",
        r"(?:open |open TUN/TAP dev |open ['\"]?|CreateTUN\S* )(?P<file>/dev/net/tun)['\"]?\W.*?"
        r"(?P<error>[Nn]o such (?:file or directory|device)|[Oo]peration not permitted|"
        r"[Pp]ermission denied|does not exist)",
    ),
    make_row(
        MessageKind.TUN_DEVICE_MISSING,
        "/dev/net/tun does not exist",
        r"(?P<file>/dev/net/tun) (?P<error>does not exist)",
    ),
    make_row(
        MessageKind.POD_RANGE_MISSING,
        "pod cidr not assigned",
        r"(?:node [\\\"]*(?P<node>[\w.-]+)[\\\"]* )?pod cidr not assigned",
    ),
    make_row(
        MessageKind.POD_RANGE_MISSING, "PodCIDR", r"[Rr]equired IPv[46] PodCIDRs? not available"
    ),
    make_row(
        MessageKind.POD_RANGE_MISSING,
        "PodCIDR",
        r"(?:does not have netConfig.*lack of PodCIDR|node.*has no PodCIDR)",
    ),
    make_row(
        MessageKind.POD_RANGE_MISSING,
        "CIDR",
        r"CIDRNotAvailable|CIDRAssignmentFailed|CIDR allocation failed; there are no",
    ),
    make_row(
        MessageKind.POD_RANGE_MISSING,
        "pod CIDR",
        (
            r"(?:[Ff]ailed to get pod CIDR|pod CIDR (?:is )?not (?:set|assigned|available)|"
            r"[Nn]o pod CIDR)"
        ),
    ),
    make_row(
        MessageKind.POD_RANGE_MISSING,
        "allocate cidr from cluster cidr",
        (
            r"failed to allocate cidr from cluster cidr.*(?:no remaining CIDRs|range is full|"
            r"out of range)"
        ),
    ),
    make_row(
        MessageKind.INTERFACE_NOT_FOUND,
        "nterface",
        r"[Cc]ould not find valid interface matching (?P<device>[\w.-]+)|[Ff]ailed to find any "
        r"valid interface to use|[Uu]nable to (?:get default interface|find default route)|"
        r"failed to get default interface|[Ff]ailed to find interface (?:with name |to use )?"
        r"(?P<name>[\w.-]*)|error looking up interface (?P<other>[\w.-]+)",
    ),
    make_row(
        MessageKind.INTERFACE_NOT_FOUND,
        "auto-detect",
        r"[Uu]nable to auto-?detect (?:an|any)(?: valid)? IPv[46] address(?:es)?",
    ),
    make_row(
        MessageKind.INTERFACE_NOT_FOUND,
        "direct routing device",
        r"nable to determine (?:BPF NodePort )?direct routing device",
    ),
    make_row(
        MessageKind.INTERFACE_NOT_FOUND,
        "Unable to find default route",
        "Unable to find default route",
    ),
    make_row(
        MessageKind.ROUTE_CONFLICT,
        "overlaps with existing route",
        r"[Nn]etwork (?P<range>[\d./]+) overlaps with existing route (?P<route>[\d./]+)",
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "BGP not established with",
        rf"BGP not established with (?P<peer>{_ADDRESS})",
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "BGP",
        r"(?:failed to (?:establish|create) BGP session|BGP session (?:down|failed)|"
        r"bgp_state=(?:ACTIVE|IDLE)).*?(?P<peer>\d+\.\d+\.\d+\.\d+)?",
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "BGP Error: ",
        (
            r"BGP Error: (?P<error>Hold timer expired|Bad peer AS|Bad BGP identifier|"
            r"Unacceptable hold time|Authentication failure)"
        ),
    ),
    make_row(
        MessageKind.AGENT_FORBIDDEN,
        "is forbidden: User",
        r"(?P<resource>[\w.\"\\-]+) is forbidden: User [\\\"]*system:"
        rf"(?:serviceaccount:(?P<namespace>[\w.-]+):(?P<account>{_AGENT_ACCOUNT})|"
        rf"(?P<user>node:[\w.-]+|{_AGENT_ACCOUNT}))[\\\"]* cannot (?P<verb>\w+) resource",
    ),
    make_row(
        MessageKind.AGENT_UNAUTHORIZED,
        "connection is unauthorized",
        r"connection is unauthorized: (?P<error>Unauthorized|[\w ]+)",
    ),
    make_row(
        MessageKind.CLOUD_CALL_DENIED,
        "not authorized to perform",
        r"not authorized to perform:? (?P<action>ec2:\w+|elasticloadbalancing:\w+)",
    ),
    make_row(
        MessageKind.CLOUD_CALL_DENIED,
        "UnauthorizedOperation",
        (
            r"(?P<action>\w*(?:NetworkInterface|PrivateIp)\w*).*?UnauthorizedOperation|"
            r"UnauthorizedOperation"
        ),
    ),
    make_row(
        MessageKind.CLOUD_CALL_DENIED,
        "AuthorizationFailed",
        r"AuthorizationFailed.*?action '(?P<action>Microsoft\.[\w./-]+)'",
    ),
    make_row(MessageKind.REVERSE_PATH_LOOSE, "Kernel's RPF check is set to 'loose'"),
    make_row(
        MessageKind.NODE_ADDRESS_CONFLICT,
        "already using the IPv4 address",
        (
            r"[Cc]alico node '(?P<node>[\w.-]+)' is already using the IPv4 address "
            rf"(?P<address>{_ADDRESS})"
        ),
    ),
    make_row(
        MessageKind.BPF_DROP,
        " drop (",
        r"drop \((?!verdict drop\))(?P<reason>[^)]+)\)"
        r"(?:.*?identity (?P<from>[\w:-]+)->(?P<to>[\w:-]+): (?P<src>\S+) -> (?P<dst>\S+))?",
    ),
    make_row(
        MessageKind.BPF_DROP,
        " DROPPED ",
        r"(?P<src>[\w./:-]+) (?:\((?P<from>[^)]*)\) )?(?:<>|->) (?P<dst>[\w./:-]+) "
        r"(?:\((?P<to>[^)]*)\) )?(?P<reason>[A-Z][\w ]+?) DROPPED ",
    ),
    make_row(
        MessageKind.BPF_DROP,
        "Policy denied",
        r"(?P<src>\S+) .*?(?P<reason>Policy denied(?: by denylist)?) (?:DROPPED|by)",
    ),
    make_row(
        MessageKind.BPF_DROP, "POLICY_DENIED", r"drop_reason(?:_desc)?\W+(?P<reason>POLICY_DENIED)"
    ),
    make_row(
        MessageKind.BPF_BACKEND_MISSING,
        "0.0.0.0:0 (",
        (
            rf"(?P<service>{_ADDRESS}:\d+)(?:/\w+)?(?: \(\d+\))? +0\.0\.0\.0:0 \(\d+\) \(0\) \["
            r"(?P<sort>[^\]]*)\]"
        ),
    ),
    make_row(
        MessageKind.BPF_LOAD_FAILED,
        "BPF",
        r"[Uu]nable to compile BPF program|[Ff]ailed to load (?:a )?BPF|"
        r"BPF (?:program|verifier|template object).*(?:failed|error)|"
        r"[Uu]nable to mount BPF filesystem|BPF filesystem is not mounted",
    ),
    make_row(
        MessageKind.GATEWAY_UNREACHABLE,
        "gateway",
        r"(?:failed to ping|network not ready after \d+ ping to) "
        r"(?:ovn0 |the )?(?:join )?gateway (?P<address>\[?\d[0-9a-fA-F:.]+)|"
        r"ovn0 gateway not ready",
    ),
    make_row(MessageKind.PEERS_INCONSISTENT, "was seeded by different peers"),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "assign an IP address to container",
        r"(?:failed|unable) to assign an IP address to container",
    ),
    make_row(MessageKind.ADDRESSES_EXHAUSTED, "InsufficientFreeAddressesInSubnet"),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "IPv4 addresses",
        r"[Aa]ssigned 0 out of \d+ requested IPv4 addresses|"
        r"no available IPv4 addresses on this network's address pools: (?P<range>\S+)",
    ),
    make_row(MessageKind.ADDRESSES_EXHAUSTED, "per host block limit", "per host block limit"),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        " IP",
        r"[Nn]o more (?:free )?IPs? (?:addresses )?available|IP_SPACE_EXHAUSTED|"
        r"[Nn]o IPs? (?:addresses )?available in pools?|"
        r"[Cc]ould not allocate IP in range(?:[^:]*: ip: (?P<range>[\d./-]+))?|[Nn]o available "
        r"IPs? (?:addresses|left)|[Aa]ll \d+ IP addresses (?:are )?in use",
    ),
    make_row(MessageKind.ADDRESSES_EXHAUSTED, "NoAvailableAddress", "NoAvailableAddress"),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "range is full",
        r"(?:IP|ip|address|provided) ?range is full",
    ),
    make_row(MessageKind.ADDRESSES_EXHAUSTED, "SubnetFull"),
    make_row(MessageKind.ADDRESSES_EXHAUSTED, "SubnetIsFull"),
    make_row(
        MessageKind.POOLS_OVERLAP,
        "overlaps with",
        (
            r"[Ii][Pp] ?[Pp]ool.{0,60}? overlaps with (?:another |existing )?(?:IPPool|pool|CIDR|"
            r"cluster)"
        ),
    ),
    make_row(MessageKind.BGP_SWITCHED_OFF, "BGP Control Plane is disabled"),
)
"""A pod that cannot reach its own agent says so in many spellings; which agent it is stands in its
socket or its file.
"""
