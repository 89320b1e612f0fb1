"""What tells of a host's own network: leases, ranges, routes that are wanted or refused,
reverse-path rules, child networks.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_ADDRESS4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_PREFIX4 = rf"{_ADDRESS4}/\d{{1,2}}"
_MAC = r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}"

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.LEASE_GIVEN,
        "DHCP",
        rf"DHCP(?:ACK|OFFER)(?:\(\S+\))? (?:on )?(?P<address>{_ADDRESS4}) (?:to )?(?P<mac>{_MAC})",
    ),
    make_row(
        MessageKind.REVERSE_PATH_LOG,
        "IN=",
        r"(?P<prefix>\S*(?:rpfilter|rp_filter|RPFILTER|RP_FILTER)\S*).*?IN=(?P<device>\S*) OUT=",
    ),
    make_row(MessageKind.REVERSE_PATH_LOG, "rpfilter_DROP", r"rpfilter_DROP: IN=(?P<device>\S*)"),
    make_row(
        MessageKind.ROUTE_WANTED,
        "rout",
        (
            rf"\broute\b.*?(?P<prefix>{_PREFIX4})(?: via (?P<gateway>{_ADDRESS4}))?"
            r"(?: dev (?P<device>\S+))?"
        ),
    ),
    make_row(
        MessageKind.ROUTE_REFUSED,
        "Error: ",
        r"Error: (?P<error>Nexthop has invalid gateway|Invalid prefix for given prefix length|"
        r"Device for nexthop is not up|Gateway can not be a local address|Invalid gateway address)",
    ),
    make_row(
        MessageKind.ROUTE_REFUSED,
        "SIOCADDRT: ",
        r"SIOCADDRT: (?P<error>Network is unreachable|Invalid argument|No such device)",
    ),
    make_row(MessageKind.ROUTE_TABLE_EMPTY, "FIB table does not exist"),
    make_row(
        MessageKind.NAT_ADDRESS_USED,
        "10.0.2.15",
        r"(?P<what>[Ee]xternal address|Using interface|public-ip|InternalIP|PublicIP|"
        r"vxlan id \d+ local|--node-ip).{0,60}?(?P<address>\b10\.0\.2\.15)\b",
    ),
    make_row(
        MessageKind.RANGE_WANTED,
        "cidr",
        (
            r"(?P<what>--cluster-cidr|--pod-network-cidr|--service-cidr|--cluster-cidrs)[= ]\"?"
            rf"(?P<prefix>{_PREFIX4})"
        ),
    ),
    make_row(
        MessageKind.RANGE_WANTED,
        "-ip-range",
        rf"(?P<what>--service-cluster-ip-range)[= ](?P<prefix>{_PREFIX4})",
    ),
    make_row(
        MessageKind.RANGE_WANTED,
        "ubnet: ",
        rf"(?P<what>podSubnet|serviceSubnet): \"?(?P<prefix>{_PREFIX4})",
    ),
    make_row(
        MessageKind.RANGE_WANTED,
        "lusterCIDR",
        rf"(?P<what>clusterCIDR):? \"?(?P<prefix>{_PREFIX4})",
    ),
    make_row(
        MessageKind.RANGE_WANTED,
        "FLANNEL_NETWORK",
        rf"(?P<what>FLANNEL_NETWORK)=(?P<prefix>{_PREFIX4})",
    ),
    make_row(
        MessageKind.RANGE_WANTED,
        '"Network"',
        rf"\"(?P<what>Network)\": ?\"(?P<prefix>{_PREFIX4})\"",
    ),
    make_row(
        MessageKind.CHILD_NETWORK,
        "vlan",
        (
            r"docker network create .*?(?:-d|--driver)[= ](?P<driver>macvlan|ipvlan).*?"
            r"(?:parent=(?P<device>\S+))"
        ),
    ),
    make_row(
        MessageKind.CHILD_NETWORK, '"Driver": "', r"\"Driver\": \"(?P<driver>macvlan|ipvlan)\""
    ),
    make_row(MessageKind.CHILD_NETWORK, '"type"', r"\"type\": ?\"(?P<driver>macvlan|ipvlan)\""),
    make_row(MessageKind.CHILD_NETWORK, "driver: ", r"^\s*driver: (?P<driver>macvlan|ipvlan)\s*$"),
    make_row(
        MessageKind.LEASE_NOT_SERVED,
        "No subnet declaration for ",
        r"No subnet declaration for (?P<device>[\w.:-]+) \((?P<address>[^)]*)\)",
    ),
    make_row(MessageKind.LEASE_NOT_SERVED, "Not configured to listen on any interfaces"),
    make_row(
        MessageKind.LEASE_NOT_SERVED,
        " which has no address",
        r"DHCP packet received on (?P<device>[\w.-]+) which has no address",
    ),
)
