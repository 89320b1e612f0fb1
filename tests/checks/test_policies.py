"""What NetworkPolicies say of a flow: by selectors, peers and ports, never more than is shown."""

from __future__ import annotations

import pytest

from podpath.assembly.planned.change import assemble_change
from podpath.checks.policies import PolicyAnswer, PolicyBook, PolicyRuling
from podpath.evidence.planned.files import read_change
from podpath.flows.compared import judge_by_policies
from podpath.flows.flow import Expectation, Flow
from podpath.flows.judged import FlowState, FlowWalk
from podpath.library.flows import ChangeFile, check
from podpath.library.given import Pasted
from podpath.net.probe import Probe
from podpath.net.provenance import Source
from podpath.node.case import Case
from podpath.node.objects import ApiObject
from tests.flows.samples import given_case, given_sound_node

FROM_WEB = Probe.parse("tcp 10.1.0.2 > 10.2.0.2:80")
HEAD = (
    "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
    "metadata:\n  name: p\n  namespace: shop\nspec:\n"
)
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n  namespace: shop\n"
    "  labels:\n    app: {}\nspec:\n  nodeName: n\n"
)
DENY = HEAD + "  podSelector: {}\n  policyTypes:\n  - Ingress\n"
OF_API = HEAD + "  podSelector:\n    matchLabels:\n      app: api\n  ingress:\n"
LABELS = (POD.format("web", "web"), POD.format("api", "api"))


def objects(*texts: str) -> tuple[ApiObject, ...]:
    """Return the objects of texts."""
    found: list[ApiObject] = []
    for text in texts:
        read = read_change(Source(name="p.yaml", lines=tuple(text.splitlines())))
        assert read is not None
        found += assemble_change(read, given_sound_node(), name="p").objects
    return tuple(found)


def ruling(policy: str, *shown: str, probe: Probe = FROM_WEB) -> PolicyAnswer:
    """Return what a new policy makes of a flow, with what else is shown."""
    case = Case(node=given_sound_node(), objects=objects(*shown))
    return PolicyBook(case, objects(policy)).rule_on(probe).ruling


def admitting(rule: str) -> str:
    """Return a policy of the API that admits by one rule."""
    return OF_API + rule


PEER = "  - from:\n    - podSelector:\n        matchLabels:\n          app: {}\n"
SPACE = "  - from:\n    - namespaceSelector:\n        matchLabels:\n          {}\n"
PORT = "  - ports:\n    - port: {}\n"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (DENY, PolicyAnswer.FORBIDDEN),
        (DENY.replace("shop", "other"), PolicyAnswer.UNTOUCHED),
        (OF_API.replace("  ingress:\n", ""), PolicyAnswer.FORBIDDEN),
        (OF_API.replace("app: api", "app: db").replace("  ingress:\n", ""), PolicyAnswer.UNTOUCHED),
        (admitting(PEER.format("web")), PolicyAnswer.ADMITTED),
        (admitting(PEER.format("other")), PolicyAnswer.FORBIDDEN),
        (admitting(PORT.format(80)), PolicyAnswer.ADMITTED),
        (admitting(PORT.format(81)), PolicyAnswer.FORBIDDEN),
        (admitting(PORT.format("70\n      endPort: 90")), PolicyAnswer.ADMITTED),
        (admitting(PORT.format("70\n      endPort: <unknown>")), PolicyAnswer.OPEN),
        (admitting(PORT.format("80\n      endPort: <unknown>")), PolicyAnswer.ADMITTED),
        (admitting(PORT.format("81\n      endPort: <unknown>")), PolicyAnswer.FORBIDDEN),
        (admitting(PORT.format("http")), PolicyAnswer.OPEN),
        (admitting(PORT.format("80\n      protocol: UDP")), PolicyAnswer.FORBIDDEN),
        (admitting("  - from:\n    - ipBlock:\n        cidr: 10.1.0.0/16\n"), PolicyAnswer.OPEN),
        (
            admitting("  - from:\n    - ipBlock:\n        cidr: 192.0.2.0/24\n"),
            PolicyAnswer.FORBIDDEN,
        ),
        (admitting(SPACE.format("kubernetes.io/metadata.name: shop")), PolicyAnswer.ADMITTED),
        (admitting(SPACE.format("team: a")), PolicyAnswer.OPEN),
    ],
)
def test_selectors_peers_and_ports(policy: str, expected: PolicyAnswer) -> None:
    """As the specification has them."""
    assert expected is ruling(policy, *LABELS)


def test_labels_that_are_not_shown_leave_it_open() -> None:
    """Whether a policy selects the pod is not known then, but for one that selects all."""
    assert PolicyAnswer.OPEN is ruling(OF_API.replace("  ingress:\n", ""))
    assert PolicyAnswer.FORBIDDEN is ruling(DENY)


def test_another_policy_admits_what_a_new_one_does_not() -> None:
    """Policies add up; one of the same name is replaced."""
    other = admitting(PEER.format("web"))

    assert PolicyAnswer.ADMITTED is ruling(DENY, *LABELS, other.replace("name: p", "name: q"))
    assert PolicyAnswer.FORBIDDEN is ruling(DENY, *LABELS, other)


def test_a_pods_own_node_reaches_it() -> None:
    """The kubelet's probes pass every policy."""
    assert PolicyAnswer.UNTOUCHED is ruling(DENY, probe=Probe.parse("tcp 192.0.2.2 > 10.2.0.2:80"))


@pytest.mark.parametrize(
    ("before", "found", "after"),
    [
        (FlowState.CONNECTS, PolicyAnswer.FORBIDDEN, FlowState.FAILS),
        (FlowState.CONNECTS, PolicyAnswer.OPEN, FlowState.UNDECIDED),
        (FlowState.CONNECTS, PolicyAnswer.ADMITTED, FlowState.CONNECTS),
        (FlowState.FAILS, PolicyAnswer.ADMITTED, FlowState.UNDECIDED),
        (FlowState.FAILS, PolicyAnswer.FORBIDDEN, FlowState.FAILS),
        (FlowState.FAILS, PolicyAnswer.UNTOUCHED, FlowState.FAILS),
    ],
)
def test_walk_and_policies_together(
    before: FlowState, found: PolicyAnswer, after: FlowState
) -> None:
    """What the plugin will write is not known where the policies admit what failed."""
    walk = FlowWalk(state=before)

    assert after is judge_by_policies(walk, walk, PolicyRuling(found)).state


def test_a_policy_that_is_planned_ends_a_flow() -> None:
    """By its own lines, and the answer says that it is intent."""
    flow = Flow(
        name="n", source="pod/shop/web", target="pod/shop/api:80", expect=Expectation.CONNECTS
    )

    answer = check(given_case(), [flow], [ChangeFile(path=Pasted(DENY, "deny.yaml"))])

    assert (1, True) == (answer.exit_code, answer.flows[0].is_changed)
    assert "the plugin's rules are not modeled" in " ".join(answer.text().split())
