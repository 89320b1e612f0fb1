"""What each check finds, and that it keeps silent on a node that has nothing wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.finding import SEVERITIES, Finding
from podpath.checks.registry import CHECKS, find_check, run_checks
from podpath.net import protocols
from podpath.net.addresses import Address, Mac, Prefix
from podpath.net.packet import Packet
from podpath.net.provenance import Known, Listing
from podpath.node.case import ArpSighting, Case, Sighting
from podpath.node.links import Vxlan
from podpath.node.netfilter import ConntrackEntry, ConnTuple, MatchOption, PrefixMatch, Target
from podpath.node.node import Cilium, CniNetwork, Node, Service, ServicePort
from podpath.report.sentences.narrative import spell_claim
from tests.checks.nodes import address, bridge, chain, link, netns, node, pod, route, rule, span, table

HOST_MAC, SLAVE_MAC, PEER_MAC = Mac("02:00:00:00:00:01"), Mac("02:00:00:00:00:99"), Mac("02:00:00:00:00:77")


def findings(case: Case | Node, check: str) -> list[Finding]:
    """Run one check by its name."""
    found = find_check(check)
    assert found is not None
    assert found.run is not None
    return list(found.run(case if isinstance(case, Case) else Case(node=case)))


def test_every_check_has_a_page_of_the_same_shape() -> None:
    """The page names the check first, then says what, why, how to confirm, how to fix, and where to read on."""
    for check in CHECKS:
        assert check.page.startswith(f"{check.name}: ")
        for heading in ("\nWhat it is\n", "\nWhy it breaks\n", "\nHow to confirm\n", "\nHow to fix\n", "\nReferences\n"):
            assert heading in check.page, (check.name, heading)
        assert check.summary.endswith(".")


def test_names_are_unique() -> None:
    """No two faults share a name."""
    assert len(CHECKS) == len({check.name for check in CHECKS})


def bonded(metric: int) -> Node:
    """Make a host whose slave p1p1 has a route to 169.254.0.0/16 of that metric beside the bond's of 1007."""
    host = netns(
        links=[link("p1p1", master="bond7", mac=SLAVE_MAC), link("bond7", kind="bond", mac=HOST_MAC)],
        addresses=[address("bond7", "10.6.1.9")],
        routes=[route("169.254.0.0/16", "p1p1", metric), route("169.254.0.0/16", "bond7", 1007)],
    )
    return node(host)


def test_a_route_over_a_slave_is_found_where_it_wins() -> None:
    """The finding quotes the winning route first, and its repair deletes that route alone."""
    (found,) = findings(bonded(1002), "enslaved-route")
    assert found.evidence[0].text == "169.254.0.0/16 dev p1p1 metric 1002"
    assert found.repairs[0].commands == ("ip route del 169.254.0.0/16 dev p1p1 metric 1002",)
    assert found.severity == "fault"


def test_a_route_over_a_slave_that_loses_is_no_fault() -> None:
    """With a higher metric the slave's route decides nothing."""
    assert findings(bonded(1009), "enslaved-route") == []


def foreign_arp() -> Case:
    """Make a capture in which an ARP request with the slave's MAC makes inbound frames go astray for 29 s."""
    host, peer = Address.parse("10.6.1.9"), Address.parse("10.6.1.4")

    def frame(source: Address, target: Address, smac: Mac, dmac: Mac, time: float) -> Sighting:
        packet = Packet(source, target, protocols.TCP, smac=smac, dmac=dmac)
        return Sighting(packet=packet, span=span(f"{time} {smac} > {dmac}"), time=time)

    def arp(mac: Mac, target: str, time: float) -> ArpSighting:
        text = f"{time} {mac} who-has {target} tell {host}"
        return ArpSighting(
            operation="request",
            sender=host,
            target=Address.parse(target),
            sender_mac=mac,
            target_mac=None,
            span=span(text),
            time=time,
        )

    return Case(
        node=bonded(1002),
        sightings=(
            frame(host, peer, HOST_MAC, PEER_MAC, 1.0),
            frame(peer, host, PEER_MAC, HOST_MAC, 1.1),
            frame(host, peer, HOST_MAC, PEER_MAC, 3.0),
            frame(peer, host, PEER_MAC, SLAVE_MAC, 3.1),
        ),
        arps=(arp(SLAVE_MAC, "169.254.169.254", 2.0), arp(HOST_MAC, "10.6.1.4", 31.0)),
    )


def test_an_arp_with_a_foreign_mac_is_the_cause_of_lost_frames() -> None:
    """The finding names the route that made the host ask so, and the time that inbound frames were lost for."""
    (found,) = findings(foreign_arp(), "foreign-arp")
    assert found.severity == "cause"
    assert "169.254.0.0/16" in spell_claim(found.claim)
    assert "29 s" in found.breaks[0]
    assert [repair.commands for repair in found.repairs] == [("ip route del 169.254.0.0/16 dev p1p1 metric 1002",)]


def test_arp_with_the_right_mac_is_no_finding() -> None:
    """A host that speaks with one MAC has nothing wrong."""
    case = foreign_arp()
    assert findings(replace(case, arps=case.arps[1:]), "foreign-arp") == []


def filtered(mode: str, way_back: str) -> Node:
    """Make a host with rp_filter in that mode, and the route back to its pod over that device."""
    outer, inside = pod()
    host = netns(
        links=[outer, link("cni_host")],
        routes=[route("10.0.1.0/24", way_back)],
        sysctls={"net.ipv4.conf.all.rp_filter": mode, "net.ipv4.conf.lxc1.rp_filter": "0"},
    )
    return node(host, inside)


@pytest.mark.parametrize(
    ("mode", "way_back", "count"), [("1", "cni_host", 1), ("2", "cni_host", 1), ("0", "cni_host", 0), ("1", "lxc1", 0)]
)
def test_the_reverse_path_filter_is_found_where_the_way_back_is_another(mode: str, way_back: str, count: int) -> None:
    """Strict, or loose on an unnumbered device, with a route back over another device; else nothing."""
    found = findings(filtered(mode, way_back), "rp-filter")
    assert count == len(found)
    for finding in found:
        assert finding.evidence[0].text == f"net.ipv4.conf.all.rp_filter = {mode}"


def ordered(*jumps: str, masquerade: str = "true") -> Node:
    """Make a FORWARD chain that jumps to a drop of INVALID packets and to a plugin's accept, in that order."""
    forward = chain("FORWARD", *(rule("FORWARD", place, name) for place, name in enumerate(jumps, 1)), policy="ACCEPT")
    drop = chain("PROXY", rule("PROXY", 1, "DROP", state="INVALID"))
    accept = chain("PLUGIN", rule("PLUGIN", 1, "ACCEPT", in_link="px+"))
    options = {"enable-bpf-masquerade": Known(masquerade, span(f"enable-bpf-masquerade: {masquerade}"))}
    return replace(node(netns(tables=[table("filter", forward, drop, accept)])), cilium=Cilium(options=options))


def test_a_drop_of_invalid_packets_before_the_plugin_is_found() -> None:
    """The repair takes the plugin's jump out and puts it in first."""
    (found,) = findings(ordered("PROXY", "PLUGIN"), "chain-order")
    assert found.evidence[0].text == "-A PROXY -m conntrack --ctstate INVALID -j DROP"
    assert found.repairs[0].commands == ("iptables -t filter -D FORWARD -j PLUGIN", "iptables -t filter -I FORWARD 1 -j PLUGIN")


@pytest.mark.parametrize("sound", [ordered("PLUGIN", "PROXY"), ordered("PROXY", "PLUGIN", masquerade="false")])
def test_the_right_order_or_no_bypass_is_no_fault(sound: Node) -> None:
    """A plugin that stands first accepts; and where conntrack sees every packet, none is INVALID."""
    assert findings(sound, "chain-order") == []


def bridged(switch: str, target: str) -> Node:
    """Make a bridge of 10.22.0.0/24 and a rule that rewrites to that address."""
    dnat = rule("SEP", 1, "DNAT", table="nat")._replace(target=Target("DNAT", (MatchOption("to-destination", (target,)),)))
    host = netns(
        links=[bridge("br7")],
        addresses=[address("br7", "10.22.0.1")],
        sysctls={"net.bridge.bridge-nf-call-iptables": switch},
        tables=[table("nat", chain("SEP", dnat))],
    )
    return node(host)


@pytest.mark.parametrize(
    ("switch", "target", "count"), [("0", "10.22.0.9:80", 1), ("1", "10.22.0.9:80", 0), ("0", "10.99.0.9:80", 0)]
)
def test_bridged_replies_are_found_where_an_endpoint_is_on_the_bridge(switch: str, target: str, count: int) -> None:
    """Only an endpoint in the bridge's own subnet is answered past netfilter."""
    assert count == len(findings(bridged(switch, target), "br-netfilter"))


def test_a_host_with_pods_that_does_not_forward_is_found() -> None:
    """Without pods nobody needs it to forward."""
    outer, inside = pod()
    off = {"net.ipv4.ip_forward": "0"}
    assert len(findings(node(netns(links=[outer], sysctls=off), inside), "ip-forward")) == 1
    assert findings(node(netns(sysctls=off)), "ip-forward") == []


def described(*endpoints: tuple[Address, int], complete: bool = True) -> Service:
    """Make a service of 10.96.0.10:53 with these endpoints."""
    port = ServicePort(protocol=protocols.UDP, port=53, endpoints=endpoints, complete=complete)
    return Service(
        namespace="ns",
        name="dns",
        type="ClusterIP",
        addresses=(Address.parse("10.96.0.10"),),
        ports=(port,),
        span=span("Name: dns"),
    )


def tracked(endpoint: str) -> Node:
    """Make a conntrack entry that sends a DNS client to that endpoint, while 10.0.0.7 is the service's only one."""
    client, service, target = Address.parse("10.0.1.5"), Address.parse("10.96.0.10"), Address.parse(endpoint)
    entry = ConntrackEntry(
        original=ConnTuple(client, service, protocols.UDP, 4000, 53),
        reply=ConnTuple(target, client, protocols.UDP, 53, 4000),
        span=span(f"udp src={client} dst={service} [UNREPLIED] src={endpoint}"),
    )
    host = replace(netns(), conntrack=Listing((entry,), True, ""))
    return replace(node(host), services=(described((Address.parse("10.0.0.7"), 53)),))


def test_an_entry_to_an_endpoint_that_is_gone_is_found() -> None:
    """An entry to a living endpoint is none."""
    (found,) = findings(tracked("10.0.0.66"), "stale-conntrack")
    assert found.repairs[0].commands == ("conntrack -D -p udp --orig-dst 10.96.0.10",)
    assert findings(tracked("10.0.0.7"), "stale-conntrack") == []


def test_a_service_without_endpoints_is_found() -> None:
    """One whose list was cut off may have some."""
    assert len(findings(replace(node(netns()), services=(described(),)), "no-endpoints")) == 1
    assert findings(replace(node(netns()), services=(described(complete=False),)), "no-endpoints") == []


def test_rules_of_both_flavours_are_a_risk() -> None:
    """Legacy rules beside those of nft; a flavour with empty chains does not count."""
    accept = table("filter", chain("FORWARD", rule("FORWARD", 1, "ACCEPT")))
    legacy = replace(accept, flavour="legacy")
    empty = replace(table("filter", chain("FORWARD")), flavour="legacy")
    assert [found.severity for found in findings(node(netns(tables=[accept, legacy])), "both-backends")] == ["risk"]
    assert findings(node(netns(tables=[accept, empty])), "both-backends") == []


def test_an_address_on_two_devices_is_found() -> None:
    """Loopback's service addresses may be elsewhere too."""
    twice = netns(addresses=[address("eth0", "10.0.0.1"), address("eth1", "10.0.0.1")])
    shared = netns(addresses=[address("lo", "10.0.0.1"), address("eth1", "10.0.0.1")])
    assert len(findings(node(twice), "duplicate-address")) == 1
    assert findings(node(shared), "duplicate-address") == []


@pytest.mark.parametrize(("mtu", "count"), [(1500, 1), (1450, 0)])
def test_a_vxlan_device_must_leave_room_for_its_outer_headers(mtu: int, count: int) -> None:
    """Fifty bytes over IPv4."""
    tunnel = link("flannel.1", kind="vxlan", mtu=mtu, vxlan=Vxlan(vni=1, port=8472, local=Address.parse("10.0.0.1"), dev="eth0"))  # type: ignore[arg-type]
    found = findings(node(netns(links=[tunnel, link("eth0", mtu=1500)])), "vxlan-mtu")
    assert count == len(found)


def test_a_vxlan_device_without_a_lower_device_stands_on_its_local_address() -> None:
    """As flannel makes them; where neither is known nothing is said."""
    tunnel = link("vx0", kind="vxlan", mtu=1500, vxlan=Vxlan(vni=1, port=8472, local=Address.parse("10.0.0.1")))
    uplink = link("bond0", mtu=1500)
    stands = netns(links=[tunnel, uplink], addresses=[address("bond0", "10.0.0.1")])
    assert [found.evidence[0].text for found in findings(node(stands), "vxlan-mtu")] == [tunnel.span.text if tunnel.span else ""]
    assert findings(node(netns(links=[tunnel, uplink])), "vxlan-mtu") == []


@pytest.mark.parametrize(("count", "severities"), [("950", ["risk"]), ("1000", ["fault"]), ("100", [])])
def test_a_connection_table_that_fills_up_is_told(count: str, severities: list[str]) -> None:
    """Nearly full is a risk, full a fault."""
    host = netns(sysctls={"net.netfilter.nf_conntrack_count": count, "net.netfilter.nf_conntrack_max": "1000"})
    assert severities == [found.severity for found in findings(node(host), "conntrack-full")]


def test_a_rewrite_to_loopback_needs_the_switch() -> None:
    """With route_localnet on some device nothing is said."""
    dnat = rule("PREROUTING", 1, "DNAT", table="nat")._replace(
        target=Target("DNAT", (MatchOption("to-destination", ("127.0.0.1:80",)),))
    )
    tables = [table("nat", chain("PREROUTING", dnat))]
    key = "net.ipv4.conf.all.route_localnet"
    assert len(findings(node(netns(sysctls={key: "0"}, tables=tables)), "route-localnet")) == 1
    assert (
        findings(node(netns(sysctls={key: "0", "net.ipv4.conf.eth0.route_localnet": "1"}, tables=tables)), "route-localnet") == []
    )


def networks(*files: tuple[str, tuple[str, ...]]) -> Node:
    """Make a node with these files in net.d."""
    made = tuple(
        CniNetwork(path=f"/etc/cni/net.d/{name}", name="k8s", version="1.0.0", plugins=plugins, span=span(name))
        for name, plugins in files
    )
    return replace(node(netns()), cni=made)


def test_a_mesh_plugin_outside_of_the_loaded_file_is_found() -> None:
    """The runtime takes the first file by name."""
    raced = networks(("05-net.conflist", ("calico",)), ("10-net.conflist", ("calico", "linkerd-cni")))
    chained = networks(("05-net.conflist", ("calico", "linkerd-cni")), ("10-net.conflist", ("calico",)))
    assert len(findings(raced, "cni-chain")) == 1
    assert findings(chained, "cni-chain") == []


def test_a_plain_docker_host_has_nothing_wrong() -> None:
    """The rules that Docker writes on a host with one bridge and a published port give no finding."""
    published = rule("DOCKER", 1, "DNAT", in_link="docker0", table="nat")
    assert published.in_link is not None
    published = published._replace(
        in_link=published.in_link._replace(negated=True),
        target=Target("DNAT", (MatchOption("to-destination", ("172.17.0.2:80",)),)),
        dst=PrefixMatch(Prefix.parse("10.0.0.1/32")),
    )
    forward = chain("FORWARD", rule("FORWARD", 1, "DOCKER-USER"), rule("FORWARD", 2, "ACCEPT", in_link="docker0"), policy="DROP")
    host = netns(
        links=[bridge("docker0"), link("eth0")],
        addresses=[address("docker0", "172.17.0.1", 16), address("eth0", "10.0.0.1")],
        routes=[route("0.0.0.0/0", "eth0", gateway="10.0.0.254"), route("172.17.0.0/16", "docker0")],
        sysctls={"net.ipv4.ip_forward": "1", "net.bridge.bridge-nf-call-iptables": "0"},
        tables=[
            table("nat", chain("DOCKER", published)),
            table("filter", forward, chain("DOCKER-USER", rule("DOCKER-USER", 1, "RETURN"))),
        ],
    )
    assert list(run_checks(Case(node=node(host)))) == []


def test_severities_are_the_published_ones() -> None:
    """A check gives no other weight than the schema names."""
    cases = [Case(node=bonded(1002)), foreign_arp(), Case(node=tracked("10.0.0.66"))]
    assert {found.severity for case in cases for found in run_checks(case)} <= set(SEVERITIES)
