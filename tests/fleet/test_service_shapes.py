"""Which services are alike: by all that their rules say, and by who else names their address."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.net.addresses import Address
from podpath.net.provenance import Listing
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.node.node import HOST, Cilium, Node
from podpath_fleet.service_shapes import ShapedService, list_shaped_services

SERVICES = [
    one._replace(port=80, endpoints=tuple(f"10.244.7.{place}:8080" for place in ends))
    for one, ends in zip(
        generate_services(18, 2), [(2 * n + 1, 2 * n + 2) for n in range(17)] + [(9,)], strict=True
    )
]
RULES = emit_ruleset(SERVICES)
FIRST = Address.parse(SERVICES[1].address)


def list_alike(rules: str = RULES, node: Node | None = None) -> list[ShapedService]:
    """List the services that have the shape of most."""
    found = list_shaped_services(node or assemble_node(rules), 4)
    shapes = [one.shape for one in found]
    most = max(shapes, key=shapes.count)
    return [one for one in found if one.shape == most]


def test_services_with_as_many_endpoints_are_alike() -> None:
    """Names, chains and addresses may differ; one with another number of endpoints is another."""
    alike = list_alike()

    assert len(alike) == 17
    assert alike[1].address == FIRST.value
    assert (alike[1].protocol, alike[1].port) == (6, 80)
    assert [Address(4, number) for number in alike[1].constants[1:]] == [
        Address.parse("10.244.7.3"),
        Address.parse("10.244.7.4"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f'-s 10.244.7.3/32 -m comment --comment "{SERVICES[1].name}"', "-s 10.244.7.9/32"),
        ("--to-destination 10.244.7.3:8080", "--to-destination 10.244.7.3:8081"),
        ("--to-destination 10.244.7.3:8080", "--to-destination 10.244.7.3-10.244.7.4:8080"),
        (f"-A KUBE-SERVICES -d {FIRST}/32 -p tcp", f"-A KUBE-SERVICES -d {FIRST}/32 -i x -p tcp"),
    ],
)  # fmt: skip
def test_a_rule_that_says_more_makes_another_shape(before: str, after: str) -> None:
    """One endpoint compared with another's address, another port, a range, a device."""
    assert before in RULES
    alike = list_alike(RULES.replace(before, after))

    assert FIRST.value not in [one.address for one in alike]
    assert len(alike) == 16


@pytest.mark.parametrize(
    ("rule", "others"),
    [
        (f"-A PREROUTING -d {FIRST}/32 -j MARK --set-xmark 0x1/0x1", 16),
        (f"-A PREROUTING -d {FIRST}/32 -p tcp -m tcp --dport 80 -j RETURN", 16),
        (f"-A PREROUTING -d {FIRST}/32 -p tcp -m tcp --dport 443 -j RETURN", 17),
    ],
)
def test_another_rule_about_the_address_makes_it_unlike(rule: str, others: int) -> None:
    """Unless that rule is for another port, and so for none of the packets."""
    table = "*mangle"
    head, tail = RULES.split(f"{table}\n")
    commit = tail.index("COMMIT")
    node = assemble_node(f"{head}{table}\n{tail[:commit]}{rule}\n{tail[commit:]}")

    assert len(list_alike(node=node)) == others


def test_a_rule_in_between_makes_two_shapes() -> None:
    """What it does to packets is done to those that come to the entries behind it alone."""
    lines = RULES.splitlines()
    entries = [place for place, line in enumerate(lines) if line.startswith("-A KUBE-SERVICES -d")]
    lines.insert(entries[5], "-A KUBE-SERVICES -m mark --mark 0x1/0x1 -j RETURN")
    node = assemble_node("\n".join(lines))
    found = list_shaped_services(node, 4)

    assert len({one.shape for one in found if len(one.constants) == 3}) == 2


def test_an_entry_of_conntrack_names_an_address_too() -> None:
    """Whose packets may be no new connection."""
    node = assemble_node(RULES)
    asked = ConnTuple(POD, FIRST, 6, 40000, 80)
    told = ConnTuple(Address.parse("10.244.7.3"), POD, 6, 8080, 40000)
    listed = Listing((ConntrackEntry(asked, told),), True, "conntrack -L -o extended,id")
    host = replace(node.host, conntrack=listed)
    with_entry = replace(node, namespaces={**node.namespaces, HOST: host})

    assert len(list_alike(node=with_entry)) == 16


def test_what_is_not_looked_through_has_no_shapes() -> None:
    """Cilium's maps may translate any of them."""
    node = replace(assemble_node(RULES), cilium=Cilium(options={}))

    assert list_shaped_services(node, 4) == ()


def test_services_that_keep_their_clients_are_walked_by_themselves() -> None:
    """Session affinity remembers clients in a list of each endpoint's own name."""
    kept = re.sub(
        r"-A (KUBE-SEP-\S+) -p tcp ",
        r"-A \1 -p tcp -m recent --set --name \1 --mask 255.255.255.255 --rsource ",
        RULES,
    )
    shapes = [one.shape for one in list_shaped_services(assemble_node(kept), 4)]

    assert kept.count("-m recent") == 35
    assert len(shapes) == len(set(shapes)) == 18
