"""Faults that are planted on a real cluster: what breaks it, what is asked, what must be named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

TUNNEL = "$(bridge fdb show dev flannel.1 | head -1 | cut -d' ' -f1)"
"""The MAC of a node's remote tunnel end."""

CLIENT = "client"
"""Stands for the machine's address on the nodes' network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """One fault on one node. In its texts `@pods1` and `@pods2` stand for the first three bytes of
    the nodes' ranges, `@web` and `@far` for the addresses of the pods that ask and answer.
    """

    name: str
    node: str
    plant: str
    """Shell commands on that node."""
    undo: str
    source: str = "shop/web-node1"
    destination: str = "pod/shop/far"
    check: str
    """What names it."""
    line: str
    """What the deciding line holds."""
    also_on: str = ""
    """Another node of which something is part of the fault, and breaks nothing by itself."""
    also: str = "true"
    also_undo: str = "true"
    cured: bool = True
    """True where the answer has a command that brings the connection back."""

    def placed(self, names: Mapping[str, str]) -> PlantedFault:
        """Return the fault on a cluster whose addresses are these."""
        texts = {
            field.name: value
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), str)
        }
        for name, address in names.items():
            texts = {key: text.replace(name, address) for key, text in texts.items()}
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
        node="node1",
        plant="ip route del @pods2.0/24",
        undo="ip route replace @pods2.0/24 via @pods2.0 dev flannel.1 onlink",
        check="pod-route",
        line="default",
    ),
    PlantedFault(
        name="route-to-the-wrong-node",
        node="node1",
        plant="ip route replace @pods2.0/24 via 10.199.0.1 dev eth0",
        undo="ip route replace @pods2.0/24 via @pods2.0 dev flannel.1 onlink",
        check="pod-route",
        line="10.199.0.1",
    ),
    PlantedFault(
        name="tunnel-mac",
        node="node1",
        plant="ip neigh replace @pods2.0 lladdr 02:00:00:00:00:99 dev flannel.1 nud permanent; "
        "bridge fdb append 02:00:00:00:00:99 dst 10.199.0.12 dev flannel.1",
        undo="bridge fdb del 02:00:00:00:00:99 dst 10.199.0.12 dev flannel.1; "
        f"ip neigh replace @pods2.0 lladdr {TUNNEL} dev flannel.1 nud permanent",
        check="tunnel-mac",
        line="02:00:00:00:00:99",
    ),
    PlantedFault(
        name="tunnel-end",
        node="node1",
        plant=f"bridge fdb replace {TUNNEL} dev flannel.1 dst 10.199.0.77",
        undo=f"bridge fdb replace {TUNNEL} dev flannel.1 dst 10.199.0.12",
        check="tunnel-end",
        line="10.199.0.77",
    ),
    PlantedFault(
        name="forwarding",
        node="node2",
        plant="sysctl -qw net.ipv4.ip_forward=0",
        undo="sysctl -qw net.ipv4.ip_forward=1",
        check="ip-forward",
        line="forwarding = 0",
    ),
    PlantedFault(
        name="rp-filter",
        node="node1",
        plant="sysctl -qw net.ipv4.conf.eth0.rp_filter=1",
        undo="sysctl -qw net.ipv4.conf.eth0.rp_filter=0",
        also_on="node2",
        also="ip route replace @pods1.0/24 via 10.199.0.11 dev eth0",
        also_undo="ip route replace @pods1.0/24 via @pods1.0 dev flannel.1 onlink",
        check="rp-filter",
        line="rp_filter",
    ),
    rule("tunnel-dropped", "node2", "INPUT -p udp -m udp --dport 8472 -j DROP"),
    rule("admin-drops-at-the-receiver", "node2", "FORWARD -d @far/32 -j DROP"),
    rule("admin-rejects-at-the-sender", "node1", "FORWARD -s @pods1.0/24 -j REJECT"),
    rule(
        "admin-drops-the-answer",
        "node1",
        "FORWARD -d @web/32 -p tcp -m tcp --sport 8080 -j DROP",
    ),
    PlantedFault(
        name="drop-in-legacy",
        node="node2",
        plant="iptables-legacy -I FORWARD 1 -d @far/32 -j DROP",
        undo="iptables-legacy -D FORWARD -d @far/32 -j DROP",
        check="dropped-by-rule",
        line="@far/32",
    ),
    PlantedFault(
        name="drop-in-nftables",
        node="node2",
        plant="nft add table ip guard; nft 'add chain ip guard f { type filter hook forward "
        "priority -10 ; }'; "
        "nft add rule ip guard f ip daddr @far drop",
        undo="nft delete table ip guard",
        check="dropped-by-rule",
        line="drop",
        cured=False,
    ),
    PlantedFault(
        name="policy-chain",
        node="node2",
        plant="iptables -N POD-FAR-FW; iptables -A POD-FAR-FW -s @pods2.0/24 -j ACCEPT; "
        "iptables -A POD-FAR-FW -j DROP; "
        "iptables -I FORWARD 1 -d @far/32 -j POD-FAR-FW",
        undo="iptables -D FORWARD -d @far/32 -j POD-FAR-FW; iptables -F POD-FAR-FW; "
        "iptables -X POD-FAR-FW",
        check="dropped-by-rule",
        line="POD-FAR-FW",
    ),
    PlantedFault(
        name="rule-left-over",
        node="node1",
        plant="ip rule add from @pods1.0/24 lookup 99; ip route add unreachable default table 99",
        undo="ip rule del from @pods1.0/24 lookup 99; ip route flush table 99",
        check="no-route",
        line="unreachable",
    ),
    PlantedFault(
        name="policy-route",
        node="node1",
        plant="ip rule add to @pods2.0/24 lookup 98; ip route add default via 10.199.0.1 dev "
        "eth0 table 98",
        undo="ip rule del to @pods2.0/24 lookup 98; ip route flush table 98",
        check="pod-route",
        line="98",
    ),
    PlantedFault(
        name="bridged-past-netfilter",
        node="node1",
        plant="sysctl -qw net.bridge.bridge-nf-call-iptables=0",
        undo="sysctl -qw net.bridge.bridge-nf-call-iptables=1",
        destination="svc/shop/near:http",
        check="br-netfilter",
        line="bridge-nf-call-iptables = 0",
    ),
    PlantedFault(
        name="hairpin",
        node="node1",
        plant="for d in /sys/class/net/cni0/brif/*; do echo 0 > $d/hairpin_mode; done",
        undo="for d in /sys/class/net/cni0/brif/*; do echo 1 > $d/hairpin_mode; done",
        source="pod/shop/near",
        destination="svc/shop/near:http",
        check="hairpin",
        line="10.244",
    ),
    rule(
        "kubelet-probe-blocked",
        "node1",
        "OUTPUT -d @pods1.0/24 -p tcp -j DROP",
        source="node/node1",
        destination="pod/shop/api-node1:8080",
    ),
    PlantedFault(
        name="no-endpoints",
        node="node1",
        plant="true",
        undo="true",
        destination="svc/shop/nobody:http",
        check="no-endpoints",
        line="nobody",
        cured=False,
    ),
    rule(
        "node-port-blocked",
        "node1",
        "mangle:PREROUTING -p tcp -m tcp --dport 30180 -j DROP",
        source=CLIENT,
        destination="node/node1:30180",
    ),
    PlantedFault(
        name="local-without-endpoint",
        node="node1",
        plant="true",
        undo="true",
        source=CLIENT,
        destination="node/node1:30181",
        check="no-local-endpoints",
        line="local",
        cured=False,
    ),
    PlantedFault(
        name="host-port-left-over",
        node="node1",
        plant="iptables -t nat -I PREROUTING 1 -p tcp -m tcp --dport 30180 -j DNAT "
        "--to-destination @pods1.99:8080",
        undo="iptables -t nat -D PREROUTING -p tcp -m tcp --dport 30180 -j DNAT --to-destination "
        "@pods1.99:8080",
        source=CLIENT,
        destination="node/node1:30180",
        check="neighbour-failed",
        line="@pods1.99",
        cured=False,
    ),
    PlantedFault(
        name="device-down",
        node="node2",
        plant="ip link set flannel.1 down",
        undo="ip link set flannel.1 up; ip route replace @pods1.0/24 via @pods1.0 dev "
        "flannel.1 onlink; "
        "ip neigh replace @pods1.0 lladdr $(cut -d' ' -f3 /tmp/neigh | head -1) dev flannel.1 "
        "nud permanent",
        check="tunnel-network",
        line="flannel.1",
        cured=False,
    ),
    PlantedFault(
        name="address-on-two-nodes",
        node="node2",
        plant="ip addr add 10.199.0.11/24 dev eth0",
        undo="ip addr del 10.199.0.11/24 dev eth0",
        check="address-on-two-nodes",
        line="10.199.0.11",
    ),
    PlantedFault(
        name="masquerade-missing",
        node="node1",
        plant="iptables-save -t nat | grep -e '-A KUBE-POSTROUTING' > /tmp/kept; iptables -t nat "
        "-F KUBE-POSTROUTING",
        undo='while read -r line; do eval "iptables -t nat $line"; done < /tmp/kept',
        source=CLIENT,
        destination="node/node1:30180",
        check="untranslated-reply",
        line="",
        cured=False,
    ),
)
"""All of them, on a cluster with VXLAN and pods on bridges."""
