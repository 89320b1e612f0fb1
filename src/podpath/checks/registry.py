"""Every fault that podpath knows by name: its manual page, and what looks for it in a case.

A fault without a function is seen by walks alone; the diagnosis names it by the step that decided.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from itertools import chain
from types import ModuleType
from typing import NamedTuple

from podpath.checks.between import (
    address_on_two_nodes,
    mtu_shrinks,
    pod_range,
    pod_ranges_overlap,
    pod_route,
    tunnel_end,
    tunnel_mac,
    tunnel_network,
)
from podpath.checks.captures import (
    answer_on_other_device,
    answered_from_elsewhere,
    asymmetric_path,
    handshake_repeated,
    icmp_error,
    lost_ack,
    lost_between,
    one_way,
    path_mtu,
    refused,
    reset_storm,
    unanswered,
    untranslated_reply,
)
from podpath.checks.category import Category
from podpath.checks.cni import (
    address_in_no_set,
    agent_dies,
    cilium_denies,
    cni_chain,
    cni_folder,
    cni_leftover,
    node_address_of_bridge,
    node_address_twice,
    pod_address_twice,
    pod_cidr,
    runtime_configuration,
    runtime_network,
    two_plugins,
    written_in_turn,
)
from podpath.checks.conntrack import (
    conntrack_full,
    insert_failed,
    retries_stick,
    source_unanswered,
    stale_conntrack,
    state_in_raw,
    tracking_drops,
    untracked,
    untracked_nat,
    untranslated_entry,
)
from podpath.checks.dns import (
    aaaa_denied,
    dns_forward,
    dns_without_endpoints,
    external_name,
    host_network_dns,
    name_known_elsewhere,
    name_server_address,
    pod_loopback_resolver,
    resolver_unusable,
    search_domain_answers,
    server_without_upstream,
    zone_record,
    zone_taken,
)
from podpath.checks.finding import Finding
from podpath.checks.host import (
    cloud_deny,
    cloud_forwarding_off,
    managed_by_host,
    program_dies,
    queue_overrun,
    state_changed,
    two_managers,
    unit_not_running,
    unknown_error,
)
from podpath.checks.host.switches import SWITCHES
from podpath.checks.links import (
    address_conflict,
    address_of_two_hosts,
    arp_answered_twice,
    arp_ignore,
    arp_off,
    bond_slave_down,
    bridge_port_addressed,
    bridge_port_blocked,
    checksum_received,
    configured_address_wrong,
    configured_device_missing,
    configured_twice,
    duplicate_address,
    enslaved_route,
    foreign_arp,
    gateway_silent,
    gratuitous_arp,
    lease_given_twice,
    lease_range_outside,
    lease_unanswered,
    link_mode_poor,
    mac_flap,
    mac_on_two_hosts,
    macvlan_parent,
    neighbour_failed,
    neighbour_table_limit,
    neighbour_unanswered,
    own_address_received,
    pod_outside_bridge,
    program_device_missing,
    uplink_down,
    uplink_hears_nothing,
    veth_without_bridge,
    virtual_switch_drops_mac,
    vlan_on_one_port,
    wrong_mac,
    xdp_program,
)
from podpath.checks.looks import Look
from podpath.checks.mesh import mesh_authorization, mesh_mtls
from podpath.checks.message_check import MessageCheck
from podpath.checks.message_file import read_checks
from podpath.checks.netfilter import (
    accept_elsewhere,
    address_banned,
    answers_without_request,
    both_backends,
    bridge_calls_disabled,
    bridge_netfilter,
    bridge_ports_dropped,
    catch_all,
    chain_order,
    cilium_masquerades,
    client_hidden,
    dead_dnat,
    docker_network_option,
    drop_counter,
    dropped_by_rule,
    empty_set,
    firewall_zone,
    forward_not_accepted,
    forward_policy,
    hairpin,
    hairpin_off,
    host_prohibits,
    logged_drop,
    masquerade_chain_empty,
    masquerade_coverage,
    masquerade_pods,
    masquerade_range,
    masqueraded_before_ipsec,
    missing_masquerade,
    native_forward_drops,
    network_policy,
    peer_not_accepted,
    policy_drop,
    policy_own_node,
    policy_unlike_rules,
    policy_without_node_dns,
    pool_without_nat,
    port_not_accepted,
    private_source_leaves,
    route_localnet,
    rule_bloat,
    rules_flushed,
    shadowed_accept,
    shadowed_dnat,
    snat_source,
    ufw_not_admitted,
    works_without_firewall,
    zone_changed,
)
from podpath.checks.routing import (
    default_by_link_local,
    device_forwarding,
    forwarding_switched_off,
    gateway_outside_network,
    host_route_diverts,
    ip_forward,
    link_local_by_gateway,
    martian_source,
    networks_overlap,
    no_route,
    own_source_received,
    path_mtu_locked,
    pools_covered,
    range_by_default,
    ranges_overlap,
    route_by_loopback,
    route_gateway_refused,
    route_host_bits,
    route_refused,
    route_without_carrier,
    router_advertisements_ignored,
    routes_compete,
    routing_loop,
    rp_filter,
    rpfilter_rule,
    rule_lacks_address,
    rule_to_vpn,
    rules_without_main,
    second_card_unanswered,
    shadowed_range,
    source_refused,
    table_without_network,
    ttl_falls,
    tunnel_by_pod,
    vpn_takes_range,
)
from podpath.checks.services import (
    balancer_address_on_node,
    balancer_pending,
    bound_to_loopback,
    endpoint_not_local,
    endpoint_not_ready,
    endpoint_refuses,
    host_port_without_portmap,
    ip_families,
    ipvs_address,
    ipvs_captured,
    ipvs_servers,
    listener_gone,
    local_traffic_policy,
    loopback_listener,
    no_endpoints,
    no_listener,
    no_local_endpoints,
    node_port_confused,
    node_port_missing,
    pool_not_announced,
    pool_unknown,
    port_taken,
    port_unheard,
    proxy_behind,
    published_loopback,
    selector_mismatch,
    service_address_old,
    service_rejected,
    service_rules_absent,
    service_unpinged,
    stale_endpoint,
    strict_arp,
    target_port,
    workloads_share_labels,
)
from podpath.checks.switch_check import SwitchCheck
from podpath.checks.tunnels import (
    allowed_lacks_route,
    allowed_twice,
    checksum_offload,
    jumbo_uplink,
    mtu_above_uplink,
    packet_size,
    peer_name_twice,
    tunnel_checksum_offload,
    tunnel_differs,
    tunnel_hears_nothing,
    tunnel_over_nat_address,
    virtual_address_detected,
    vtep_mac_twice,
    vtep_without_entry,
    vxlan_mtu,
    vxlan_outer,
    wireguard_silent,
)
from podpath.net.data_files import read_manual
from podpath.node.case import Case


class Check(NamedTuple):
    """A fault that has a name."""

    name: str
    page: str
    """Its manual page: the docstring of its module, or a row's texts."""
    categories: tuple[Category, ...]
    """What sorts of root cause it can name."""
    run: Callable[[Case], Iterator[Finding]] | None
    """What looks for it in the node; None where nothing does."""
    look: Look | None = None
    """What looks for it in captures alone; None where they cannot show it."""

    @property
    def found_by(self) -> str:
        """Say who finds it: `a check`, `a walk`, `a capture`, or several of them."""
        ways = [
            name
            for name, way in (("a check", self.run), ("a capture", self.look))
            if way is not None
        ]
        return " or ".join(ways or ["a walk"])

    @property
    def confirm(self) -> tuple[str, ...]:
        """The commands of its page that confirm it, one a line, without what is remarked on
        them.
        """
        section = self.page.partition("\nHow to confirm\n")[2].partition("\n\n")[0]
        return tuple(
            command
            for line in section.splitlines()
            if (command := line.partition("  #")[0].strip())
        )

    @property
    def summary(self) -> str:
        """The page's first paragraph in one line, without the name."""
        return " ".join(self.page.partition("\n\n")[0].split()).partition(": ")[2]


def _of_module(module: ModuleType) -> Check:
    run, look = getattr(module, "check", None), getattr(module, "look", None)
    return Check(module.NAME, read_manual(module), module.CATEGORIES, run, look)


def _of_row(row: MessageCheck | SwitchCheck) -> Check:
    return Check(row.name, row.page, row.categories, row.find)


MODULES: tuple[ModuleType, ...] = (
    chain_order,
    rp_filter,
    bridge_netfilter,
    foreign_arp,
    enslaved_route,
    cni_chain,
    cni_folder,
    dropped_by_rule,
    forward_policy,
    ip_forward,
    no_route,
    routing_loop,
    neighbour_failed,
    arp_ignore,
    missing_masquerade,
    untranslated_reply,
    answered_from_elsewhere,
    hairpin,
    hairpin_off,
    untracked,
    source_refused,
    route_localnet,
    packet_size,
    vxlan_mtu,
    stale_conntrack,
    retries_stick,
    source_unanswered,
    conntrack_full,
    neighbour_table_limit,
    no_endpoints,
    no_listener,
    selector_mismatch,
    target_port,
    loopback_listener,
    port_taken,
    port_unheard,
    published_loopback,
    network_policy,
    address_in_no_set,
    pod_cidr,
    pod_address_twice,
    dns_forward,
    host_network_dns,
    search_domain_answers,
    aaaa_denied,
    strict_arp,
    mesh_mtls,
    mesh_authorization,
    host_port_without_portmap,
    ip_families,
    stale_endpoint,
    external_name,
    node_address_twice,
    docker_network_option,
    pool_without_nat,
    local_traffic_policy,
    node_port_confused,
    node_port_missing,
    pod_loopback_resolver,
    duplicate_address,
    both_backends,
    accept_elsewhere,
    catch_all,
    policy_drop,
    native_forward_drops,
    logged_drop,
    peer_not_accepted,
    forward_not_accepted,
    port_not_accepted,
    shadowed_accept,
    shadowed_dnat,
    masqueraded_before_ipsec,
    bridge_ports_dropped,
    answers_without_request,
    dead_dnat,
    untranslated_entry,
    untracked_nat,
    state_in_raw,
    masquerade_pods,
    cilium_masquerades,
    masquerade_range,
    masquerade_coverage,
    private_source_leaves,
    snat_source,
    endpoint_not_local,
    no_local_endpoints,
    service_rejected,
    ipvs_address,
    ipvs_servers,
    ipvs_captured,
    cloud_deny,
    rule_bloat,
    empty_set,
    tracking_drops,
    insert_failed,
    firewall_zone,
    ufw_not_admitted,
    drop_counter,
    rules_flushed,
    wrong_mac,
    answer_on_other_device,
    one_way,
    lost_between,
    lost_ack,
    handshake_repeated,
    path_mtu,
    path_mtu_locked,
    reset_storm,
    refused,
    unanswered,
    icmp_error,
    vlan_on_one_port,
    xdp_program,
    mac_flap,
    gratuitous_arp,
    vxlan_outer,
    asymmetric_path,
    checksum_received,
    checksum_offload,
    route_refused,
    link_local_by_gateway,
    host_route_diverts,
    pools_covered,
    range_by_default,
    vpn_takes_range,
    route_host_bits,
    route_gateway_refused,
    route_without_carrier,
    route_by_loopback,
    rules_without_main,
    rpfilter_rule,
    device_forwarding,
    forwarding_switched_off,
    vtep_mac_twice,
    vtep_without_entry,
    virtual_address_detected,
    allowed_lacks_route,
    tunnel_differs,
    peer_name_twice,
    mac_on_two_hosts,
    address_of_two_hosts,
    configured_twice,
    tunnel_over_nat_address,
    networks_overlap,
    ranges_overlap,
    arp_answered_twice,
    lease_given_twice,
    uplink_down,
    uplink_hears_nothing,
    configured_device_missing,
    gateway_outside_network,
    bridge_port_addressed,
    configured_address_wrong,
    program_device_missing,
    lease_range_outside,
    zone_record,
    zone_taken,
    name_server_address,
    name_known_elsewhere,
    resolver_unusable,
    server_without_upstream,
    two_managers,
    cloud_forwarding_off,
    workloads_share_labels,
    balancer_pending,
    pool_not_announced,
    pool_unknown,
    bound_to_loopback,
    node_address_of_bridge,
    runtime_configuration,
    runtime_network,
    two_plugins,
    written_in_turn,
    allowed_twice,
    bond_slave_down,
    gateway_silent,
    neighbour_unanswered,
    lease_unanswered,
    link_mode_poor,
    pod_outside_bridge,
    veth_without_bridge,
    arp_off,
    masquerade_chain_empty,
    shadowed_range,
    bridge_port_blocked,
    mtu_above_uplink,
    tunnel_hears_nothing,
    wireguard_silent,
    macvlan_parent,
    tunnel_checksum_offload,
    balancer_address_on_node,
    table_without_network,
    rule_to_vpn,
    default_by_link_local,
    routes_compete,
    managed_by_host,
    ttl_falls,
    own_source_received,
    tunnel_by_pod,
    host_prohibits,
    policy_own_node,
    program_dies,
    queue_overrun,
    state_changed,
    zone_changed,
    address_banned,
    rule_lacks_address,
    second_card_unanswered,
    works_without_firewall,
    listener_gone,
    unknown_error,
    unit_not_running,
    router_advertisements_ignored,
    jumbo_uplink,
    virtual_switch_drops_mac,
    address_conflict,
    cni_leftover,
    agent_dies,
    cilium_denies,
    martian_source,
    own_address_received,
    service_rules_absent,
    bridge_calls_disabled,
    pod_route,
    tunnel_mac,
    tunnel_end,
    tunnel_network,
    mtu_shrinks,
    address_on_two_nodes,
    proxy_behind,
    endpoint_not_ready,
    endpoint_refuses,
    service_unpinged,
    service_address_old,
    dns_without_endpoints,
    pod_range,
    pod_ranges_overlap,
    client_hidden,
    policy_unlike_rules,
    policy_without_node_dns,
)
"""In the order that the manual lists them: what breaks pods most often first, then what captures
alone show.
"""
ROOMS = (
    "links",
    "tunnels",
    "routing",
    "netfilter",
    "services",
    "dns",
    "cni",
    "mesh",
    "host",
)
"""The rooms that have faults which a message tells by itself."""
MESSAGES: tuple[MessageCheck, ...] = tuple(chain.from_iterable(map(read_checks, ROOMS)))
"""What a message tells by itself, room by room."""
CHECKS: tuple[Check, ...] = (
    *map(_of_module, MODULES),
    *map(_of_row, SWITCHES),
    *map(_of_row, MESSAGES),
)


def find_check(name: str) -> Check | None:
    """Return the check of that name; None where there is none."""
    return next((check for check in CHECKS if check.name == name), None)


def run_checks(case: Case, told: Container[str] = ()) -> Iterator[Finding]:
    """Run every check on a case, in the table's order, without those whose fault is told
    already.
    """
    for check in CHECKS:
        if check.run is not None and check.name not in told:
            yield from check.run(case)
