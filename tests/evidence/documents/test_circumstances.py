"""What prose tells beside the failure itself, in many wordings, and what only shares words with
it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.circumstances import read_circumstances
from podpath.net.complaints import Circumstance

START, BY_HAND = Circumstance.AT_CONTAINER_START, Circumstance.BY_HAND
ROUTES, PUBLISHES = Circumstance.ROUTES_FOR_OTHERS, Circumstance.PUBLISHES
VPN, BACK = Circumstance.SERVES_VPN, Circumstance.RETURNS_ELSEWHERE
BRIDGED = Circumstance.BRIDGED
LOOPBACK, DROPS = Circumstance.TO_LOOPBACK, Circumstance.FORWARD_DROPS
WAYS, BRIDGE = Circumstance.SEVERAL_WAYS, Circumstance.ON_ONE_BRIDGE
OWN, HERE = Circumstance.WITH_OWN_HOST, Circumstance.RUNS_HERE
OUTSIDE_NAMES, AT_TIMES = Circumstance.EXTERNAL_NAMES, Circumstance.INTERMITTENT
PROBES, WARNED = Circumstance.PROBED_BY_BALANCER, Circumstance.FORWARDING_WARNED
UNFILTERED = Circumstance.WITHOUT_FIREWALL
CLOSED = Circumstance.WANTED_CLOSED
DOWN = Circumstance.AGENT_DOWN
RELOADED, SOME = Circumstance.FIREWALL_RELOADED, Circumstance.SOME_NODES


def told(text: str) -> set[Circumstance]:
    """Return what a sentence tells."""
    return {one.circumstance for one in read_circumstances("ticket.md", (text,), ())}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pods of the network (sdn, ovs) are never started there.", DOWN),
        ("The calico-node pods crash on the new worker.", DOWN),
        ("On this node there are no flannel pods.", DOWN),
        ("That was on the old node; we replaced it.", Circumstance.PAST),
        ("I fixed that one by installing the plugins.", Circumstance.PAST),
        ("This has been solved.", Circumstance.PAST),
        ("That was before the reboot; since then the log is clean.", Circumstance.PAST),
        ("Since then our kernel log stays quiet.", Circumstance.PAST),
        ("Since firewall-cmd --reload the pods get no answers.", RELOADED),
        ("After systemctl restart firewalld nothing published is reachable.", RELOADED),
        ("Whenever the firewall is reloaded our containers lose their network.", RELOADED),
        ("The node port answers only on one of our three workers.", SOME),
        ("It is only reachable via the node that runs the pod.", SOME),
        ("The service works on one node but not on the others.", SOME),
        ("The port can be reached from everywhere, whatever I set in firewalld.", CLOSED),
        ("It is accessible regardless of the zone.", CLOSED),
        ("I expected that only the zone's ports are open.", CLOSED),
        ("The default route goes whenever a container is started.", START),
        ("After the pod has been deleted the host loses its address.", START),
        ("Each time I run docker compose up the network is gone.", START),
        ("Starting another container cuts the host off.", START),
        ("The route vanishes as soon as the second VM comes up.", START),
        ("Running the same script by hand works.", BY_HAND),
        ("If I load the rules later on, everything is fine.", BY_HAND),
        ("It succeeds when done manually.", BY_HAND),
        ("The lab machines behind this box cannot reach the internet.", ROUTES),
        ("This server is the gateway of our office.", ROUTES),
        ("All clients go through this host.", ROUTES),
        ("The laptop shares its internet connection with a phone.", ROUTES),
        ("The VM acts as a NAT instance for the subnet.", ROUTES),
        ("The published sites cannot be opened.", PUBLISHES),
        ("Port 8080 of the container is exposed on the host.", PUBLISHES),
        ("It was started with -p 8080:80.", PUBLISHES),
        ("A DNAT rule sends port 80 to 127.0.0.1:8080.", LOOPBACK),
        ("Port 25 is redirected to the proxy on localhost.", LOOPBACK),
        ("The FORWARD chain has a policy of drop.", DROPS),
        ("The firewall drops forwarded packets by default.", DROPS),
        ("The host has two uplinks.", WAYS),
        ("Replies are policy-routed.", WAYS),
        ("Requests arrive on eth1 and the replies leave by another card.", BACK),
        ("The route back to the clients leads out of eth0.", BACK),
        ("The path is asymmetric.", BACK),
        ("It is a WireGuard server for a few phones.", VPN),
        ("An exit node of Tailscale.", VPN),
        ("The proxy listens on localhost:3128, so port 80 is redirected to it.", LOOPBACK),
        ("The guests are bridged to the LAN.", BRIDGED),
        ("VMs hang on the network by br0.", BRIDGED),
        ("Both are on the same bridge.", BRIDGE),
        ("The host cannot ping its own containers.", OWN),
        ("A container can't reach the host it runs on.", OWN),
        ("Other PCs reach the container, but the docker host itself cannot connect to it.", OWN),
        ("Everything works except from the host itself.", OWN),
        ("It is not reachable from its own host.", OWN),
        ("No traffic passes between the host and its containers.", OWN),
        ("The container could not access the host machine.", OWN),
        ("It fails even on the node that runs the pod.", HERE),
        ("I asked the worker with the pod directly.", HERE),
        ("The only replica is running on this very node.", HERE),
        ("The machine which hosts the endpoint drops it too.", HERE),
        ("An endpoint of the service is on the same node.", HERE),
        ("External names are not resolved.", OUTSIDE_NAMES),
        ("Lookups of public domains fail.", OUTSIDE_NAMES),
        ("Names that are not of the cluster time out.", OUTSIDE_NAMES),
        ("Internet hostnames cannot be looked up in pods.", OUTSIDE_NAMES),
        ("Names outside our cluster give SERVFAIL.", OUTSIDE_NAMES),
        ("It times out now and then.", AT_TIMES),
        ("The error occurs sporadically.", AT_TIMES),
        ("From time to time the lookup is slow.", AT_TIMES),
        ("Requests randomly fail.", AT_TIMES),
        ("The balancer's health checks come from the same address.", PROBES),
        ("Its probes are sent from the VIP's address.", PROBES),
        ("Health probes originate from the balancer's own IP.", PROBES),
        ("Docker warns that IPv4 forwarding is disabled.", WARNED),
        ("The log says IP forwarding is off.", WARNED),
        ("A warning: ipv4 forwarding is disabled, networking will not work.", WARNED),
        ("Two containers on docker0 cannot talk.", BRIDGE),
        ("Port 1900 stays open although I drop it.", CLOSED),
        ("Even though the rule rejects them, telnet still gets through.", CLOSED),
        ("fail2ban does not ban the address.", CLOSED),
        ("Why is it not filtered?", CLOSED),
        ("Banned addresses do not get rejected.", CLOSED),
        ("The kill switch does not hold.", CLOSED),
        ("IPTABLES not blocking port 1720", CLOSED),
        ("A scan says that port 1720 stays open persistently.", CLOSED),
    ],
)
def test_a_circumstance_is_told_in_many_ways(text: str, expected: Circumstance) -> None:
    """Who and what have to stand in one clause; how they are worded is free."""
    assert expected in told(text)


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("The container runs. The network is slow; we started late.", START),
        ("The network of the pods is not there yet.", DOWN),
        ("The calico pods run, and the node is not ready.", DOWN),
        ("Restarting nginx manually works.", BY_HAND),
        ("The site is behind schedule.", ROUTES),
        ("The default gateway of the pod is missing.", ROUTES),
        ("We published an article on the network.", PUBLISHES),
        ("A web server, nothing behind it.", ROUTES),
        ("The port is open, and no rule drops anything.", CLOSED),
        ("The port cannot be reached, whatever I set in firewalld.", CLOSED),
        ("I expected only a short outage.", CLOSED),
        ("Since the firewall is on only port 22 stays open.", CLOSED),
        ("Port 80 is not blocked, but connections time out.", CLOSED),
        ("The service listens on 127.0.0.1.", LOOPBACK),
        ("I look forward to a reply.", DROPS),
        ("The host has one uplink.", WAYS),
        ("The same host was fine.", BRIDGE),
        ("The host cannot reach the internet.", OWN),
        ("The server cannot connect to its database.", OWN),
        ("Containers cannot reach the other host.", OWN),
        ("The node with the label gpu is new.", HERE),
        ("The pod runs on another node.", HERE),
        ("Names of services are not resolved.", OUTSIDE_NAMES),
        ("From external hosts it works.", OUTSIDE_NAMES),
        ("It often helps to restart.", AT_TIMES),
        ("Kubelet's probes come from the node's own address.", PROBES),
        ("The balancer probes the health check port.", PROBES),
        ("Port forwarding is set up.", WARNED),
        ("IP forwarding is on.", WARNED),
        ("Even after firewall-cmd --reload nothing gets through.", RELOADED),
        ("After reloading firewalld it still times out.", RELOADED),
        ("The service is only reachable from the node itself.", SOME),
        ("It only works from the host.", SOME),
        ("How can this be solved?", Circumstance.PAST),
        ("That was before the reboot, and it is still the same.", Circumstance.PAST),
        ("That was on the new node.", Circumstance.PAST),
        ("After the reboot the route was gone.", Circumstance.PAST),
    ],
)
def test_shared_words_tell_nothing(text: str, absent: Circumstance) -> None:
    """The words alone, apart or about something else, are no circumstance."""
    assert absent not in told(text)


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_text_is_read(lines: list[str]) -> None:
    """No prose breaks the reader, and each circumstance is told once, with a line of the text."""
    found = read_circumstances("ticket.md", lines, ())

    once = [one.circumstance for one in found if one.circumstance is not Circumstance.PAST]
    assert len(once) == len(set(once))
    assert all(1 <= one.span.line <= len(lines) for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "When I stop firewalld everything works at once.",
        "If the firewall is disabled, it works.",
        "It works after turning off ufw.",
        "Disabling iptables fixes it.",
        "With the firewall off it works.",
        "Once firewalld was stopped all nodes were fine.",
        "If I turn the firewall off the pods resolve names and it works.",
        "I'm only able to access it from outside if I disable firewalld.",
        "When I disable the firwall it works.",
        "After `iptables -I INPUT -p tcp --dport 40123 -j ACCEPT` it works.",
    ],
)
def test_it_works_without_the_firewall(text: str) -> None:
    """Who takes it away, and what follows, in either order."""
    assert UNFILTERED in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Stopping firewalld does not help.",
        "I disabled the firewall, but it still fails.",
        "The firewall is disabled on all nodes.",
        "It works with firewalld enabled.",
        "After removing the firewall rules nothing works.",
        "It is not fixed by disabling ufw.",
        "After `iptables -I INPUT -p tcp --dport 31001 -j ACCEPT` it still does not work.",
        "I can reach it with firewalld enabled.",
    ],
)
def test_it_fails_without_the_firewall_too(text: str) -> None:
    """Or nobody says what follows."""
    assert UNFILTERED not in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Since docker runs on the host itself, no guest has IPv4 any more.",
        "Guests on our bridges have no network since docker was installed on the host.",
        "Since I installed Docker Engine the libvirt guests have no internet.",
        "With docker.service and docker.socket off and after a reboot they have.",
        "If I stop docker and flush everything it works again.",
        "The VMs lose their network as soon as the docker daemon starts.",
        "Once dockerd is running the bridge's guests are cut off.",
    ],
)
def test_it_fails_since_docker_runs(text: str) -> None:
    """It is installed or started, or it works without it."""
    assert Circumstance.SINCE_ENGINE in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "The host runs Docker and KVM.",
        "It works without docker network settings.",
        "Since the upgrade the docker containers fail.",
        "I stopped docker, and it still fails.",
        "The route vanishes as soon as a docker container starts.",
    ],
)
def test_docker_is_there_and_nobody_says_since_when_it_fails(text: str) -> None:
    """It is mentioned, or its absence does not help."""
    assert Circumstance.SINCE_ENGINE not in told(text)
