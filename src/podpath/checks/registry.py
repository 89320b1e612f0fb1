"""Every fault that podpath knows by name: its manual page, and what looks for it in a case.

A fault without a function is seen by walks alone; the diagnosis names it by the step that decided.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from types import ModuleType
from typing import NamedTuple

from podpath.checks import (
    accept_elsewhere,
    arp_answered_twice,
    arp_ignore,
    asymmetric_path,
    balancer_address_on_node,
    bond_slave_down,
    both_backends,
    bridge_netfilter,
    bridge_port_blocked,
    catch_all,
    chain_order,
    checksum_offload,
    cloud_deny,
    cni_chain,
    cni_folder,
    configured_device_missing,
    conntrack_full,
    dead_dnat,
    device_forwarding,
    drop_counter,
    dropped_by_rule,
    duplicate_address,
    empty_set,
    enslaved_route,
    firewall_zone,
    foreign_arp,
    forward_policy,
    forwarding_switched_off,
    gateway_silent,
    gratuitous_arp,
    hairpin,
    handshake_repeated,
    icmp_error,
    insert_failed,
    ip_forward,
    ipvs_address,
    ipvs_servers,
    jumbo_uplink,
    lease_given_twice,
    logged_drop,
    lost_ack,
    lost_between,
    mac_flap,
    macvlan_parent,
    managed_by_host,
    masquerade_pods,
    masquerade_range,
    missing_masquerade,
    mtu_above_uplink,
    neighbour_failed,
    neighbour_table_full,
    networks_overlap,
    no_endpoints,
    no_listener,
    no_local_endpoints,
    no_route,
    one_way,
    packet_size,
    path_mtu,
    peer_not_accepted,
    pod_outside_bridge,
    policy_drop,
    ranges_overlap,
    reset_storm,
    route_by_loopback,
    route_gateway_refused,
    route_host_bits,
    route_localnet,
    route_refused,
    route_without_carrier,
    router_advertisements_ignored,
    routing_loop,
    rp_filter,
    rpfilter_rule,
    rule_bloat,
    rule_to_vpn,
    rules_flushed,
    rules_without_main,
    service_rejected,
    shadowed_dnat,
    snat_source,
    source_refused,
    stale_conntrack,
    state_in_raw,
    tracking_drops,
    tunnel_checksum_offload,
    tunnel_over_nat_address,
    untracked,
    untranslated_entry,
    untranslated_reply,
    uplink_down,
    veth_without_bridge,
    virtual_switch_drops_mac,
    vtep_mac_twice,
    vxlan_mtu,
    vxlan_outer,
    wireguard_silent,
    wrong_mac,
)
from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.looks import Look
from podpath.node.case import Case


class Check(NamedTuple):
    """A fault that has a name."""

    name: str
    page: str
    """Its manual page: the docstring of its module."""
    categories: tuple[Category, ...]
    """What sorts of root cause it can name."""
    run: Callable[[Case], Iterator[Finding]] | None
    """What looks for it in the node; None where nothing does."""
    look: Look | None = None
    """What looks for it in captures alone; None where they cannot show it."""

    @property
    def found_by(self) -> str:
        """Say who finds it: `a check`, `a walk`, `a capture`, or several of them."""
        ways = [name for name, way in (("a check", self.run), ("a capture", self.look)) if way is not None]
        return " or ".join(ways or ["a walk"])

    @property
    def summary(self) -> str:
        """The page's first line, without the name."""
        return self.page.split("\n", 1)[0].partition(": ")[2]


def _check(module: ModuleType, run: Callable[[Case], Iterator[Finding]] | None = None) -> Check:
    return Check(module.NAME, module.__doc__ or "", module.CATEGORIES, run, getattr(module, "look", None))


CHECKS: tuple[Check, ...] = (
    _check(chain_order, chain_order.check),
    _check(rp_filter, rp_filter.check),
    _check(bridge_netfilter, bridge_netfilter.check),
    _check(foreign_arp, foreign_arp.check),
    _check(enslaved_route, enslaved_route.check),
    _check(cni_chain, cni_chain.check),
    _check(cni_folder, cni_folder.check),
    _check(dropped_by_rule),
    _check(forward_policy),
    _check(ip_forward, ip_forward.check),
    _check(no_route),
    _check(routing_loop),
    _check(neighbour_failed),
    _check(neighbour_table_full, neighbour_table_full.check),
    _check(arp_ignore),
    _check(missing_masquerade),
    _check(untranslated_reply),
    _check(hairpin),
    _check(untracked),
    _check(source_refused),
    _check(route_localnet, route_localnet.check),
    _check(packet_size),
    _check(vxlan_mtu, vxlan_mtu.check),
    _check(stale_conntrack, stale_conntrack.check),
    _check(conntrack_full, conntrack_full.check),
    _check(no_endpoints, no_endpoints.check),
    _check(no_listener),
    _check(duplicate_address, duplicate_address.check),
    _check(both_backends, both_backends.check),
    _check(accept_elsewhere, accept_elsewhere.check),
    _check(catch_all, catch_all.check),
    _check(policy_drop, policy_drop.check),
    _check(logged_drop, logged_drop.check),
    _check(peer_not_accepted, peer_not_accepted.check),
    _check(shadowed_dnat, shadowed_dnat.check),
    _check(dead_dnat, dead_dnat.check),
    _check(untranslated_entry, untranslated_entry.check),
    _check(state_in_raw, state_in_raw.check),
    _check(masquerade_pods, masquerade_pods.check),
    _check(masquerade_range, masquerade_range.check),
    _check(snat_source, snat_source.check),
    _check(no_local_endpoints, no_local_endpoints.check),
    _check(service_rejected, service_rejected.check),
    _check(ipvs_address, ipvs_address.check),
    _check(ipvs_servers, ipvs_servers.check),
    _check(cloud_deny, cloud_deny.check),
    _check(rule_bloat, rule_bloat.check),
    _check(empty_set, empty_set.check),
    _check(tracking_drops, tracking_drops.check),
    _check(insert_failed, insert_failed.check),
    _check(firewall_zone, firewall_zone.check),
    _check(drop_counter, drop_counter.check),
    _check(rules_flushed, rules_flushed.check),
    _check(wrong_mac),
    _check(one_way),
    _check(lost_between),
    _check(lost_ack),
    _check(handshake_repeated),
    _check(path_mtu),
    _check(reset_storm),
    _check(icmp_error),
    _check(mac_flap),
    _check(gratuitous_arp),
    _check(vxlan_outer),
    _check(asymmetric_path),
    _check(checksum_offload),
    _check(route_refused, route_refused.check),
    _check(route_host_bits, route_host_bits.check),
    _check(route_gateway_refused, route_gateway_refused.check),
    _check(route_without_carrier, route_without_carrier.check),
    _check(route_by_loopback, route_by_loopback.check),
    _check(rules_without_main, rules_without_main.check),
    _check(rpfilter_rule, rpfilter_rule.check),
    _check(device_forwarding, device_forwarding.check),
    _check(forwarding_switched_off, forwarding_switched_off.check),
    _check(vtep_mac_twice, vtep_mac_twice.check),
    _check(tunnel_over_nat_address, tunnel_over_nat_address.check),
    _check(networks_overlap, networks_overlap.check),
    _check(ranges_overlap, ranges_overlap.check),
    _check(arp_answered_twice, arp_answered_twice.check),
    _check(lease_given_twice, lease_given_twice.check),
    _check(uplink_down, uplink_down.check),
    _check(configured_device_missing, configured_device_missing.check),
    _check(bond_slave_down, bond_slave_down.check),
    _check(gateway_silent, gateway_silent.check),
    _check(pod_outside_bridge, pod_outside_bridge.check),
    _check(veth_without_bridge, veth_without_bridge.check),
    _check(bridge_port_blocked, bridge_port_blocked.check),
    _check(mtu_above_uplink, mtu_above_uplink.check),
    _check(wireguard_silent, wireguard_silent.check),
    _check(macvlan_parent, macvlan_parent.check),
    _check(tunnel_checksum_offload, tunnel_checksum_offload.check),
    _check(balancer_address_on_node, balancer_address_on_node.check),
    _check(rule_to_vpn, rule_to_vpn.check),
    _check(managed_by_host, managed_by_host.check),
    _check(router_advertisements_ignored, router_advertisements_ignored.check),
    _check(jumbo_uplink, jumbo_uplink.check),
    _check(virtual_switch_drops_mac, virtual_switch_drops_mac.check),
)
"""In the order that the manual lists them: what breaks pods most often first, then what captures alone show."""


def find_check(name: str) -> Check | None:
    """Give the check of that name; None where there is none."""
    return next((check for check in CHECKS if check.name == name), None)


def run_checks(case: Case, told: Container[str] = ()) -> Iterator[Finding]:
    """Run every check on a case, in the table's order, without those whose fault is told already."""
    for check in CHECKS:
        if check.run is not None and check.name not in told:
            yield from check.run(case)
