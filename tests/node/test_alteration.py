"""Changes applied to a node: each does what its command does, and touches nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.net.nft import NftFamily
from podpath.net.provenance import Known
from podpath.node.alteration import apply_change, apply_changes
from podpath.node.change import (
    AddAddress,
    AddPolicyRule,
    AddRoute,
    Change,
    DeleteConntrack,
    DeletePolicyRule,
    DeleteRoute,
    DeleteRule,
    InsertRule,
    LoadModule,
    PutFdbEntry,
    PutNftables,
    PutTable,
    SetLink,
    SetPolicy,
    SetSysctl,
)
from podpath.node.netfilter import Table
from podpath.node.nftables import NftTable
from podpath.node.node import HOST, Node
from podpath.node.routing import DEFAULT_RULES, PolicyRule
from podpath.testing.nodes import given_netns, given_node
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName
from tests.checks.nodes import address, chain, link, netns, node, route, rule, table

FIRST, SECOND = rule("FORWARD", 1, "ONE"), rule("FORWARD", 2, "TWO")
ROUTE = route("10.0.0.0/8", "eth0")


def host(*, sysctls: dict[str, str] | None = None) -> Node:
    """Make a host with two rules in FORWARD, a route and a device."""
    tables = [table("filter", chain("FORWARD", FIRST, SECOND, policy="DROP"))]
    return node(netns(links=[link("eth0")], routes=[ROUTE], tables=tables, sysctls=sysctls))


def targets(changed: Node) -> list[tuple[int, str]]:
    """Return the places and targets of FORWARD."""
    fact = changed.host.netfilter[4].tables[0].chains["FORWARD"]
    assert isinstance(fact, Known)
    return [
        (rule.position, rule.target.name) for rule in fact.value.rules if rule.target is not None
    ]


def known(changed: Node, key: str) -> str:
    """Return a sysctl's value."""
    fact = changed.host.sysctls[key]
    assert isinstance(fact, Known)
    value: str = fact.value
    return value


def test_a_rule_moves_up() -> None:
    """Deleted and put in first, it is first, and positions are counted anew."""
    places = {"netns": HOST, "family": 4, "flavour": "nft"}
    delete = DeleteRule(**places, rule=SECOND)  # type: ignore[arg-type]  # one table of fields for both
    insert = InsertRule(**places, rule=SECOND._replace(position=1))  # type: ignore[arg-type]  # as above
    assert targets(apply_changes(host(), (delete, insert))) == [(1, "TWO"), (2, "ONE")]


def test_a_policy_is_set() -> None:
    """The rules stay."""
    changed = apply_change(
        host(),
        SetPolicy(
            netns=HOST,
            family=4,
            flavour=TableFlavour.NFT,
            table="filter",
            chain="FORWARD",
            policy=ChainPolicy.ACCEPT,
        ),
    )
    fact = changed.host.netfilter[4].tables[0].chains["FORWARD"]
    assert isinstance(fact, Known)
    assert fact.value.policy == "ACCEPT"
    assert targets(changed) == targets(host())


@pytest.mark.parametrize("flavour", list(TableFlavour))
def test_a_change_touches_its_own_flavour_only(flavour: TableFlavour) -> None:
    """Rules of nft are not reached by a change of legacy."""
    changed = apply_change(host(), DeleteRule(netns=HOST, family=4, flavour=flavour, rule=FIRST))
    assert len(targets(changed)) == (1 if flavour == "nft" else 2)


def test_routes_and_addresses_come_and_go() -> None:
    """What is added stands last; what is deleted is gone."""
    other = route("10.1.0.0/16", "eth0")
    added = apply_change(host(), AddRoute(netns=HOST, route=other))
    assert added.host.routes.items == (ROUTE, other)
    assert apply_change(added, DeleteRoute(netns=HOST, route=ROUTE)).host.routes.items == (other,)
    own = address("eth0", "10.0.0.9")
    assert apply_change(host(), AddAddress(netns=HOST, address=own)).host.addresses.items == (own,)


def test_policy_rules_come_and_go() -> None:
    """An added rule is there besides the default ones."""
    extra = PolicyRule(family=4, priority=100, src=Prefix.parse("10.0.0.0/8"))
    added = apply_change(host(), AddPolicyRule(netns=HOST, rule=extra))
    assert added.host.rules.items == (*DEFAULT_RULES[4], extra)
    assert (
        apply_change(added, DeletePolicyRule(netns=HOST, rule=extra)).host.rules.items
        == DEFAULT_RULES[4]
    )


def test_the_forwarding_switch_is_copied_to_every_device() -> None:
    """As the kernel does when net.ipv4.ip_forward is written."""
    before = host(
        sysctls={"net.ipv4.conf.eth0.forwarding": "0", "net.ipv4.conf.eth0.rp_filter": "1"}
    )
    changed = apply_change(before, SetSysctl(netns=HOST, key="net.ipv4.ip_forward", value="1"))
    assert [
        known(changed, key) for key in ("net.ipv4.ip_forward", "net.ipv4.conf.eth0.forwarding")
    ] == ["1", "1"]
    assert known(changed, "net.ipv4.conf.eth0.rp_filter") == "1"


def test_a_loaded_module_brings_its_sysctls() -> None:
    """br_netfilter's switch is on by default, in every namespace."""
    changed = apply_change(host(), LoadModule(name="br_netfilter"))
    assert known(changed, "net.bridge.bridge-nf-call-iptables") == "1"
    assert changed.modules.items == ("br_netfilter",)


def test_a_device_takes_its_attributes() -> None:
    """Hairpin belongs to the bridge port, the others to the device."""
    attributes = (("hairpin", "on"), ("mtu", "1400"), ("state", "down"), ("promisc", "on"))
    changed = apply_change(
        host(), SetLink(netns=HOST, link="eth0", attributes=attributes)
    ).host.links.items[0]
    assert changed.port is not None
    assert (True, 1400, False, True) == (
        changed.port.hairpin,
        changed.mtu,
        changed.up,
        changed.promisc,
    )


@pytest.mark.parametrize(
    "change",
    [
        SetSysctl(netns="elsewhere", key="a.b", value="1"),
        DeleteRoute(netns=HOST, route=route("1.0.0.0/8", "eth0")),
        DeleteConntrack(netns=HOST, original_dst=str(Address.parse("10.0.0.1"))),
        SetLink(netns=HOST, link=IfName("nothing"), attributes=(("mtu", "1"),)),
        SetPolicy(
            netns=HOST,
            family=4,
            flavour=TableFlavour.NFT,
            table="nat",
            chain="FORWARD",
            policy=ChainPolicy.DROP,
        ),
    ],
)
def test_a_change_of_something_that_is_not_there_changes_nothing(change: Change) -> None:
    """The node is equal to what it was."""
    before = host()
    assert apply_change(before, change) == before


def test_a_forwarding_entry_takes_the_place_of_the_one_of_its_mac() -> None:
    """`bridge fdb replace` leaves those of other devices and MACs."""
    host = given_netns("host", "vx vni 1", fdb=["02:00:00:00:00:01 dev vx dst 192.0.2.9"])
    entry = replace(host.fdb.items[0], dst=Address.parse("192.0.2.2"))
    other = replace(entry, mac=Mac("02:00:00:00:00:02"))

    changed = apply_changes(
        given_node(host), [PutFdbEntry(netns="host", entry=one) for one in (entry, other)]
    )

    assert changed.host.fdb.items == (entry, other)


def test_a_table_takes_the_place_of_the_one_of_its_flavor() -> None:
    """One that is new stands where the kernel has it."""
    made = [
        Table(name=TableName(name), family=4, flavour=TableFlavour.NFT, chains={})
        for name in ("filter", "raw")
    ]
    changed = apply_changes(host(), [PutTable(netns=HOST, table=one) for one in made])

    assert ["raw", "filter"] == [one.name for one in changed.host.netfilter[4].tables]
    assert {} == changed.host.netfilter[4].tables[1].chains


def test_native_tables_are_put_and_all_is_known_after_a_flush() -> None:
    """A flush of one family leaves the other's, and what iptables-nft made of it goes too."""
    made = NftTable(family=NftFamily.IP6, name="t")
    change = PutNftables(netns=HOST, tables=(made,), flushed=(4,), whole=True)
    changed = apply_change(host(), change)

    assert ((made,), True) == (changed.host.nftables.items, changed.host.nftables.complete)
    assert () == changed.host.netfilter[4].tables
