"""Incidents of size and number: packets too large for a tunnel, connections too many for
conntrack.
"""

from __future__ import annotations

from podpath_lab.draft import Draft
from podpath_lab.incidents.incident import Incident, on_host, restore, within
from podpath_lab.script import ScriptCommand
from podpath_lab.topologies import bridged_pods, overlay

_NO_FRAGMENTS = """table netdev underlay {
  chain arrival {
    type filter hook ingress device "eth0" priority 0; policy accept;
    ip frag-off & 0x3fff != 0 drop
  }
}
"""
"""What many clouds do: the network between the nodes delivers whole packets only."""

_FILL = r"""
most=$(cat /proc/sys/net/netfilter/nf_conntrack_max)
awk -v most="$most" 'BEGIN {
  for (i = 0; i < most; i++) {
    client = sprintf("10.%d.%d.%d", 128 + int(i / 65536) % 128, int(i / 256) % 256, i % 256)
    port = 1024 + int(i / 8388608)
    printf "-A -t 86400 -u ASSURED,SEEN_REPLY -s %s -d 192.0.2.1 -r 192.0.2.1 -q %s", client, client
    printf " -p tcp --sport %d --dport 443 --reply-port-src 443 --reply-port-dst %d", port, port
    print " --state ESTABLISHED"
  }
}' | conntrack -R - > /dev/null 2>&1 || true
"""
"""Connections that stand, as many as the table takes: the last ones find it full, which is the
point.
"""


def _overlay() -> Draft:
    return overlay().draft


def _bridged() -> Draft:
    return bridged_pods().draft


INCIDENTS: tuple[Incident, ...] = (
    Incident(
        name="vxlan-mtu-black-hole",
        summary=(
            "The tunnel's MTU leaves no room for its own headers, and the network below drops "
            "fragments."
        ),
        build=_overlay,
        probe="tcp 10.1.0.2 > 10.1.1.2:80 from pod1",
        size=4000,
        checks=("vxlan-mtu",),
        prepared_by=(ScriptCommand(("nft", "-f", "-"), _NO_FRAGMENTS, "node2"),),
        broken_by=(
            on_host("ip", "link", "set", "flannel.1", "mtu", "1500"),
            within("pod1", "ip", "route", "flush", "cache"),
        ),
        mended_by=(on_host("ip", "link", "set", "flannel.1", "mtu", "1450"),),
    ),
    Incident(
        name="conntrack-full",
        summary=(
            "The connection tracking table is full, so the first packet of every new connection is "
            "dropped."
        ),
        build=_bridged,
        probe="tcp 10.1.0.2 > 198.51.100.1:80 from pod1",
        checks=("conntrack-full",),
        prepared_by=(
            restore(
                "*filter\n-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\nCOMMIT\n"
            ),
        ),
        broken_by=(on_host("sh", "-c", _FILL),),
        mended_by=(on_host("conntrack", "-F"),),
        only_mended_by_hand=(
            "net.netfilter.nf_conntrack_max is one for the whole machine, and read-only in a "
            "namespace"
        ),
    ),
)
