"""A node spelled as the commands that build it."""

from __future__ import annotations

import subprocess
from dataclasses import replace

from podpath.net.addresses import Address, IfName, MaskedMark, PortRange, Prefix
from podpath.net.provenance import Listing
from podpath.node.links import Link
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.node.routing import Nexthop, PolicyRule, Route
from podpath.xtables.legality import ChainPolicy
from podpath_lab.draft import Draft
from podpath_lab.script import (
    emit_connection,
    emit_policy_rule,
    emit_removal,
    emit_shell,
    emit_table,
    emit_twin,
)
from podpath_lab.topologies import bridged_pods, routed_pods


def lines(draft: Draft, netns: str) -> str:
    """Return all that is fed to the commands of one namespace."""
    twin = emit_twin(draft.freeze())
    return "".join(
        command.stdin for command in twin.commands if netns in (command.netns, *command.arguments)
    )


def test_namespaces_come_first_and_a_veth_pair_is_made_once() -> None:
    """Every name exists before it is used, whichever end of a pair stands first."""
    first, *_ = emit_twin(bridged_pods().draft.freeze()).commands
    lines = first.stdin.splitlines()
    assert ["netns", "netns", "netns", "netns"] == [line.split()[0] for line in lines[:4]]
    assert ["link"] == sorted({line.split()[0] for line in lines[4:]})
    assert first.stdin.count("type veth peer") == 3


def test_gateways_follow_the_routes_that_reach_them() -> None:
    """A route by a gateway is added after the on-link route to it, in whatever order the node lists
    them.
    """
    text = lines(routed_pods().draft, "pod1")
    assert text.index("10.1.1.1/32 dev eth0") < text.index("via 10.1.1.1")


def test_a_bridge_keeps_its_mtu_over_a_smaller_port() -> None:
    """Its MTU is set again behind its ports: what it has by chance, it lowers with the smallest."""
    draft = bridged_pods().draft
    host = draft.namespaces["host"]
    host.links[:] = [replace(link, mtu=1400) if link.master else link for link in host.links]
    text = lines(draft, "host")
    assert text.rindex("link set cni0 mtu 1500\n") > text.rindex("master cni0")


def test_a_device_that_cannot_be_built_is_named() -> None:
    """What the twin leaves out is said, with the device and its kind."""
    draft = Draft()
    host = draft.add_netns("host")
    host.links.append(Link(name=IfName("bond0"), kind="bond"))
    assert emit_twin(draft.freeze()).left_out == ("bond0 in host: a bond device has no twin here",)


def test_only_sysctls_of_the_datapath_are_written_by_path() -> None:
    """A device's name may hold a dot, so sysctls are spelled with slashes; the ones that decide
    nothing stay away.
    """
    draft = Draft()
    host = draft.add_netns("host")
    host.links.append(replace(Link(name=IfName("flannel.1"), kind="vxlan"), bridge=None))
    host.sysctls |= {"net.ipv4.ip_forward": "1", "net.core.somaxconn": "4096"}
    text = lines(draft, "host")
    assert "net/ipv4/ip_forward = 1" in text
    assert "somaxconn" not in text


def test_policy_rule_with_every_selector() -> None:
    """Each selector is spelled as `ip rule` takes it."""
    rule = PolicyRule(
        family=4, priority=7, negated=True, src=Prefix.parse("10.0.0.0/8"), iif=IfName("eth0"),
        mark=MaskedMark(2, 0xFF), protocol=6, dport=PortRange(80, 90), table=100,
        suppress_prefixlength=0,
    )  # fmt: skip
    words = (
        "not priority 7 from 10.0.0.0/8 iif eth0 fwmark 0x2/0xff ipproto 6 dport 80-90 "
        "suppress_prefixlength 0 lookup 100"
    )
    assert f"rule add {words}" == emit_policy_rule(rule)


def test_a_translated_connection_is_given_as_before_nat() -> None:
    """`conntrack -R` gets the tuple before NAT and what NAT made of it, so that the kernel
    translates its packets.
    """
    client, service, pod = (Address.parse(text) for text in ("10.0.0.5", "10.96.0.10", "10.0.0.9"))
    entry = ConntrackEntry(
        original=ConnTuple(client, service, 17, 4444, 53),
        reply=ConnTuple(pod, client, 17, 5353, 4444),
        replied=True,
    )
    words = emit_connection(entry)
    assert "-s 10.0.0.5 -d 10.96.0.10 -r 10.96.0.10 -q 10.0.0.5" in words
    assert "--dst-nat 10.0.0.9:5353" in words
    assert "--src-nat" not in words


def test_a_table_reads_as_iptables_restore_takes_it() -> None:
    """Base chains carry their policy, counters stand at zero, and the table is committed."""
    draft = Draft()
    draft.add_netns("host").table("filter", "nft").policies["FORWARD"] = ChainPolicy.DROP
    table = draft.freeze().host.netfilter[4].tables[0]
    assert (
        "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
        == emit_table(table, [])
    )


def test_multipath_route_names_every_way() -> None:
    """Each nexthop has its gateway, device and weight."""
    draft = Draft()
    hops = tuple(
        Nexthop(link=IfName("eth0"), gateway=Address.parse(f"10.0.0.{n}"), weight=n) for n in (1, 2)
    )
    draft.add_netns("host").routes.append(Route(prefix=Prefix.parse("10.9.0.0/16"), nexthops=hops))
    assert "nexthop via 10.0.0.1 dev eth0 weight 1 nexthop via 10.0.0.2 dev eth0 weight 2" in lines(
        draft, "host"
    )


def test_shell_script_is_one_that_a_shell_can_read() -> None:
    """The printed script parses, names what is not rebuilt, and takes down what it made."""
    twin = emit_twin(bridged_pods().draft.freeze())
    script = emit_shell(twin, (), ("a note\nof two lines",))
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    assert "# a note\n# of two lines\n" in script
    assert all(f"netns del {name}" in emit_removal(twin).stdin for name in twin.namespaces)


def test_addresses_of_a_draft_know_which_are_secondary() -> None:
    """The second address of a subnet is a secondary one, as the kernel makes it."""
    draft = Draft()
    host = draft.add_netns("host")
    host.links.append(Link(name=IfName("eth0")))
    host.add_address("eth0", "10.0.0.1/24")
    host.add_address("eth0", "10.0.0.2/24")
    assert [False, True] == [address.secondary for address in host.addresses]
    assert isinstance(draft.freeze().host.links, Listing)
