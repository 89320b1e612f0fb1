"""Flows over the nodes of a real cluster, as it is and as changes would leave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.flows.flow import Expectation, Flow
from podpath.library.cluster_flows import check_cluster, derive_cluster
from podpath.library.flows import ChangeFile, FlowsResult
from podpath.library.given import Pasted
from podpath.net.errors import UsageError
from tests.clusters import OBJECTS, RECORDED, healthy

WEB, FAR = "pod/shop/web-node1", "pod/shop/far:8080"
NODES = {name: str(RECORDED / f"{name}.tar.gz") for name in ("node1", "node2")}
DROP = (
    "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -d 10.244.0.3/32 -p tcp --dport 8080 -j DROP\n"
    "COMMIT\n"
)


def flow(source: str, target: str, expect: Expectation = Expectation.CONNECTS) -> Flow:
    """Return a flow that is expected."""
    return Flow(name=f"{source} > {target}", source=source, target=target, expect=expect)


def ask(flows: list[Flow], *changes: str | ChangeFile) -> FlowsResult:
    """Check flows on the healthy cluster of two nodes."""
    return check_cluster(healthy(), flows, changes, objects=str(OBJECTS))


def test_flows_that_start_on_either_node() -> None:
    """Each is walked from its own node, whatever the order; the answers keep the file's."""
    flows = [flow(WEB, FAR), flow("pod/shop/far", "svc/shop/api:80"), flow("node/node2", FAR)]
    answer = ask(flows)

    assert [one.walk.state for one in answer.flows] == ["connects"] * 3
    assert [one.flow for one in answer.flows] == flows
    assert answer.exit_code == 0


def test_a_rule_on_a_named_node() -> None:
    """The flow that crosses to that node fails by the line of the change; others do not."""
    change = ChangeFile(path=Pasted(DROP, "new.v4"), noflush=True, node="node2")
    answer = ask([flow(WEB, FAR), flow(WEB, "svc/shop/near:80")][:1], change)
    (result,) = answer.flows

    assert (result.walk.state, result.before and result.before.state) == ("fails", "connects")
    assert "new.v4:3 | -A FORWARD -d 10.244.0.3/32" in answer.text()
    assert answer.exit_code == 1


def test_a_rule_that_the_flow_does_not_meet() -> None:
    """A rule for another address changes nothing."""
    other = DROP.replace("10.244.0.3", "10.244.9.9")
    answer = ask([flow(WEB, FAR)], ChangeFile(path=Pasted(other, "n"), noflush=True, node="node1"))

    assert [one.is_changed for one in answer.flows] == [False]


def test_a_node_that_is_drained() -> None:
    """What only that node's pods answered fails; what another node answers too connects; where an
    evicted pod runs next, nobody knows.
    """
    flows = [
        flow(WEB, "svc/shop/far:80"),
        flow(WEB, "svc/shop/api:80"),
        flow(WEB, FAR),
        flow("pod/shop/far", "svc/shop/api:80"),
    ]
    answer = ask(flows, "drain:node2")
    states = [one.walk.state for one in answer.flows]

    assert states == ["fails", "connects", "fails", "undecided"]
    assert "evicted" in answer.text()
    assert answer.flows[1].before is not None


@pytest.mark.parametrize(
    ("flows", "changes", "said"),
    [
        ([flow("host", FAR)], (), "node/NAME"),
        ([flow(WEB, FAR)], (ChangeFile(path=Pasted(DROP, "n")),), "n,node=NAME"),
        ([flow(WEB, FAR)], ("drain:node9",), "node9"),
        ([flow(WEB, FAR)], (ChangeFile(path=Pasted(DROP, "n"), node="x"),), "saw 'x'"),
    ],
)
def test_what_is_not_said_well(
    flows: list[Flow], changes: tuple[str | ChangeFile, ...], said: str
) -> None:
    """One clear line."""
    with pytest.raises(UsageError, match=said):
        ask(flows, *changes)


def test_an_end_on_a_node_that_is_not_given() -> None:
    """It is undecided, and others are not touched by that."""
    near = {"node1": str(RECORDED / "node1.tar.gz")}
    flows = [flow(WEB, FAR), flow(WEB, "pod/shop/api-node1:8080")]
    answer = check_cluster(near, flows, objects=str(OBJECTS))

    assert [one.walk.state for one in answer.flows] == ["undecided", "connects"]
    assert "there is no snapshot of node2" in answer.text()


def test_flows_of_a_cluster_are_derived(tmp_path: Path) -> None:
    """From pods of each node to each service; and what comes out can be checked."""
    text = derive_cluster(healthy(), objects=str(OBJECTS))
    written = tmp_path / "flows.toml"
    written.write_text(text)
    answer = check_cluster(healthy(), str(written), objects=str(OBJECTS))

    assert 'from = "pod/shop/api-node1"' in text
    assert 'from = "pod/shop/api-node2"' in text
    assert answer.verdict != "unmet"
    assert sum(one.is_met is True for one in answer.flows) > len(answer.flows) / 2


def test_a_set_of_flows_is_not_asked_of_a_cluster() -> None:
    """Its flows may start on any node."""
    pods = Flow(
        name="all", source="pods", target="10.0.0.0/8", ports="80", expect=Expectation.FAILS
    )

    with pytest.raises(UsageError, match="all: a set of flows is checked on one node"):
        ask([pods])


OWNED = """\
- apiVersion: v1
  kind: Pod
  metadata:
    name: {name}
    namespace: shop
    labels: {{pod-template-hash: 5c}}
    ownerReferences: [{{kind: ReplicaSet, name: front-5c, controller: true}}]
  spec:
    nodeName: {node}
    containers: [{{name: web, ports: [{{name: http, containerPort: 8080}}]}}]
  status: {{phase: Running, podIP: "{address}"}}
"""


def with_deployment() -> Pasted:
    """Return the cluster's objects with a Deployment of a pod on each node, and one that waits."""
    pods = (("a", "node1", "10.244.1.2"), ("b", "node2", "10.244.0.3"), ("c", "node2", ""))
    made = [
        OWNED.format(name=f"front-5c-{each[0]}", node=each[1], address=each[2]) for each in pods
    ]
    said = OBJECTS.read_text(encoding="utf-8")
    return Pasted(said.replace("items:\n", f"items:\n{''.join(made)}", 1), "api")


def test_a_workload_is_a_flow_for_each_of_its_pods() -> None:
    """A planned rule stops one of them: whoever must not connect was asked about in full."""
    change = ChangeFile(path=Pasted(DROP, "new.v4"), noflush=True, node="node2")
    stated = [flow("pod/shop/api-node1", "deploy/shop/front:http", Expectation.FAILS)]
    answer = check_cluster(NODES, stated, [change], objects=with_deployment())

    name = stated[0].name
    assert [one.flow.name for one in answer.flows] == [
        f"{name} (pod/shop/api-node1 > pod/shop/front-5c-a:8080)",
        f"{name} (pod/shop/api-node1 > pod/shop/front-5c-b:8080)",
    ]
    assert [one.walk.state for one in answer.flows] == ["connects", "fails"]
    assert answer.exit_code == 1


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("shop/web-node1", "far.shop.svc.cluster.local:80"),
        ("pod/web-node1", "svc/far:80"),
        ("pod/shop/web-node1", "shop/front-5c-b:http"),
        ("ds/shop/none", ""),
        ("pod/shop/web-node1", "deploy/shop/fornt:80"),
    ],
)
def test_ends_are_spelled_as_in_a_question(source: str, target: str) -> None:
    """A name of DNS, a port by its name, a name without its kind or namespace; what is of nothing
    is refused with what there is.
    """
    stated = [flow(source, target or FAR)]
    if "none" in source or "fornt" in target:
        with pytest.raises(UsageError, match=r"did you mean deploy/shop/front|a workload"):
            check_cluster(NODES, stated, objects=with_deployment())
        return
    answer = check_cluster(NODES, stated, objects=with_deployment())
    assert [one.walk.state for one in answer.flows] == ["connects"]
    assert [one.flow.name for one in answer.flows] == [stated[0].name]
