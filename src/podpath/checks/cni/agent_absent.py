"""agent-absent: one node has no pod of the network plugin's agent, while every other node has one.

What it is
    The plugin's DaemonSet runs on all nodes but one: a listing of the nodes and one of the agent's
    pods differ in just that name. A taint that the DaemonSet does not tolerate keeps it away, or a
    label that its node selector asks for is missing, or a node affinity excludes the node.

Why it breaks
    Without the agent, nobody writes the plugin's configuration there, gives pods their devices and
    addresses, or sets the routes and tunnels to other nodes, so pods do not start, or reach only
    their own node. Other nodes do not learn of this one either.

How to confirm
    kubectl get nodes; kubectl -n kube-system get pods -o wide | grep AGENT
    kubectl -n kube-system get ds; kubectl describe node NODE | grep -A5 Taints

How to fix
    Add the toleration or the label that is missing, and wait for the agent's pod before you judge
    the node again.

References
    https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.dying import is_agent
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, is_of_all, see
from podpath.checks.told import LOSSES, list_failing
from podpath.net.complaints import EndKind
from podpath.net.failures import FailureKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_AGENT,)
NAME = "agent-absent"
_DRAWN = re.compile(r"(?P<set>[a-z0-9][a-z0-9.-]*)-[a-z0-9]{5}")
"""A pod of a DaemonSet: the set's name, and letters that are drawn."""
_TEMPLATE = re.compile(r"-(?=[a-z]*\d)[bcdfghjklmnpqrstvwxz2456789]{6,10}$")
"""What a Deployment puts between its name and those letters."""
_NETWORKING = re.compile(r"(?:^|-)(?:agent|cni|network|net|overlay|node|proxy)(?:-|$)")
_PODS = re.compile(
    r"\bget\s+(?:pods?|po|all)(?:\s+(?:-[nlLo]\s*\S+|--(?:namespace|selector|output)\s+\S+|"
    r"--?[\w-]+(?:=\S+)?))*\s*(?:\||$)"
)
"""Commands that list pods and name none."""
_CUT = re.compile(r"--field-selector|\|\s*(?:head|tail|grep\s+-v|awk\s+'[^{])")
_GREP = re.compile(r"\|\s*e?grep\s+(?:-[iEwe]+\s+)*['\"]?(?P<word>[\w.-]+)['\"]?\s*$")
_MEANT = frozenset({None, FailureKind.NOT_STARTED}) | LOSSES


class _Agents(NamedTuple):
    """The pods of one DaemonSet, by their nodes."""

    name: str
    pods: Mapping[str, ObjectSightings]


def check(case: Case) -> Iterator[Finding]:
    """Report the first agent that a single node lacks."""
    nodes = {node.name: node for node in see(case, "Node") if node.name and _is_of_all(node)}
    for agents in _list_agents(case):
        lacking = [name for name in nodes if name not in agents.pods]
        if len(nodes) > 1 and len(lacking) == 1 and agents.pods.keys() <= nodes.keys():
            yield _report(case, agents, nodes[lacking[0]])
            return


def _is_of_all(node: ObjectSightings) -> bool:
    return any(is_of_all(one.tree.line) for one in node.sights)


def _list_agents(case: Case) -> Iterator[_Agents]:
    """Yield the sets of which a whole listing shows one pod on each of several nodes, or on the one
    other node.
    """
    sets: dict[tuple[str, str], list[ObjectSightings]] = {}
    for pod in see(case, "Pod"):
        drawn = _DRAWN.fullmatch(pod.name)
        if drawn is not None and _TEMPLATE.search(drawn["set"]) is None:
            sets.setdefault((pod.namespace, drawn["set"]), []).append(pod)
    for (_, name), pods in sets.items():
        placed = {pod.text_at("spec", "nodeName"): pod for pod in pods}
        known = is_agent(name) or _NETWORKING.search(name) is not None
        if known and all(placed) and len(placed) == len(pods) and _is_whole(name, pods):
            yield _Agents(name, placed)


def _is_whole(name: str, pods: list[ObjectSightings]) -> bool:
    """Tell whether one command listed all pods of a set."""
    commands = {sight.tree.line.source.command for pod in pods for sight in pod.sights[:1]}
    command = next(iter(commands)) or ""
    greped = _GREP.search(command)
    narrowed = "grep" in command and (greped is None or greped["word"] not in name)
    named = _PODS.search(command) is None
    return len(commands) == 1 and not (named or narrowed or _CUT.search(command))


def _report(case: Case, agents: _Agents, node: ObjectSightings) -> Finding:
    blamed = [
        one
        for one in list_failing(case)
        if node.name in one.words and one.source is EndKind.POD and one.failure in _MEANT
    ]
    sure = bool(blamed) and is_agent(agents.name)
    shown = [pod.span for pod in agents.pods.values()]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The node {node.name} has no pod of {agents.name}, which all other nodes that are "
            "listed have."
        ),
        evidence=(node.span, *shown[:3]),
        reasoning=(
            (
                f"The nodes are listed, and the pods of {agents.name} are: {len(shown)} on as many "
                "other nodes."
            ),
        ),
        breaks=(f"pods on {node.name}: their start, or their way to other nodes",),
        prevention="Alert on a DaemonSet that desires fewer pods than there are nodes.",
        certainty=1.0 if sure else 0.7,
        marks=(node.name, agents.name),
        asks=(
            FollowUp(
                fact=f"why no pod of {agents.name} is on {node.name}",
                command=(
                    f"kubectl describe node {node.name} | grep -A5 Taints; kubectl get ds -A; "
                    f"kubectl get events -A | grep {agents.name}"
                ),
                decides="a taint that the DaemonSet does not tolerate, or a label it selects by",
            ),
        ),
    )
