"""Two nodes cut to what differs: the flows with another answer are those that the whole nodes give,
and where anything else may differ there is no cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import Service, emit_ruleset, generate_services
from bench.reach_difference import change_rules, measure_size
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.net.addresses import Address
from podpath.net.provenance import Known
from podpath.node.case import Case as Facts
from podpath.node.node import HOST
from podpath_fleet import reached
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.node_cut import cut_nodes
from podpath_fleet.reach_answers import ReachAnswer
from podpath_fleet.reach_classes import take_out
from podpath_fleet.reach_space import list_spaces
from podpath_fleet.reached import ReachDifference, compare_reach
from tests.fleet.served import insert

SERVICES = 14
PODS = [POD, Address(4, POD.value + 1), Address(4, POD.value + 2)]
ASKED = FlowSet((), ("10.96.0.0/27", "192.168.0.0/30", "10.244.0.0/28"), ("tcp",))


def make_case(lines: list[str]) -> Case:
    """Return the node of a ruleset, with a few pods."""
    node = assemble_node("\n".join(lines), PODS)
    return Case(nodes=(NodeCase(name="", facts=Facts(node=node)),))


def _change_service(services: list[Service], chance: Random) -> list[Service]:
    """Change something of one service, as people and controllers do."""
    at = chance.randrange(len(services))
    one = services[at]
    near = f"10.244.{chance.choice((0, 7))}.{chance.randrange(200, 250)}:8080"
    changed = chance.choice(
        (
            [one._replace(endpoints=(near, *one.endpoints[1:]))],
            [one._replace(endpoints=(*one.endpoints, near))],
            [one._replace(endpoints=())],
            [one._replace(port=one.port + 1)],
            [one._replace(node_port=None if one.node_port else 31000 + at)],
            [],
        )
    )
    return [*services[:at], *changed, *services[at + 1 :]]


def _make_pair(seed: int) -> tuple[Case, Case]:
    chance = Random(f"{seed} cut")
    services = generate_services(SERVICES, chance.randint(1, 2), seed)
    before = emit_ruleset(services).splitlines()
    for _ in range(chance.randint(1, 3)):
        services = _change_service(services, chance)
    after = emit_ruleset(services).splitlines()
    if chance.random() < 0.3:
        rule = f"-A PREROUTING -d 10.96.0.{chance.randrange(SERVICES)}/32 -j DROP"
        after = insert(after, "mangle", rule, chance)
    return make_case(before), make_case(after)


def _list_changed(found: ReachDifference) -> dict[object, list[HeaderRegion]]:
    """Return the headers of each source and pair of answers."""
    changed: dict[object, list[HeaderRegion]] = {}
    for one in found.changes:
        for place in (one.space.sample, *one.space.alike):
            own = (place.netns, _say(one.before), _say(one.after))
            regions = [region._replace(src=()) for region in one.regions]
            changed.setdefault(own, []).extend(regions)
    return changed


def _say(answer: ReachAnswer) -> object:
    row = answer.row
    return row.verdict, row.failure, row.packet, row.reason, row.text, answer.ends


def _size(regions: list[HeaderRegion]) -> int:
    return sum(region._replace(src=((0, 0),)).size for region in regions)


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_changes_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same flows of the same pods have another answer, and the same two answers."""
    before, after = _make_pair(seed)
    cut = cut_nodes(before, after, list_spaces(ASKED, before.node))
    short = compare_reach(before, after, ASKED)
    monkeypatch.setattr(reached, "cut_nodes", lambda *_: None)
    whole = compare_reach(before, after, ASKED)
    one, other = _list_changed(short), _list_changed(whole)

    assert cut is not None
    assert whole.complete
    assert whole.changes
    assert one.keys() == other.keys()
    for key, regions in one.items():
        assert _size(regions) == _size(other[key])
        plain = [region._replace(src=((0, 0),)) for region in other[key]]
        for region in regions:
            assert not take_out(region._replace(src=((0, 0),)), plain)


def test_what_the_flows_do_not_meet_is_left_out() -> None:
    """Of 14 services the chains of the changed one are left, and flows to it are asked about."""
    lines = emit_ruleset(generate_services(SERVICES, 2, 9)).splitlines()
    before, after = make_case(lines), make_case(change_rules(lines, 2))
    cut = cut_nodes(before, after, list_spaces(ASKED, before.node))

    assert cut is not None
    (table,) = (one for one in cut.before.node.host.tables if one.name == "nat")
    kept = [name for name in table.chains if name.startswith("KUBE-SVC-")]
    assert len(kept) == 1
    assert len(cut.spaces) == len(PODS)
    assert {1} == {last - first + 1 for one in cut.spaces for first, last in one.region.dst}


def test_nodes_that_do_not_differ_have_no_flow_to_ask_about() -> None:
    """Lines moved and counters went on: nothing is walked, and nothing has changed."""
    lines = emit_ruleset(generate_services(SERVICES, 2, 9)).splitlines()
    moved = [
        "# counted",
        *(line.replace("-A KUBE-SERVICES", "[3:180] -A KUBE-SERVICES") for line in lines),
    ]
    found = compare_reach(make_case(lines), make_case(moved), ASKED)

    assert (found.changes, found.complete) == ((), True)


def _add(table: str, rule: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: insert(lines, table, rule, Random(1))


@pytest.mark.parametrize(
    "change",
    [
        _add("filter", "-A FORWARD -s 10.244.0.0/16 -j DROP"),
        _add("filter", "-A FORWARD -p tcp -m tcp --dport 31999 -j DROP"),
        _add("filter", "-A FORWARD -d 10.244.0.1/32 -j DROP"),
        lambda lines: [line.replace(":FORWARD ACCEPT", ":FORWARD DROP") for line in lines],
        lambda lines: lines[: lines.index("*nat")],
    ],
)
def test_rules_that_any_flow_may_meet_leave_no_cut(
    change: Callable[[list[str]], list[str]],
) -> None:
    """A rule for a network, one for answers' ports, one for an endpoint, a policy, a table less."""
    lines = emit_ruleset(generate_services(SERVICES, 2, 9)).splitlines()
    before, after = make_case(lines), make_case(change(lines))

    assert cut_nodes(before, after, list_spaces(ASKED, before.node)) is None


@pytest.mark.parametrize(
    "rule",
    [
        "-A PREROUTING -d 192.0.2.9/32 -j DNAT --to-destination {address}",
        "-A PREROUTING -d 192.0.2.9/32 -j DNAT --to-destination 10.96.0.1-10.96.0.200",
        "-A PREROUTING -d 192.0.2.0/24 -j NETMAP --to 10.96.0.0/24",
        "-A PREROUTING -p tcp -m tcp --dport 9 -j DNAT --to-destination :80",
    ],
)
def test_a_translation_to_what_differs_leaves_no_cut(rule: str) -> None:
    """Flows to another address come there, too."""
    services = generate_services(SERVICES, 2, 9)
    lines = emit_ruleset(services).splitlines()
    changed = emit_ruleset([services[0]._replace(endpoints=()), *services[1:]]).splitlines()
    added = rule.format(address=services[0].address)
    before, after = (make_case(insert(each, "nat", added, Random(1))) for each in (lines, changed))

    assert cut_nodes(before, after, list_spaces(ASKED, before.node)) is None


def test_other_facts_leave_no_cut() -> None:
    """A setting differs, a fact names the address of what differs, or a source is an entry's."""
    services = generate_services(SERVICES, 2, 9)
    lines = emit_ruleset(services).splitlines()
    before, after = make_case(lines), make_case(change_rules(lines, 2))
    spaces = list_spaces(ASKED, before.node)
    sysctls = {**before.node.host.sysctls, "net.ipv4.ip_forward": Known("0")}
    host = replace(before.node.host, sysctls=sysctls)
    node = replace(before.node, namespaces={**before.node.namespaces, HOST: host})
    other = Case(nodes=(NodeCase(name="", facts=Facts(node=node)),))
    single = f"-A FORWARD -d {PODS[1]}/32 -j ACCEPT"
    named = [
        make_case(insert(list(each), "filter", single, Random(1)))
        for each in (lines, change_rules(lines, 2))
    ]

    assert cut_nodes(before, after, spaces) is not None
    assert cut_nodes(other, after, spaces) is None
    assert cut_nodes(named[0], named[1], spaces) is None


def test_the_difference_of_two_large_nodes_is_found_in_time() -> None:
    """The sample of `bench/reach_difference.py`: 100 services and 50 pods."""
    measured = measure_size(100, 50)

    assert measured.kept, measured
