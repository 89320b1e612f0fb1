"""Faults that are planted on a real cluster: what breaks it, what is asked, what must be named."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from scripts.kubernetes.plan import Plan
from tests.cluster.connecting import CLIENT

TUNNEL = "$(bridge fdb show dev @tunnel | grep 'dst @address2 ' | head -1 | cut -d' ' -f1)"
"""The MAC of a node's remote tunnel end."""
LOCAL_POLICY = (
    """patch service -n shop local-@node2 -p '{{"spec":{{"externalTrafficPolicy":"{}"}}}}'"""
)
API = "kubectl"
"""Where words of kubectl stand for a command on a node."""
VXLAN, HOST_GW, BRIDGED = "vxlan", "host-gw", "bridged"
IPTABLES, NFTABLES = "iptables", "nftables"
PROXY = "$(pidof kube-proxy || pgrep -f '[n]ftables_proxy')"
"""The process of either kube-proxy."""
FILL = f"{sys.executable} {Path(__file__).with_name('full_table.py')} >/dev/null 2>&1 </dev/null"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """One fault between two nodes. `@node1` is the one that asks and `@node2` the other; which they
    are is drawn, and what else begins with `@` is what they have there (`list_signs`).
    """

    name: str
    node: str = "@node1"
    plant: str = "true"
    """Shell commands on that node."""
    other: str = "@node2"
    undo: str = "true"
    source: str = "pod/shop/@client"
    destination: str = "pod/shop/far-@node2"
    protocol: str = ""
    check: str
    """What names it."""
    line: str
    """What the deciding line holds."""
    also_on: str = ""
    """Another node of which something is part of the fault, and breaks nothing by itself; or the
    API.
    """
    also: str = "true"
    also_undo: str = "true"
    moving: str = ""
    """A pod on the second node, with a service of its name, that is there for this fault alone."""
    emptied: str = ""
    """A service that loses its endpoints one after the other, and may fail before the last of them
    is gone: the fault is there once the node's rules refuse it.
    """
    cabled: bool = False
    """True where both nodes get a second uplink, eth1, for this fault alone."""
    cured: bool = True
    """True where the answer has a command that brings the connection back."""
    by_hand: str = ""
    """What else does, where the cure is in words; empty where that is to undo the fault."""
    by_hand_on: str = ""
    full: bool = False
    """True where only packets of full size are lost."""
    slow: bool = False
    """True where it takes a minute or more."""
    needs: frozenset[str] = frozenset()
    """What kind of cluster it is a fault on."""

    def fits(self, plan: Plan) -> bool:
        """Tell whether such a cluster can have it."""
        has = {plan.overlay, plan.plugin, plan.proxy.partition("-")[0]}
        return self.needs <= has

    def placed(self, signs: Mapping[str, str]) -> PlantedFault:
        """Return the fault on a cluster where the signs stand for these."""
        texts = {
            field.name: value
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), str)
        }
        for sign in sorted(signs, key=len, reverse=True):
            texts = {key: text.replace(sign, signs[sign]) for key, text in texts.items()}
        changes: dict[str, Any] = dict(texts)
        return replace(self, **changes)


def rule(
    name: str,
    node: str,
    words: str,
    check: str = "dropped-by-rule",
    **more: Any,  # noqa: ANN401
) -> PlantedFault:
    """Return a fault that one rule makes: `words` are those after `-I`."""
    place, _, rest = words.partition(" ")
    table, _, chain = place.rpartition(":")
    option = f"-t {table} " if table else ""
    return PlantedFault(
        name=name,
        node=node,
        plant=f"iptables {option}-I {chain} 1 {rest}",
        undo=f"iptables {option}-D {chain} {rest}",
        check=check,
        line=rest.split(" -j ")[-1],
        **more,
    )


FAULTS = (
    PlantedFault(
        name="route-missing",
        node="@node1",
        plant="ip route del @pods2.0/24",
        undo="ip route replace @pods2.0/24 @way2",
        check="pod-route",
        line="default",
    ),
    PlantedFault(
        name="route-to-the-wrong-node",
        node="@node1",
        plant="ip route replace @pods2.0/24 via @gateway dev eth0",
        undo="ip route replace @pods2.0/24 @way2",
        check="pod-route",
        line="@gateway",
    ),
    PlantedFault(
        name="tunnel-mac",
        needs=frozenset({VXLAN}),
        node="@node1",
        plant="ip neigh replace @pods2.0 lladdr 02:00:00:00:00:99 dev @tunnel nud permanent; "
        "bridge fdb append 02:00:00:00:00:99 dst @address2 dev @tunnel",
        undo="bridge fdb del 02:00:00:00:00:99 dst @address2 dev @tunnel; "
        f"ip neigh replace @pods2.0 lladdr {TUNNEL} dev @tunnel nud permanent",
        check="tunnel-mac",
        line="02:00:00:00:00:99",
    ),
    PlantedFault(
        name="tunnel-end",
        needs=frozenset({VXLAN}),
        node="@node1",
        plant=f"bridge fdb replace {TUNNEL} dev @tunnel dst @nobody",
        undo=f"bridge fdb replace {TUNNEL} dev @tunnel dst @address2",
        check="tunnel-end",
        line="@nobody",
    ),
    PlantedFault(
        name="forwarding",
        node="@node2",
        plant="sysctl -qw net.ipv4.ip_forward=0",
        undo="sysctl -qw net.ipv4.ip_forward=1",
        check="ip-forward",
        line="forwarding = 0",
    ),
    PlantedFault(
        name="rp-filter",
        needs=frozenset({VXLAN}),
        node="@node1",
        plant="sysctl -qw net.ipv4.conf.eth0.rp_filter=1",
        undo="sysctl -qw net.ipv4.conf.eth0.rp_filter=0",
        also_on="@node2",
        also="ip route replace @pods1.0/24 via @address1 dev eth0",
        also_undo="ip route replace @pods1.0/24 @way1",
        check="rp-filter",
        line="rp_filter",
    ),
    PlantedFault(
        name="rp-filter",
        needs=frozenset({HOST_GW}),
        node="@node1",
        plant="ip addr add 10.198.0.1/24 dev eth1; sysctl -qw net.ipv4.conf.eth1.rp_filter=1",
        cabled=True,
        also_on="@node2",
        also="ip addr add 10.198.0.2/24 dev eth1; "
        "ip route replace @pods1.0/24 via 10.198.0.1 dev eth1",
        also_undo="ip route replace @pods1.0/24 @way1",
        check="rp-filter",
        line="rp_filter",
    ),
    rule(
        "tunnel-dropped",
        "@node2",
        "INPUT -p udp -m udp --dport @vxlan -j DROP",
        needs=frozenset({VXLAN}),
    ),
    rule("admin-drops-at-the-receiver", "@node2", "FORWARD -d @server/32 -j DROP"),
    rule("admin-rejects-at-the-sender", "@node1", "FORWARD -s @pods1.0/24 -j REJECT"),
    rule(
        "admin-drops-the-answer",
        "@node1",
        "FORWARD -d @asker/32 -p tcp -m tcp --sport 8080 -j DROP",
    ),
    PlantedFault(
        name="drop-in-legacy",
        node="@node2",
        plant="iptables-legacy -I FORWARD 1 -d @server/32 -j DROP",
        undo="iptables-legacy -D FORWARD -d @server/32 -j DROP",
        check="dropped-by-rule",
        line="@server/32",
    ),
    PlantedFault(
        name="drop-in-nftables",
        node="@node2",
        plant="nft add table ip guard; nft 'add chain ip guard f { type filter hook forward "
        "priority -10 ; }'; "
        "nft add rule ip guard f ip daddr @server drop",
        undo="nft delete table ip guard",
        check="dropped-by-rule",
        line="drop",
    ),
    PlantedFault(
        name="policy-chain",
        node="@node2",
        plant="iptables -N POD-FAR-FW; iptables -A POD-FAR-FW -s @pods2.0/24 -j ACCEPT; "
        "iptables -A POD-FAR-FW -j DROP; "
        "iptables -I FORWARD 1 -d @server/32 -j POD-FAR-FW",
        undo="iptables -D FORWARD -d @server/32 -j POD-FAR-FW; iptables -F POD-FAR-FW; "
        "iptables -X POD-FAR-FW",
        check="dropped-by-rule",
        line="POD-FAR-FW",
    ),
    PlantedFault(
        name="rule-left-over",
        node="@node1",
        plant="ip rule add from @pods1.0/24 lookup 99; ip route add unreachable default table 99",
        undo="ip rule del from @pods1.0/24 lookup 99; ip route flush table 99",
        check="no-route",
        line="unreachable",
    ),
    PlantedFault(
        name="policy-route",
        node="@node1",
        plant="ip rule add to @pods2.0/24 lookup 98; ip route add default via @gateway dev "
        "eth0 table 98",
        undo="ip rule del to @pods2.0/24 lookup 98; ip route flush table 98",
        check="pod-route",
        line="98",
    ),
    PlantedFault(
        name="bridged-past-netfilter",
        needs=frozenset({BRIDGED}),
        node="@node1",
        plant="sysctl -qw net.bridge.bridge-nf-call-iptables=0",
        undo="sysctl -qw net.bridge.bridge-nf-call-iptables=1",
        destination="svc/shop/far-@node1:http",
        check="br-netfilter",
        line="bridge-nf-call-iptables = 0",
    ),
    PlantedFault(
        name="hairpin",
        needs=frozenset({BRIDGED}),
        node="@node1",
        plant="for d in /sys/class/net/cni0/brif/*; do echo 0 > $d/hairpin_mode; done",
        undo="for d in /sys/class/net/cni0/brif/*; do echo 1 > $d/hairpin_mode; done",
        source="pod/shop/far-@node1",
        destination="svc/shop/far-@node1:http",
        check="hairpin",
        line="10.244",
    ),
    rule(
        "kubelet-probe-blocked",
        "@node1",
        "OUTPUT -d @pods1.0/24 -p tcp -j DROP",
        source="node/@node1",
        destination="pod/shop/api-@node1:8080",
    ),
    PlantedFault(
        name="no-endpoints",
        destination="svc/shop/nobody:http",
        check="@refused",
        line="@without",
        cured=False,
        by_hand="label pod -n shop far-@node2 app=nobody --overwrite",
        by_hand_on=API,
        also_on=API,
        also="version",
        also_undo="label pod -n shop far-@node2 app=far-@node2 --overwrite",
    ),
    rule(
        "node-port-blocked",
        "@node1",
        "mangle:PREROUTING -p tcp -m tcp --dport @front -j DROP",
        source=CLIENT,
        destination="node/@node1:@front",
    ),
    PlantedFault(
        name="local-without-endpoint",
        source=CLIENT,
        destination="node/@node1:@local",
        check="no-local-endpoints",
        line="@locally",
        cured=False,
        by_hand=LOCAL_POLICY.format("Cluster"),
        by_hand_on=API,
        also_on=API,
        also="version",
        also_undo=LOCAL_POLICY.format("Local"),
    ),
    PlantedFault(
        name="host-port-left-over",
        needs=frozenset({IPTABLES}),
        node="@node1",
        plant="iptables -t nat -I PREROUTING 1 -p tcp -m tcp --dport @front -j DNAT "
        "--to-destination @pods1.99:8080",
        undo="iptables -t nat -D PREROUTING -p tcp -m tcp --dport @front -j DNAT --to-destination "
        "@pods1.99:8080",
        source=CLIENT,
        destination="node/@node1:@front",
        check="@unreached",
        line="@pods1.99",
    ),
    PlantedFault(
        name="host-port-left-over",
        needs=frozenset({NFTABLES}),
        node="@node1",
        plant="nft add table ip hostports; nft 'add chain ip hostports in { type nat hook "
        "prerouting priority -101 ; }'; "
        "nft add rule ip hostports in tcp dport @front dnat to @pods1.99:8080",
        undo="nft delete table ip hostports",
        source=CLIENT,
        destination="node/@node1:@front",
        check="@unreached",
        line="@nearby",
        cured=False,
    ),
    PlantedFault(
        name="device-down",
        needs=frozenset({VXLAN}),
        node="@node2",
        plant="ip link set @tunnel down",
        undo="ip link set @tunnel up; while read -r way; do ip route replace $way dev @tunnel; "
        "done < /tmp/routes; while read -r end word mac rest; do "
        "ip neigh replace $end lladdr $mac dev @tunnel nud permanent; done < /tmp/neigh",
        check="tunnel-network",
        line="@tunnel",
        cured=False,
    ),
    PlantedFault(
        name="address-on-two-nodes",
        needs=frozenset({VXLAN}),  # elsewhere neighbors keep the entries that they have
        node="@node2",
        plant="ip addr add @address1/24 dev eth0; ip neigh flush to @address1 dev eth0",
        undo="ip addr del @address1/24 dev eth0",
        check="address-on-two-nodes",
        line="@address1",
    ),
    PlantedFault(
        name="masquerade-missing",
        needs=frozenset({IPTABLES}),
        node="@node1",
        plant=f"kill -STOP {PROXY}; "
        "iptables-save -t nat | grep -e '-A KUBE-POSTROUTING' > /tmp/kept; "
        "iptables -t nat -F KUBE-POSTROUTING",
        undo=f"iptables -t nat -F KUBE-POSTROUTING; kill -CONT {PROXY}; "
        'while read -r line; do eval "iptables -t nat $line"; done < /tmp/kept',
        source=CLIENT,
        destination="node/@node1:@front",
        check="missing-masquerade",
        line="KUBE-POSTROUTING",
    ),
    PlantedFault(
        name="conntrack-full",
        node="@node1",
        plant=FILL,
        undo=f"{FILL} empty; sleep 1",
        check="conntrack-full",
        line="nf_conntrack_count",
        slow=True,
    ),
    PlantedFault(
        name="chain-order",
        node="@node2",
        plant="iptables -N ADMIN; iptables -A ADMIN -p tcp -j REJECT; "
        "iptables -A ADMIN -s @pods1.0/24 -j ACCEPT; iptables -I FORWARD 1 -j ADMIN",
        undo="iptables -D FORWARD -j ADMIN; iptables -F ADMIN; iptables -X ADMIN",
        check="dropped-by-rule",
        line="ADMIN -p tcp -j REJECT",
    ),
    PlantedFault(
        name="mtu-shrinks",
        node="@node2",
        plant="ip link set eth0 mtu 1000",
        undo="ip link set eth0 mtu 1500",
        full=True,
        check="mtu-shrinks",
        line="1000",
    ),
    PlantedFault(
        name="second-uplink",
        needs=frozenset({VXLAN}),
        node="@node2",
        other="@node1",
        plant="ip addr add 10.198.0.2/24 dev eth1; "
        "ip route add 10.197.0.0/16 via 10.198.0.1 dev eth1; "
        "sysctl -qw net.ipv4.conf.eth1.rp_filter=1",
        cabled=True,
        also_on="@node1",
        also="ip addr add 10.198.0.1/24 dev eth1; "
        "ip route add @address2/32 via 10.198.0.2 dev eth1 src @address1; "
        "sysctl -qw net.ipv4.conf.eth1.arp_announce=2",
        check="rp-filter",
        line="rp_filter",
    ),
    PlantedFault(
        name="second-uplink",
        needs=frozenset({HOST_GW}),
        node="@node2",
        other="@node1",
        plant="ip addr add 10.198.0.2/24 dev eth1; sysctl -qw net.ipv4.conf.eth1.rp_filter=1",
        cabled=True,
        also_on="@node1",
        also="ip addr add 10.198.0.1/24 dev eth1; "
        "ip route replace @pods2.0/24 via 10.198.0.2 dev eth1",
        also_undo="ip route replace @pods2.0/24 @way2",
        check="rp-filter",
        line="rp_filter",
    ),
    PlantedFault(
        name="endpoint-not-ready",
        destination="svc/shop/sick-@node2:http",
        check="endpoint-not-ready",
        line='"ready": false',
        cured=False,
        by_hand="exec -n shop sick-@node2 -- sh -c 'echo > /www/ready'",
        by_hand_on=API,
        also_on=API,
        also="version",
        also_undo="exec -n shop sick-@node2 -- sh -c 'rm -f /www/ready'",
    ),
    PlantedFault(
        name="dns-without-endpoints",
        destination="svc/kube-system/kube-dns:dns",
        protocol="udp",
        also_on=API,
        also="label pod -n kube-system --all app=other --overwrite",
        emptied="kube-system/kube-dns",
        also_undo="label pod -n kube-system --all app=kube-dns --overwrite",
        check="@refused",
        line="@resolver",
        cured=False,
        by_hand="label pod -n kube-system dns-@node2 app=kube-dns --overwrite",
        by_hand_on=API,
    ),
    PlantedFault(
        name="proxy-stopped",
        plant=f"kill -STOP {PROXY}",
        undo=f"kill -CONT {PROXY}",
        moving="moving",
        slow=True,
        destination="svc/shop/moving:http",
        also_on=API,
        also="label pod -n shop far-@node2 app=moving --overwrite",
        also_undo="label pod -n shop far-@node2 app=far-@node2 --overwrite",
        check="proxy-behind",
        line="shop/moving",
        cured=False,
    ),
)
"""All of them: those that a cluster can have are planted on it, each on nodes and a pod that are
drawn.
"""
