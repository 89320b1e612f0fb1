"""Incidents of service translation: conntrack, hairpin, br_netfilter."""

from __future__ import annotations

from podpath.node.links import BridgePort
from podpath.node.node import HOST
from podpath_lab.draft import Draft
from podpath_lab.incidents.incident import Incident, on_host, restore
from podpath_lab.topologies import bridged_pods

_SERVICE = "tcp 10.1.0.2 > 10.96.0.10:80 from pod1"


def _bridged() -> Draft:
    return bridged_pods().draft


def _hairpin() -> Draft:
    """Make a bridged node whose pod ports send frames back where they came from, as the bridge
    plugin's hairpinMode does.
    """
    topology = bridged_pods()
    for port in ("veth1", "veth2"):
        topology.draft.enslave(HOST, port, "cni0", BridgePort(hairpin=True))
    return topology.draft


def _service(endpoint: str, protocol: str = "tcp", port: int = 80) -> str:
    return (
        "*nat\n:KUBE-SERVICES - [0:0]\n:KUBE-POSTROUTING - [0:0]\n:KUBE-SEP-A - [0:0]\n"
        ":KUBE-MARK-MASQ - [0:0]\n-A PREROUTING -j KUBE-SERVICES\n-A OUTPUT -j KUBE-SERVICES\n"
        "-A POSTROUTING -j KUBE-POSTROUTING\n"
        f"-A KUBE-SERVICES -d 10.96.0.10/32 -p {protocol} -m {protocol} --dport {port} -j "
        f"KUBE-SEP-A\n-A KUBE-SEP-A -s {endpoint.partition(':')[0]}/32 -j KUBE-MARK-MASQ\n"
        f"-A KUBE-SEP-A -p {protocol} -m {protocol} -j DNAT --to-destination {endpoint}\n"
        "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\n"
        "-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE\nCOMMIT\n"
    )


INCIDENTS: tuple[Incident, ...] = (
    Incident(
        name="br-netfilter-off",
        summary="Bridged replies pass netfilter by, so a service's answer keeps the pod's address.",
        build=_bridged,
        probe=_SERVICE,
        checks=("untranslated-reply", "br-netfilter"),
        prepared_by=(restore(_service("10.1.0.3:8080")),),
        broken_by=(on_host("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0"),),
        mended_by=(on_host("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=1"),),
    ),
    Incident(
        name="hairpin-without-masquerade",
        summary="A pod that reaches itself through its Service keeps its own source address.",
        build=_hairpin,
        probe=_SERVICE,
        checks=("hairpin", "source-refused"),
        prepared_by=(restore(_service("10.1.0.2:8080")),),
        broken_by=(on_host("iptables", "-t", "nat", "-D", "KUBE-SEP-A", "1"),),
        mended_by=(
            on_host(
                "iptables",
                "-t",
                "nat",
                "-I",
                "KUBE-SEP-A",
                "1",
                "-s",
                "10.1.0.2/32",
                "-j",
                "KUBE-MARK-MASQ",
            ),
        ),
    ),
    Incident(
        name="hairpin-mode-off",
        summary="The bridge port does not send a pod's own frames back to it.",
        build=_hairpin,
        probe=_SERVICE,
        checks=("hairpin",),
        prepared_by=(restore(_service("10.1.0.2:8080")),),
        broken_by=(on_host("bridge", "link", "set", "dev", "veth1", "hairpin", "off"),),
        mended_by=(on_host("bridge", "link", "set", "dev", "veth1", "hairpin", "on"),),
    ),
    Incident(
        name="stale-conntrack",
        summary="An entry of a UDP client still leads to an endpoint that is gone.",
        build=_bridged,
        probe="udp 10.1.0.2:5353 > 10.96.0.10:80 from pod1",
        checks=("stale-conntrack",),
        same_port=True,
        prepared_by=(restore(_service("10.1.0.3:8080", "udp")),),
        broken_by=(
            on_host(
                "iptables",
                "-t",
                "nat",
                "-R",
                "KUBE-SEP-A",
                "2",
                "-p",
                "udp",
                "-j",
                "DNAT",
                "--to-destination",
                "172.31.0.1:8080",
            ),
            on_host("ip", "netns", "exec", "pod2", "ip", "addr", "flush", "dev", "eth0"),
        ),
        mended_by=(on_host("conntrack", "-D", "-p", "udp", "--orig-dst", "10.96.0.10"),),
    ),
    Incident(
        name="route-localnet-off",
        summary=(
            "A node port on 127.0.0.1 is translated, and routing then refuses the loopback source."
        ),
        build=_bridged,
        probe="tcp 127.0.0.1 > 127.0.0.1:30080 from host",
        checks=("route-localnet", "source-refused"),
        prepared_by=(
            on_host("sysctl", "-qw", "net.ipv4.conf.all.route_localnet=1"),
            restore(
                "*nat\n-A OUTPUT -d 127.0.0.1/32 -p tcp -m tcp --dport 30080 -j DNAT "
                "--to-destination 10.1.0.3:8080\n"
                "-A POSTROUTING -s 127.0.0.0/8 -o cni0 -j MASQUERADE\nCOMMIT\n"
            ),
        ),
        broken_by=(on_host("sysctl", "-qw", "net.ipv4.conf.all.route_localnet=0"),),
        mended_by=(on_host("sysctl", "-qw", "net.ipv4.conf.all.route_localnet=1"),),
    ),
)
