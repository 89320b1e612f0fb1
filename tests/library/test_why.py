"""Connections over two nodes of a real cluster, healthy and with real faults, by the library."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from podpath.library.diagnosis import DiagnosisResult
from podpath.library.given import Pasted
from podpath.library.why import WhyResult, why
from podpath.net.errors import UsageError
from tests.clusters import OBJECTS, RECORDED, unpack

HEALTHY = {node: str(RECORDED / f"{node}.tar.gz") for node in ("node1", "node2")}


def ask(source: str, destination: str) -> WhyResult:
    """Ask the healthy cluster."""
    return why(source, destination, nodes=HEALTHY, objects=str(OBJECTS))


def test_from_pod_to_pod_on_another_node() -> None:
    """It works, on both nodes' evidence, with the wire between them taken to deliver."""
    answer = ask("shop/web-node1", "pod/shop/far")

    assert (answer.verdict, answer.exit_code) == ("none", 0)
    assert answer.nodes == ("node1", "node2")
    assert str(answer.probe) == "tcp 10.244.1.2 > 10.244.0.3:8080 from web-node1"
    assert "the wire to eth0 of node2 (10.199.0.0/24) delivers" in str(answer)
    assert isinstance(answer, DiagnosisResult)
    assert answer.data()["verdict"] == "none"


def test_from_outside_by_a_port_of_a_node_that_has_no_endpoint() -> None:
    """The packet goes on to the node of the endpoint, and the answer leaves where it came in."""
    answer = ask("outside", "node/node1:30180")

    assert (answer.verdict, answer.nodes) == ("none", ("node1", "node2"))


def test_a_service_by_its_port_of_that_name() -> None:
    """Every endpoint has a branch, on whichever node it is."""
    answer = ask("shop/web-node1", "svc/shop/api:http")

    assert answer.verdict == "none"
    reached = {branch.traces[0].outcome.netns for branch in answer.conversations[0].branches}
    assert reached == {"api-node1", "node2/api-node2"}


@pytest.mark.parametrize(
    ("fault", "node", "check", "file", "cure"),
    [
        (
            "route-missing",
            "node1",
            "pod-route",
            "node1/netns/host/ip-route.json",
            "ip route replace 10.244.0.0/24 via 10.244.0.0 dev flannel.1 onlink",
        ),
        (
            "tunnel-mac",
            "node1",
            "tunnel-mac",
            "node1/netns/host/ip-neigh.json",
            "ip neigh replace 10.244.0.0 lladdr c2:3e:ec:de:6a:6e dev flannel.1 nud permanent",
        ),
        (
            "tunnel-end",
            "node1",
            "tunnel-end",
            "node1/netns/host/bridge-fdb.json",
            "bridge fdb replace c2:3e:ec:de:6a:6e dev flannel.1 dst 10.199.0.12",
        ),
        (
            "tunnel-dropped",
            "node2",
            "dropped-by-rule",
            "node2/netns/host/iptables-save.txt",
            (
                "iptables -t filter -I INPUT 1 -s 10.199.0.11/32 -d 10.199.0.12/32 -p udp -m udp "
                "--dport 8472 -j ACCEPT"
            ),
        ),
        (
            "forwarding-off",
            "node2",
            "ip-forward",
            "node2/netns/host/sysctl.txt",
            "sysctl -w net.ipv4.ip_forward=1",
        ),
        (
            "address-twice",
            "node2",
            "address-on-two-nodes",
            "node2/netns/host/ip-addr.json",
            "ip addr del 10.199.0.11/24 dev eth0",
        ),
        (
            "route-wrong",
            "node1",
            "pod-route",
            "node1/netns/host/ip-route.json",
            "ip route replace 10.244.0.0/24 via 10.244.0.0 dev flannel.1 onlink",
        ),
        (
            "mtu",
            "node2",
            "mtu-shrinks",
            "node2/netns/host/ip-addr.json",
            "ip link set dev eth0 mtu 1500",
        ),
        (
            "tunnel-network",
            "node2",
            "tunnel-network",
            "node2/netns/host/ip-addr.json",
            "ip link del flannel.1",
        ),
        (
            "tunnel-port",
            "node2",
            "tunnel-network",
            "node2/netns/host/ip-addr.json",
            "ip link del flannel.1",
        ),
    ],
)
def test_a_fault_is_named_with_its_node_line_and_cure(
    fault: str, node: str, check: str, file: str, cure: str, tmp_path: Path
) -> None:
    """The answer is that of the node where the line stands, and says of every line whose it is."""
    nodes = unpack(tmp_path, fault)

    answer = why("shop/web-node1", "pod/shop/far", nodes=nodes, objects=str(OBJECTS))

    first = answer.findings[0]
    assert answer.nodes[0] == "node1"
    assert (answer.verdict, answer.diagnosis.node, first.check) == ("fault", node, check)
    assert first.evidence[0].source.name == str(tmp_path / file)
    assert first.repairs[0].commands[0] == cure
    assert first.repairs[0].proven == "simulated"
    quoted = [span for each in answer.findings for span in each.evidence]
    assert [] == [span for span in quoted if not answer.diagnosis.owners.list_owned([span])]
    assert re.search("written by |unknown: |unsigned, ", answer.text())


def test_outputs_that_disagree_about_a_tunnel_are_no_all_clear(tmp_path: Path) -> None:
    """One output of a node still has the network that the other node uses: what tells is asked."""
    nodes = unpack(tmp_path)
    link = RECORDED / "faults" / "tunnel-network" / "node2" / "netns" / "host" / "ip-link.json"
    (tmp_path / "node2" / "netns" / "host" / "ip-link.json").write_text(link.read_text())

    answer = why("shop/web-node1", "pod/shop/far", nodes=nodes, objects=str(OBJECTS))

    assert answer.exit_code == 3
    assert answer.questions[0].ask == "ip -d link"
    assert "id of flannel.1" in str(answer)


def test_a_port_for_local_endpoints_on_a_node_that_has_none() -> None:
    """Policy Local: the node that was asked drops, by kube-proxy's rule; the pods' own answers."""
    refused = ask("outside", "node/node1:32024")
    first = refused.findings[0]

    assert (refused.verdict, refused.diagnosis.node, first.check) == (
        "fault",
        "node1",
        "no-local-endpoints",
    )
    assert "shop/local:http has no local endpoints" in first.evidence[0].text
    assert ask("outside", "node/node2:32024").verdict == "none"


def test_evidence_of_several_nodes_for_one_is_refused() -> None:
    """Each node has evidence of its own."""
    with pytest.raises(UsageError, match="expected the evidence of a node"):
        why("shop/a", "shop/b", nodes={})
    with pytest.raises(UsageError, match="evidence of one node for all, saw that of node2, node1"):
        why("shop/a", "shop/b", nodes={"all": list(HEALTHY.values())})


def test_an_end_on_a_node_that_is_not_given_is_no_all_clear() -> None:
    """By the objects, or because the caller says so: the answer is open, and names the node."""
    first = {"node1": HEALTHY["node1"]}
    for asked in ("pod/shop/far", "pod/shop/far:8080", "10.244.0.3:8080", "svc/shop/api:80"):
        answer = why("shop/web-node1", asked, nodes=first, objects=str(OBJECTS))
        assert answer.exit_code == 3, asked
        assert "node2" in str(answer)
    near = why("shop/web-node1", "shop/api-node1", nodes=first, objects=str(OBJECTS))
    assert near.exit_code == 0
    told = why(
        *("shop/web-node1", "shop/api-node1"),
        nodes=first,
        objects=str(OBJECTS),
        lacking=("node7",),
    )
    assert told.exit_code == 3


@pytest.mark.parametrize(
    "source", ["shop/web-node1", "pod/shop/web-node1", "web-node1", "10.244.1.2"]
)
def test_with_the_servers_node_alone_nothing_is_claimed(source: str) -> None:
    """Its answer leaves by the tunnel that the client is behind, over a veth as nodes in containers
    have: nothing says what the node at the far end does with it, whose snapshot is asked for.
    """
    second = {"node2": HEALTHY["node2"]}
    for destination in ("pod/shop/far:8080", "10.244.0.3:8080"):
        answer = why(source, destination, nodes=second, objects=str(OBJECTS))
        assert (answer.verdict, answer.findings) == ("possible", ())
        assert "run on the node that has 10.199.0.11" in answer.questions[0].ask


def test_one_node_without_objects_does_not_clear_what_a_tunnel_carries() -> None:
    """Neither way: what leaves by a tunnel ends on a node of which there is no evidence."""
    for node, bundle in HEALTHY.items():
        answer = why("10.244.1.2", "10.244.0.3:8080", nodes={node: bundle})
        assert (answer.verdict, answer.findings) == ("possible", ())
        assert answer.questions[0].ask.startswith("podpath snapshot")


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        ("web-node1", "pod/api-node1"),
        ("shop/web-node1", "node1:30180"),
        ("shop/web-node1", "10.199.0.11:30180"),
        ("web-node1", "pods/far:8080"),
        ("po/web-node1", "service/api:http"),
    ],
)
def test_an_end_without_its_namespace_on_a_node_that_is_not_given(
    source: str, destination: str
) -> None:
    """However an end is spelled, the objects tell which nodes it is on."""
    near = destination == "pod/api-node1"
    answer = why(source, destination, nodes={"node1": HEALTHY["node1"]}, objects=str(OBJECTS))

    assert answer.exit_code == (0 if near else 3)
    assert ("node node2" in answer.text()) is not near


def test_a_bare_name_of_two_namespaces_is_asked_about() -> None:
    """Nothing is walked from a pod that may not be meant."""
    second = """\
- apiVersion: v1
  kind: Pod
  metadata: {name: web-node1, namespace: other}
  status: {podIP: 10.244.1.99}
"""
    said = OBJECTS.read_text(encoding="utf-8").replace("items:\n", f"items:\n{second}", 1)
    with pytest.raises(UsageError, match="pod/other/web-node1 or pod/shop/web-node1: write which"):
        why("web-node1", "pod/shop/far", nodes=HEALTHY, objects=Pasted(said, "api"))


def test_where_no_node_has_routes_to_the_others_pods_the_network_may_have_them(
    tmp_path: Path,
) -> None:
    """A cloud's route tables may, so that the missing routes are no cause; but nothing shows that
    it does, so that it is no all-clear either.
    """
    nodes = unpack(tmp_path, "route-missing")
    routes = tmp_path / "node2" / "netns" / "host" / "ip-route.json"
    lines = routes.read_text().splitlines(keepends=True)
    routes.write_text("".join(line for line in lines if '"dst":"10.244.1.0/24"' not in line))

    answer = why("shop/web-node1", "pod/shop/far", nodes=nodes, objects=str(OBJECTS))

    assert (answer.exit_code, answer.findings) == (3, ())
    assert str(answer).startswith("UNDECIDED: ")
    assert "no node has a route to the pods of another" in str(answer)


def test_rules_that_are_behind_the_endpoints() -> None:
    """What the API says that changed long ago, and the node's rules do not know, is named."""
    said = OBJECTS.read_text(encoding="utf-8").replace("T01:53:4", "T01:43:4")
    pods, _, rest = said.partition("kind: Endpoints\n")
    rest = rest.replace("10.244.0.3\n", "10.244.0.33\n")
    head, _, _ = f"{pods}kind: Endpoints\n{rest}".rpartition("kind: List")
    listed = 'kind: List\nmetadata: {annotations: {podpath/listed: "2026-11-23T02:00:00Z"}}\n'
    answer = why(
        "shop/web-node1", "svc/shop/far:http", nodes=HEALTHY, objects=Pasted(head + listed, "api")
    )
    first = answer.findings[0]

    assert (answer.verdict, first.check) == ("fault", "proxy-behind")
    assert "--to-destination 10.244.0.3:8080" in first.evidence[0].text


def test_a_network_that_may_know_the_pods_is_asked_first(tmp_path: Path) -> None:
    """Where no node has a route to the pods of another, its routes are what would tell."""
    nodes = unpack(tmp_path)
    for bundle in nodes.values():
        path = Path(bundle) / "netns" / "host" / "ip-route.json"
        routes = json.loads(path.read_text())
        own = ("local", "broadcast")
        kept = [one for one in routes if one.get("dev") != "flannel.1" or one.get("type") in own]
        path.write_text(json.dumps(kept))
    answer = why("shop/web-node1", "pod/shop/far", nodes=nodes, objects=str(OBJECTS))

    assert answer.verdict == "possible"
    assert answer.questions[0].ask.startswith("aws ec2 describe-route-tables")


OWNED = """\
- apiVersion: v1
  kind: Pod
  metadata:
    name: {name}
    namespace: shop
    labels: {{pod-template-hash: 5c}}
    ownerReferences: [{{kind: ReplicaSet, name: front-5c, controller: true}}]
  spec: {{nodeName: {node}, containers: [{{name: c, ports: [{{containerPort: 8080}}]}}]}}
  status:
    phase: Running
    podIP: {address}
    conditions: [{{type: Ready, status: "{ready}"}}]
"""


def with_objects(*more: str) -> Pasted:
    """Return the cluster's objects with others before them."""
    said = OBJECTS.read_text(encoding="utf-8")
    return Pasted(said.replace("items:\n", f"items:\n{''.join(more)}", 1), "api")


def test_a_workload_is_asked_about_by_a_pod_of_it_that_is_ready() -> None:
    """The answer says which, and of how many; its node is missing like that of any pod."""
    objects = with_objects(
        OWNED.format(name="front-5c-a", node="node1", address="10.244.1.3", ready="False"),
        OWNED.format(name="front-5c-b", node="node2", address="10.244.0.3", ready="True"),
    )
    answer = why("pod/shop/web-node1", "deploy/shop/front", nodes=HEALTHY, objects=objects)
    half = why(
        *("pod/shop/web-node1", "deploy/front"), nodes={"node1": HEALTHY["node1"]}, objects=objects
    )

    assert answer.verdict == "none"
    assert str(answer.probe).startswith("tcp 10.244.1.2 > 10.244.0.3:8080")
    said = "deploy/shop/front stands for pod/shop/front-5c-b; 1 of its 2 pods are ready."
    assert said in answer.diagnosis.notes
    assert half.exit_code == 3
    assert "node node2" in half.text()
    with pytest.raises(UsageError, match="did you mean deploy/shop/front"):
        why("pod/shop/web-node1", "deploy/shop/fornt", nodes=HEALTHY, objects=objects)


@pytest.mark.parametrize("name", ["api.shop.svc.cluster.local:http", "api.shop.svc:80", "api.shop"])
def test_a_name_of_the_clusters_dns_is_its_service(name: str) -> None:
    """As a pod's resolver would take it."""
    assert ask("shop/web-node1", name).probe == ask("shop/web-node1", "svc/shop/api:http").probe


def test_a_name_of_outside_is_asked_about_by_its_address() -> None:
    """What it stands for only a resolver knows."""
    with pytest.raises(UsageError, match=r"by its address \(getent hosts www.example.com, run in"):
        ask("shop/web-node1", "www.example.com:443")


def test_names_are_looked_for_in_a_namespace_first() -> None:
    """Where two have the name, that one counts."""
    second = OWNED.format(name="web-node1", node="node1", address="10.244.1.99", ready="True")
    objects = with_objects(second.replace("namespace: shop", "namespace: other"))
    answer = why(
        *("web-node1", "pod/shop/far"), nodes=HEALTHY, objects=objects, namespaces=("shop",)
    )

    assert answer.probe is not None
    assert str(answer.probe.src) == "10.244.1.2"


LATE = """\
- apiVersion: v1
  kind: Pod
  metadata: {name: late, namespace: shop}
  spec: {containers: [{name: c}]}
  status:
    phase: Pending
    conditions:
    - {type: PodScheduled, status: "False", reason: Unschedulable, message: 0/2 nodes have room}
"""


@pytest.mark.parametrize("nodes", [HEALTHY, {}])
def test_a_pod_without_an_address_is_an_answer_of_its_own(nodes: dict[str, str]) -> None:
    """Nothing is walked, and no node is needed: the API says why there is nothing to connect to."""
    answer = why("shop/web-node1", "pod/shop/late:80", nodes=nodes, objects=with_objects(LATE))
    (found,) = answer.findings

    assert (answer.verdict, answer.exit_code, answer.probe) == ("fault", 1, None)
    assert (found.check, found.certainty) == ("pod-without-address", 1.0)
    assert "pod/shop/late has no address: it is Pending: 0/2 nodes have room." in answer.text()
    assert answer.data()["verdict"] == "fault"
    assert "0/2 nodes have room" in answer.html()


@pytest.mark.parametrize("name", ["far", "web-node1"])
def test_a_pod_that_a_snapshot_shows_is_walked_from_it(name: str) -> None:
    """What the API said of it before, whichever node it is on, is of another moment."""
    older = LATE.replace("late", name)
    said = with_objects().text.replace(f"    name: {name}\n", "    name: gone\n")
    objects = Pasted(said.replace("items:\n", f"items:\n{older}", 1), "api")
    answer = why(f"pod/shop/{name}", "10.244.1.3:8080", nodes=HEALTHY, objects=objects)

    assert answer.probe is not None
    assert "pod-without-address" not in {one.check for one in answer.findings}


def test_without_a_node_nothing_else_is_answered() -> None:
    """A walk needs the evidence of one."""
    with pytest.raises(UsageError, match="expected the evidence of a node"):
        why("shop/web-node1", "pod/shop/api-node1", nodes={}, objects=str(OBJECTS))


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("svc/shop/api:9999", "svc/shop/api has no port 9999, it has 80 http"),
        ("svc/shop/front:30180", "it has 80 http; 30180 is a port of the nodes: ask for node/NAME"),
    ],
)
def test_a_port_that_a_service_does_not_have_is_no_end(end: str, said: str) -> None:
    """It says which the service has, and where it is a node port, how that is asked about."""
    with pytest.raises(UsageError, match=re.escape(said)):
        ask("pod/shop/web-node1", end)
