"""The table of all formats, and the choice among them by content.

A format is chosen by what its block shows; the command that printed it counts, but content must agree. Adding a format is one
module with its `FORMAT` (or `FORMATS`), one line here, one test and one fixture. At equal degrees the earlier row wins.
"""

from __future__ import annotations

from podpath.evidence import (
    arp,
    brctl,
    bridge_fdb,
    bridge_link,
    bridge_vlan,
    bundle_manifest,
    cilium_config,
    cilium_status,
    cni,
    component_log,
    connects,
    conntrack,
    curl,
    deeds,
    ip_brief,
    ip_device,
    ip_device_json,
    ip_neigh,
    ip_route,
    ip_route_json,
    ip_rule,
    ipset,
    iptables_listing,
    iptables_rules,
    kubectl_describe,
    kubectl_events,
    kubectl_get,
    lsmod,
    nft_json,
    nft_text,
    nstat,
    ovs_bond,
    ovs_vsctl,
    ping,
    resolvers,
    route_table,
    rt_tables,
    socket_table,
    sysctl,
    tcpdump,
    uname,
)
from podpath.evidence.formats import NO, Format
from podpath.evidence.records import Reading
from podpath.net.provenance import Source

FORMATS: tuple[Format, ...] = (
    deeds.FORMAT,
    *ip_device.FORMATS,
    *ip_device_json.FORMATS,
    *ip_brief.FORMATS,
    ip_route.FORMAT,
    ip_route_json.FORMAT,
    *ip_rule.FORMATS,
    rt_tables.FORMAT,
    *ip_neigh.FORMATS,
    arp.FORMAT,
    route_table.FORMAT,
    *bridge_link.FORMATS,
    *bridge_fdb.FORMATS,
    *bridge_vlan.FORMATS,
    *brctl.FORMATS,
    socket_table.FORMAT,
    sysctl.FORMAT,
    lsmod.FORMAT,
    nstat.FORMAT,
    uname.FORMAT,
    *iptables_rules.FORMATS,
    *iptables_listing.FORMATS,
    nft_text.FORMAT,
    nft_json.FORMAT,
    ovs_vsctl.FORMAT,
    ovs_bond.FORMAT,
    bundle_manifest.FORMAT,
    cni.FORMAT,
    cilium_config.FORMAT,
    cilium_status.FORMAT,
    kubectl_describe.FORMAT,
    kubectl_events.FORMAT,
    kubectl_get.FORMAT,
    tcpdump.FORMAT,
    curl.FORMAT,
    ping.FORMAT,
    connects.FORMAT,
    resolvers.FORMAT,
    component_log.FORMAT,
    *ipset.FORMATS,
    *conntrack.FORMATS,
)
"""All formats. Rows of one family of tools stand together."""


def recognise(source: Source) -> Format | None:
    """Give the format that is surest of the source; None where none is sure at all: prose, or something unknown."""
    best: Format | None = None
    degree = NO
    for row in FORMATS:
        claim = row.recognise(source)
        if claim > degree:
            best, degree = row, claim
    return best


def read(source: Source) -> Reading | None:
    """Read a source with the format that recognises it; None where none does."""
    found = recognise(source)
    return None if found is None else found.read(source)
