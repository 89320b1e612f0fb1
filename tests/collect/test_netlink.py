"""What the kernel says over netlink of a namespace."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from contextlib import ExitStack

import pytest

from podpath.collect.netlink import (
    IPSETS,
    NFTABLES,
    XFRM_POLICIES,
    NetlinkDump,
    is_empty,
    is_known,
    list_rules,
    open_routing,
)
from podpath.collect.netns import inside
from tests.collect.machines import PREFIX, add_netns, ip

NAME = f"{PREFIX}-e"


@pytest.mark.kernel("ip")
def test_devices_are_those_that_ip_lists() -> None:
    """Names, indices, kinds and masters, of more devices than one message of the kernel holds."""
    with ExitStack() as stack:
        add_netns(stack, NAME)
        ip("link", "add", "br0", "type", "bridge", netns=NAME)
        for number in range(60):
            ip("link", "add", f"a{number}", "master", "br0", "type", "veth", netns=NAME)
        with inside(f"/run/netns/{NAME}"), open_routing() as kernel:
            found = kernel.list_devices()
        printed = subprocess.run(
            ("ip", "-n", NAME, "-d", "-j", "link"), check=True, capture_output=True
        )
        names = {device.ifindex: device.name for device in found}
        seen = [(each.name, each.kind, names.get(each.master or 0)) for each in found]
        assert seen == [
            (each["ifname"], each.get("linkinfo", {}).get("info_kind", ""), each.get("master"))
            for each in json.loads(printed.stdout)
        ]


@pytest.mark.kernel("ip")
def test_devices_with_gateways_are_those_of_every_table_and_every_next_hop() -> None:
    """Of one route or of several hops, of either family, by an address of the other family; a
    route without a gateway tells of none.
    """
    with ExitStack() as stack:
        add_netns(stack, NAME)
        for number in range(6):
            ip("link", "add", f"d{number}", "up", "type", "bridge", netns=NAME)
            ip("addr", "add", f"192.0.2.{number * 8 + 1}/29", "dev", f"d{number}", netns=NAME)
        ip("addr", "add", "2001:db8::1/64", "dev", "d3", "nodad", netns=NAME)
        hops = ("nexthop", "via", "192.0.2.2", "nexthop", "via", "192.0.2.10")
        ip("route", "add", "default", *hops, netns=NAME)
        ip("route", "add", "default", "via", "192.0.2.18", "table", "100", netns=NAME)
        ip("-6", "route", "add", "default", "via", "2001:db8::2", netns=NAME)
        ip("route", "add", "203.0.113.0/24", "via", "inet6", "fe80::1", "dev", "d4", netns=NAME)
        ip("route", "add", "198.51.100.0/24", "dev", "d5", netns=NAME)
        with inside(f"/run/netns/{NAME}"), open_routing() as kernel:
            names = {each.ifindex: each.name for each in kernel.list_devices()}
            found = sorted(names[index] for index in kernel.list_gateway_devices())
        assert found == ["d0", "d1", "d2", "d3", "d4"]


@pytest.mark.kernel("ip", "nft", "ipset")
def test_emptiness_is_asked_for() -> None:
    """A namespace without rules and sets has none; one with a table and a set has some. What the
    kernel does not answer is not empty.
    """
    with ExitStack() as stack:
        add_netns(stack, NAME)
        with inside(f"/run/netns/{NAME}"):
            assert is_empty(NFTABLES)
            assert is_empty(IPSETS)
            subprocess.run(("nft", "add", "table", "ip", "some"), check=True)
            subprocess.run(("ipset", "create", "some", "hash:ip"), check=True)
            assert not is_empty(NFTABLES)
            assert not is_empty(IPSETS)
            assert not is_empty(NetlinkDump(12, 200 << 8 | 1, bytes(4)))


@pytest.mark.kernel("ip", "tc")
def test_policies_and_disciplines_are_seen() -> None:
    """Without a policy there is none to list; a device of a pod does not queue, and a place for
    filters shows beside it. A protocol that no kernel has is known as such.
    """
    with ExitStack() as stack:
        add_netns(stack, NAME)
        with inside(f"/run/netns/{NAME}"), open_routing() as kernel:
            assert is_known(XFRM_POLICIES)
            assert is_empty(XFRM_POLICIES)
            ip(*["xfrm", "policy", "add", "dir", "out", "dst", "192.0.2.1", "action", "block"])
            assert not is_empty(XFRM_POLICIES)
            ip(*["link", "add", "v0", "type", "veth", "peer", "name", "v1"])
            ip(*["link", "set", "v0", "up"])
            subprocess.run(("tc", "qdisc", "add", "dev", "v0", "clsact"), check=True)
            found = kernel.list_qdiscs() or ()
            assert {"noqueue", "clsact"} == {each.kind for each in found}
        assert not is_known(NetlinkDump(31, 1))


@pytest.mark.kernel("ip")
def test_a_namespace_has_a_number_for_another_once_a_link_ties_them() -> None:
    """Before it has none."""
    with ExitStack() as stack:
        other = f"{PREFIX}-f"
        add_netns(stack, NAME)
        add_netns(stack, other)
        descriptor = os.open(f"/run/netns/{other}", os.O_RDONLY)
        stack.callback(os.close, descriptor)
        with inside(f"/run/netns/{NAME}"), open_routing() as kernel:
            assert kernel.find_identifier(descriptor) is None
            ip("link", "add", "x0", "type", "veth", "peer", "x0", "netns", other, netns=NAME)
            (device,) = (each for each in kernel.list_devices() if each.kind == "veth")
            assert kernel.find_identifier(descriptor) == device.identifier


@pytest.mark.kernel("ip")
def test_the_same_rules_are_the_same_dump() -> None:
    """And one more is another one."""
    with ExitStack() as stack:
        add_netns(stack, NAME)
        with inside(f"/run/netns/{NAME}"):
            first, again = list_rules(socket.AF_INET6), list_rules(socket.AF_INET6)
            ip("-6", "rule", "add", "from", "fd00::1", "lookup", "77", netns=NAME)
            more = list_rules(socket.AF_INET6)
        assert first
        assert first == again
        assert more is not None
        assert len(more) > len(first)
