"""Which software, devices and clouds a text speaks of."""

from __future__ import annotations

import re

import pytest

from podpath.evidence.documents.mentions import (
    LOOKED_AT,
    MENTIONS,
    OPENING,
    _TechnologyWords,
    find_emphasis,
    find_mentions,
)
from podpath.net.technologies import Technology


@pytest.mark.parametrize(
    ("text", "technology"),
    [
        ("vxlan.calico has no route", Technology.CALICO),
        ("flannel.1 is down", Technology.FLANNEL),
        ("a VM on Proxmox", Technology.PROXMOX),
        ("wg-quick brought it up", Technology.WIREGUARD),
        ("externalTrafficPolicy: Local", Technology.TRAFFIC_POLICY_LOCAL),
        ("a NetworkPolicy admits it", Technology.NETWORK_POLICY),
        ("after a while the address of eth0 is gone", Technology.VANISHES),
        ("the default route disappears a few minutes after boot", Technology.VANISHES),
        ("our ip rules get deleted whenever the link flaps", Technology.VANISHES),
        ("the host loses its default gateway once a pod starts", Technology.VANISHES),
        ("the setting does not survive a reboot", Technology.VANISHES),
        ("a container's veth gets an address from DHCP", Technology.VANISHES),
        ("since the new kernel eth0 is now enp3s0", Technology.RENAMED),
        ("kernel: e1000e 0000:00:19.0 eth1: renamed from eth0", Technology.RENAMED),
        ("the machine has only eth1 after the board was changed", Technology.RENAMED),
        ("it was set in /etc/sysconfig/network-scripts/ifcfg-eth0", Technology.NETWORK_MANAGER),
        ("dhclient runs beside it", Technology.DHCP),
        ("accept4: too many open files", Technology.LIMIT),
        ("it breaks after some days of uptime", Technology.LIMIT),
        ("sendto: No buffer space available", Technology.LIMIT),
        ("only under heavy load", Technology.LOAD),
        ("somebody else uses the same IP address", Technology.DUPLICATE),
        ("the ARP entry keeps flapping between two MACs", Technology.DUPLICATE),
        ("nginx logs the node's address, not the real client IP", Technology.SOURCE_LOST),
        ("all requests appear to come from the gateway", Technology.SOURCE_LOST),
        ("fails between two availability zones", Technology.ACROSS),
        ("works within one subnet, not across subnets", Technology.ACROSS),
        ("the targets are unhealthy in two of three zones", Technology.HEALTH_CHECK),
        ("only external names fail", Technology.EXTERNAL_NAME),
        ("our internal domain is not resolved", Technology.EXTERNAL_NAME),
        ("the gateway answers 404 since yesterday", Technology.HTTP_ERROR),
        ("it returns 503s", Technology.HTTP_ERROR),
        ("since we deployed the new version", Technology.AFTER_DEPLOY),
        ("after the last deploy one service fails", Technology.AFTER_DEPLOY),
        ("modprobe: FATAL: Module br_netfilter not found", Technology.MODULE),
        ("the link LEDs are dark", Technology.CABLE),
        ("the firewall blocks the port", Technology.FILTERED),
        ("crictl ps -a shows nothing", Technology.NODE_RUNTIME),
        ("the command fails in a script only", Technology.SCRIPT),
        ("/usr/local/bin/firewall.sh runs at boot", Technology.SCRIPT),
        ("the pod cannot reach itself by the service", Technology.OWN_SERVICE),
        ("it connects to itself", Technology.OWN_SERVICE),
    ],
)
def test_technology_is_found_by_its_words(text: str, technology: Technology) -> None:
    """Names of software, of its devices and of its settings count alike."""
    assert technology in find_mentions(text)


@pytest.mark.parametrize(
    ("text", "technology"),
    [
        (
            (
                "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue\n"
                "    link/loopback 00:00:00:00:00:00"
            ),
            Technology.LOCALHOST,
        ),
        ("    inet 127.0.0.1/8 scope host lo", Technology.LOCALHOST),
        ("2: eth0: <BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state UP", Technology.LARGE),
        ("2: eth0: <BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state UP", Technology.MULTICAST),
        ("          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1", Technology.MULTICAST),
        ("    inet6 fe80::1c2:3ff:fe04:506/64 scope link", Technology.IPV6),
        ("time=0.404 ms", Technology.HTTP_ERROR),
        ("leftupdown=/usr/local/bin/updown.sh", Technology.SCRIPT),
        ("until the deployment itself began to log errors", Technology.OWN_SERVICE),
        (
            "the cluster is misconfigured (e.g., it has invalid apiserver certificates)",
            Technology.CERTIFICATE,
        ),
    ],
)
def test_what_every_listing_of_devices_says_is_no_mention(
    text: str, technology: Technology
) -> None:
    """Nobody speaks of multicast or of sizes who pastes `ip addr`."""
    assert technology not in find_mentions(text)


def test_words_within_words_do_not_count() -> None:
    """`outfoxed` mentions nothing, and neither does what stands far behind."""
    assert frozenset() == find_mentions(
        "outfoxed, ducks dockyard".replace("dockyard", "yard") + " " * LOOKED_AT + "calico"
    )


def test_every_technology_has_its_words() -> None:
    """The table has one row for each."""
    assert list(Technology) == sorted(
        {row.technology for row in MENTIONS}, key=list(Technology).index
    )


@pytest.mark.parametrize("row", MENTIONS, ids=[row.technology for row in MENTIONS])
def test_words_are_in_small_letters(row: _TechnologyWords) -> None:
    """A text has no others by the time it is looked at."""
    assert re.search(r"(?<!\\)[A-Z]", row.pattern.pattern) is None


@pytest.mark.parametrize(
    ("device", "meant"),
    [
        ("eth0", True),
        ("enp3s0", True),
        ("docker0", False),
        ("cni0", False),
        ("br-0123456789ab", False),
    ],
)
def test_a_bridge_without_ports_has_no_cable(device: str, *, meant: bool) -> None:
    """Every host with an engine that runs nothing shows one."""
    line = f"3: {device}: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc noqueue state DOWN"

    assert meant is (Technology.CABLE in find_mentions(line))


def test_emphasis_is_on_what_a_text_begins_with() -> None:
    """What stands further down is a word of it, and no beginning."""
    found = find_emphasis("A macvlan network. " + "x " * OPENING + "flannel is there, too")

    assert (frozenset({Technology.MACVLAN}), True) == (found.opening, "flannel" in found.words)
