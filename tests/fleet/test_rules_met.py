"""Rules that no flow meets: those that stand behind a verdict, or in chains that nobody goes to."""

from __future__ import annotations

from bench.converse import POD, assemble_node
from bench.kube_proxy_ruleset import emit_ruleset, generate_services
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.node.case import Case as Facts
from podpath_fleet.reached import ReachResult, reach

SERVICES = [
    one._replace(port=80, node_port=None, endpoints=(f"10.244.7.{place + 1}:8080",))
    for place, one in enumerate(generate_services(18, 1))
]
DEAD = "-A FORWARD -d 10.244.7.3/32 -j ACCEPT"
RULES = emit_ruleset(SERVICES).replace(
    "-A KUBE-FIREWALL",
    f"-A FORWARD -d 10.244.7.0/24 -j DROP\n{DEAD}\n-A KUBE-FIREWALL",
    1,
)


def ask(walks: int = 500) -> ReachResult:
    """Ask for what the pod may send to the services and to their endpoints."""
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=assemble_node(RULES))),))
    targets = ("10.96.0.0/27", "10.244.7.0/27")
    question = FlowSet((f"{POD} from pod",), targets, ("tcp",), "79-81")
    return reach(case, question, walks=walks, unmet=True)


def test_a_rule_behind_one_that_takes_all_is_met_by_none() -> None:
    """It is told, and so are the rules for masquerading; the services' own rules are all met,
    though most of them by a walk of another service.
    """
    found = ask()
    told = [span.text for span in found.unmet or ()]

    assert found.complete
    assert sum(one.shared for _, classes in found.enumerations for one in classes.classes) > 10
    assert DEAD in told
    assert "-A FORWARD -d 10.244.7.0/24 -j DROP" not in told
    assert not any(line.startswith("-A KUBE-SERVICES -d") for line in told)
    assert not any("-j DNAT" in line for line in told)
    assert sum(line.startswith("-A KUBE-SEP") for line in told) == len(SERVICES)
    assert f"rules of iptables that none of these flows meets: {len(told):,}" in found.text()
    assert DEAD in found.json()


def test_nobody_says_so_of_flows_that_were_not_walked() -> None:
    """A bound on walks leaves flows that may meet any rule."""
    found = ask(walks=1)

    assert found.unmet is None
    assert "none of these flows meets: UNKNOWN" in found.text()
