"""Which sorts of fault follow from which: a consequence is listed after the cause that the evidence
also shows.

Only known consequences are listed, one step at a time: a plugin's agent that cannot reach
the API server follows from missing rules of services, and routes that nobody installs follow from
the agent. An engine that finds no range for one network stops halfway, and the tunnel's device that
it leaves behind exists already at its next try.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from podpath.checks.category import Category

_PATHS = frozenset({
    Category.NO_ROUTE, Category.WRONG_ROUTE, Category.POLICY_ROUTING, Category.OVERLAPPING_RANGES,
    Category.REVERSE_PATH_FILTER, Category.IP_FORWARD, Category.FORWARD_POLICY,
    Category.HOST_FIREWALL, Category.NETWORK_POLICY, Category.RULE_ORDER,
    Category.MASQUERADE_MISSING, Category.BRIDGE_NETFILTER, Category.CONNTRACK_FULL,
    Category.NEIGHBOUR_UNRESOLVED, Category.NEIGHBOUR_TABLE_FULL, Category.DUPLICATE_ADDRESS,
    Category.LINK_DOWN, Category.MTU, Category.TUNNEL_CHECKSUM, Category.TUNNEL_BLOCKED,
    Category.TUNNEL_ENDPOINT, Category.TUNNEL_CONFIGURATION, Category.CLOUD_NETWORK,
})  # fmt: skip
"""What breaks the path of packets."""
_SERVICES = frozenset(
    {
        Category.SERVICE_RULES_MISSING,
        Category.KUBE_PROXY,
        Category.IPVS,
        Category.STALE_DNAT,
        Category.NO_ENDPOINTS,
    }
)

FOLLOWS: Mapping[Category, frozenset[Category]] = MappingProxyType({
    Category.NO_ENDPOINTS: _PATHS | {Category.NO_LISTENER, Category.APPLICATION, Category.CNI_AGENT,
        Category.CNI_CONFIGURATION, Category.CNI_PROGRAM, Category.IPAM, Category.WRONG_PORT},
    Category.DNS_SERVER: _PATHS | _SERVICES | {
        Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION, Category.CNI_AGENT,
    },
    Category.DNS_UPSTREAM: _PATHS | {Category.DNS_CONFIGURATION},
    Category.APPLICATION: _PATHS | _SERVICES | {
        Category.DNS_SERVER, Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION,
        Category.NAME_OR_CERTIFICATE,
    },
    Category.CNI_AGENT: _PATHS | _SERVICES | {Category.KERNEL_MODULE, Category.RULESET_FAILURE,
        Category.NAME_OR_CERTIFICATE, Category.SYSCTL, Category.POD_CIDR},
    Category.CNI_CONFIGURATION: frozenset({
        Category.CNI_AGENT, Category.CNI_PROGRAM, Category.POD_CIDR,
    }),
    Category.CNI_PROGRAM: frozenset({
        Category.CNI_AGENT, Category.CNI_CONFIGURATION, Category.IPAM, Category.POD_CIDR,
        Category.BRIDGE_CONFIGURATION,
    }),
    Category.ROUTE_DISTRIBUTION: frozenset({
        Category.CNI_AGENT, Category.HOST_FIREWALL, Category.CLOUD_NETWORK, Category.TUNNEL_BLOCKED,
        Category.DUPLICATE_ADDRESS,
    }),
    Category.NO_ROUTE: frozenset({
        Category.CNI_AGENT, Category.ROUTE_DISTRIBUTION, Category.NETWORK_MANAGER,
        Category.LINK_DOWN, Category.POD_CIDR, Category.IPV6,
    }),
    Category.NEIGHBOUR_UNRESOLVED: frozenset({
        Category.LINK_DOWN, Category.ARP_WRONG_ANSWER, Category.MAC_NOT_ALLOWED, Category.VLAN,
        Category.DUPLICATE_ADDRESS, Category.NEIGHBOUR_TABLE_FULL, Category.REVERSE_PATH_FILTER,
        Category.BRIDGE_CONFIGURATION, Category.TUNNEL_ENDPOINT, Category.WRONG_ROUTE,
        Category.BONDING, Category.NIC_DRIVER,
    }),
    Category.LINK_DOWN: frozenset({
        Category.NIC_DRIVER, Category.NETWORK_MANAGER, Category.BONDING,
    }),
    Category.SERVICE_RULES_MISSING: frozenset({
        Category.KUBE_PROXY, Category.RULESET_FAILURE, Category.BACKEND_MISMATCH,
        Category.KERNEL_MODULE, Category.NO_ENDPOINTS,
    }),
    Category.KUBE_PROXY: frozenset({
        Category.RULESET_FAILURE, Category.KERNEL_MODULE, Category.NAME_OR_CERTIFICATE,
        Category.SYSCTL,
    }),
    Category.RULESET_FAILURE: frozenset({Category.KERNEL_MODULE, Category.BACKEND_MISMATCH}),
    Category.IPVS: frozenset({Category.KERNEL_MODULE, Category.KUBE_PROXY}),
    Category.TUNNEL_BLOCKED: frozenset({
        Category.HOST_FIREWALL, Category.CLOUD_NETWORK, Category.TUNNEL_CHECKSUM,
        Category.TUNNEL_ENDPOINT, Category.NO_ROUTE,
    }),
    Category.TUNNEL_CONFIGURATION: frozenset({Category.IPAM, Category.OVERLAPPING_RANGES}),
    Category.CONNTRACK_INVALID: frozenset({
        Category.ASYMMETRIC_PATH, Category.TUNNEL_CHECKSUM, Category.BPF,
    }),
    Category.DUPLICATE_ADDRESS: frozenset({
        Category.LOAD_BALANCER, Category.IPVS, Category.KUBE_PROXY,
    }),
    Category.LOAD_BALANCER: frozenset({
        Category.SYSCTL, Category.NO_ENDPOINTS, Category.NAME_OR_CERTIFICATE,
        Category.CLOUD_NETWORK,
    }),
    Category.MASQUERADE_MISSING: frozenset({
        Category.RULESET_FAILURE, Category.CNI_AGENT, Category.CNI_CONFIGURATION,
    }),
})  # fmt: skip
"""By sort of fault, the sorts that are known to bring it about."""


def follows_from(consequence: Iterable[Category], cause: Iterable[Category]) -> bool:
    """Tell whether a fault of these sorts may follow from one of those, and those not from it."""
    later, earlier = frozenset(consequence), frozenset(cause)
    return not later & earlier and _leads(earlier, later) and not _leads(later, earlier)


def _leads(earlier: frozenset[Category], later: frozenset[Category]) -> bool:
    return any(FOLLOWS.get(category, frozenset()) & earlier for category in later)
