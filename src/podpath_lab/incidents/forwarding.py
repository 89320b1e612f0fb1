"""Incidents of forwarding and filtering on the host."""

from __future__ import annotations

from podpath_lab.draft import Draft
from podpath_lab.incidents.incident import Incident, on_host, restore
from podpath_lab.topologies import bridged_pods, routed_pods

_POD_TO_POD = "tcp 10.1.0.2 > 10.1.0.3:80 from pod1"
_POD_TO_WORLD = "tcp 10.1.0.2 > 198.51.100.1:80 from pod1"


def _routed() -> Draft:
    return routed_pods().draft


def _masqueraded() -> Draft:
    """Make a bridged node whose pods reach the world only under the host's address: the world has
    no route to them.
    """
    draft = bridged_pods().draft
    world = draft.namespaces["world"]
    world.routes = [route for route in world.routes if str(route.prefix) != "10.1.0.0/16"]
    return draft


_MASQUERADE = (
    "iptables",
    "-t",
    "nat",
    "-{}",
    "POSTROUTING",
    "-s",
    "10.1.0.0/24",
    "!",
    "-d",
    "10.1.0.0/16",
    "-j",
    "MASQUERADE",
)

INCIDENTS: tuple[Incident, ...] = (
    Incident(
        name="forward-policy-drop",
        summary="A container engine set FORWARD's policy to DROP, and nothing accepts the pods.",
        build=_routed,
        probe=_POD_TO_WORLD,
        checks=("forward-policy",),
        broken_by=(on_host("iptables", "-P", "FORWARD", "DROP"),),
        mended_by=(on_host("iptables", "-P", "FORWARD", "ACCEPT"),),
    ),
    Incident(
        name="ip-forward-off",
        summary="A service reset net.ipv4.ip_forward, so the host drops what is not for itself.",
        build=_routed,
        probe=_POD_TO_POD,
        checks=("ip-forward",),
        broken_by=(on_host("sysctl", "-qw", "net.ipv4.ip_forward=0"),),
        mended_by=(on_host("sysctl", "-qw", "net.ipv4.ip_forward=1"),),
    ),
    Incident(
        name="firewall-rule",
        summary="A hand-written rule drops what the pod sends.",
        build=_routed,
        probe=_POD_TO_WORLD,
        checks=("dropped-by-rule",),
        broken_by=(
            on_host(
                "iptables",
                "-I",
                "FORWARD",
                "1",
                "-p",
                "tcp",
                "-m",
                "multiport",
                "--dports",
                "80,443",
                "-j",
                "DROP",
            ),
        ),
        mended_by=(on_host("iptables", "-D", "FORWARD", "1"),),
    ),
    Incident(
        name="legacy-and-nft",
        summary="Old rules stayed in the legacy tables and drop what the nft tables accept.",
        build=_routed,
        probe=_POD_TO_WORLD,
        checks=("both-backends", "dropped-by-rule"),
        prepared_by=(restore("*filter\n-A FORWARD -s 10.1.0.0/16 -j ACCEPT\nCOMMIT\n"),),
        broken_by=(
            restore("*filter\n-A FORWARD -s 10.1.0.0/16 -o eth0 -j DROP\nCOMMIT\n", "legacy"),
        ),
        mended_by=(on_host("iptables-legacy", "-F", "FORWARD"),),
    ),
    Incident(
        name="missing-masquerade",
        summary="The masquerade rule is gone, so the world cannot answer the pod's address.",
        build=_masqueraded,
        probe=_POD_TO_WORLD,
        checks=("missing-masquerade", "no-route"),
        prepared_by=(on_host(*(word.format("A") for word in _MASQUERADE)),),
        broken_by=(on_host(*(word.format("D") for word in _MASQUERADE)),),
        mended_by=(on_host(*(word.format("A") for word in _MASQUERADE)),),
    ),
    Incident(
        name="notrack-without-accept",
        summary="Untracked packets never match the rule that accepts established connections.",
        build=_routed,
        probe=_POD_TO_WORLD,
        checks=("untracked", "forward-policy", "dropped-by-rule"),
        prepared_by=(
            restore(
                "*filter\n:FORWARD DROP\n"
                "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
                "-A FORWARD -i lxc+ -m conntrack --ctstate NEW -j ACCEPT\nCOMMIT\n"
            ),
        ),
        broken_by=(
            on_host(
                "iptables",
                "-t",
                "raw",
                "-A",
                "PREROUTING",
                "-p",
                "tcp",
                "--dport",
                "80",
                "-j",
                "NOTRACK",
            ),
        ),
        mended_by=(on_host("iptables", "-t", "raw", "-F", "PREROUTING"),),
    ),
    Incident(
        name="rejected-service",
        summary="A Service without endpoints rejects its clients.",
        build=_routed,
        probe="tcp 10.1.0.2 > 10.96.0.10:80 from pod1",
        checks=("service-rejected", "no-endpoints", "dropped-by-rule"),
        prepared_by=(
            restore(
                "*nat\n:KUBE-SERVICES - [0:0]\n-A PREROUTING -j KUBE-SERVICES\n"
                "-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT "
                "--to-destination 10.1.0.3:8080\nCOMMIT\n"
            ),
        ),
        broken_by=(
            on_host("iptables", "-t", "nat", "-F", "KUBE-SERVICES"),
            restore(
                "*filter\n:KUBE-SERVICES - [0:0]\n"
                "-A FORWARD -m conntrack --ctstate NEW -j KUBE-SERVICES\n"
                '-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment --comment "shop/cart has no '
                'endpoints" -m tcp --dport 80 '
                "-j REJECT --reject-with icmp-port-unreachable\nCOMMIT\n"
            ),
        ),
        mended_by=(
            on_host("iptables", "-F", "KUBE-SERVICES"),
            restore(
                "*nat\n-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT "
                "--to-destination 10.1.0.3:8080\nCOMMIT\n"
            ),
        ),
    ),
)
