"""Services of one shape share branches: the same answer as their own walk, whatever is unlike."""

from __future__ import annotations

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.library.case import Case, NodeCase
from podpath.net.probe import Probe
from podpath.node.case import Case as Facts
from podpath_fleet.reach_answers import ReachWalker
from podpath_fleet.shared_branches import SharedBranches, enumerate_space
from tests.fleet.sampled import sample_served, space_around
from tests.seeds import fresh_seed

SERVICES = [
    one._replace(port=80, endpoints=(f"10.244.{7 + place % 2}.{place + 1}:8080",))
    for place, one in enumerate(generate_services(20, 1))
]
SPACE = space_around(Probe.parse(f"tcp {POD} > 10.96.0.1:80 from pod"))


def share(*lines: str) -> tuple[SharedBranches, dict[str, str]]:
    """Return what was walked, and the verdict on each service."""
    rules = emit_ruleset(SERVICES).replace(
        "-A KUBE-FIREWALL", "\n".join((*lines, "-A KUBE-FIREWALL")), 1
    )
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=assemble_node(rules))),))
    walker = ReachWalker(case)
    shared = SharedBranches(walker, SPACE)
    classes = list(shared.list_classes(60))
    alone = ReachWalker(case, watched=False)
    assert [one.answer for one in classes] == [alone.walk_alone(one.witness) for one in classes]
    return shared, {str(one.witness.dst): one.answer.row.verdict for one in classes}


def test_each_random_service_is_walked_as_its_class_says() -> None:
    """On nodes where some services are unlike the others, a header of each class and its own
    walk agree.
    """
    seed = fresh_seed()
    tally = sample_served(range(seed, seed + 2), 1)

    assert tally.wrong == []
    assert tally.packets > 0


def test_one_walk_stands_for_the_services_behind_one_route() -> None:
    """Twenty services have endpoints behind two routes: two branches are walked."""
    shared, verdicts = share()

    assert shared.walked == 2
    assert len(verdicts) == 20
    assert set(verdicts.values()) == {"UNDECIDED"}


def test_a_rule_about_one_endpoint_is_met_by_its_service_alone() -> None:
    """The others are what they were."""
    shared, verdicts = share("-A FORWARD -d 10.244.8.4/32 -j DROP")

    assert shared.walked == 3
    assert [dst for dst, verdict in verdicts.items() if verdict == "NEVER"] == [SERVICES[3].address]


def test_a_rule_before_the_services_rewrites_all_of_them_alike() -> None:
    """It names the endpoint of one of them, and yet is no rule of that service's."""
    rules = (
        emit_ruleset(SERVICES)
        .replace(
            "-A PREROUTING -m comment",
            "-A PREROUTING -d 10.96.0.0/16 -j DNAT --to-destination 10.244.7.1\n"
            "-A PREROUTING -m comment",
            1,
        )
        .replace("-A KUBE-FIREWALL", "-A FORWARD -d 10.244.7.0/30 -j DROP\n-A KUBE-FIREWALL", 1)
    )
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=assemble_node(rules))),))
    classes = list(SharedBranches(ReachWalker(case), SPACE).list_classes(60))

    assert len(classes) == 20
    assert {one.answer.row.verdict for one in classes} == {"NEVER"}


def test_a_bound_on_walks_holds_for_branches_too() -> None:
    """One walk is all that was asked for: a service whose branch is another one is left."""
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=assemble_node(emit_ruleset(SERVICES)))),))
    found = enumerate_space(ReachWalker(case), SPACE, 1)

    assert [one.shared for one in found.classes] == [False]
    assert found.left != ()
