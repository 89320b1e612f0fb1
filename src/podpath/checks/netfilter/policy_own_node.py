"""policy-own-node: a NetworkPolicy admits only pods, but the clients are nodes: it works only on
the pod's own node.

What it is
    The peers of a policy's ingress rules are selectors of pods and namespaces, without an ipBlock,
    and the ticket says that something works on the node where a selected pod runs and fails on
    others.

Why it breaks
    API servers (aggregated APIs, webhooks, kubectl top and exec), programs on the host and pods on
    the host's network have their node's address, which no pod selector can admit. A node can always
    reach its own pods, for the sake of the kubelet's probes; other nodes are denied.

How to confirm
    kubectl get networkpolicy -A -o yaml | grep -e ipBlock -e Selector
    kubectl get pods -o wide; curl -k https://POD:PORT from its own node and from another

How to fix
    Add an ipBlock with the nodes' addresses (and those of their tunnel devices) to the rule.

References
    Kubernetes, "Network Policies"; Calico, policy for hosts: defaultEndpointToHostAction
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.told import list_failing
from podpath.net.complaints import Complaint
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_POLICY,)
NAME = "policy-own-node"


def check(case: Case) -> Iterator[Finding]:
    """Report the first policy without a range, where people tell a pod's node from others.

    Possible only: a tunnel that is blocked between nodes looks the same from outside.
    """
    for policy in see(case, "NetworkPolicy"):
        peers = list(_list_peers(policy))
        if not peers or any(peer.at("ipBlock") is not None for peer in peers):
            continue
        for pod in see(case, "Pod"):
            if policy.namespace and pod.namespace and policy.namespace != pod.namespace:
                continue
            node = pod.text_at("spec", "nodeName")
            told = _find_told(case, node)
            if told is not None:
                yield _report(policy, pod, peers[0], told)
                return


def _list_peers(policy: ObjectSightings) -> Iterator[Tree]:
    for rule in policy.items_at("spec", "ingress"):
        yield from rule.items_at("from")


def _find_told(case: Case, node: str) -> Span | None:
    """Return the sentence that says that it fails on other nodes than one on which it works."""
    works = [one for one in case.complaints if one.works and _names(one, node)]
    for one in list_failing(case):
        others = {word for word in one.words if _is_like(word, node)}
        if node and works and others:
            return one.span
    return None


def _names(complaint: Complaint, node: str) -> bool:
    return any(_is_of(word, node) for word in complaint.words)


def _is_of(word: str, node: str) -> bool:
    """Tell whether a word is a node's name, or the end of it that people say."""
    same = node == word or node.endswith(f"-{word}") or word.startswith(f"{node}.")
    return len(word) > 1 and same


def _is_like(word: str, node: str) -> bool:
    """Tell whether a word is another node's name: the same but for its number."""
    stem = word.rstrip("0123456789")
    numbered = word[-1:].isdigit() and node[-1:].isdigit() and len(stem) > 1
    return numbered and stem in node and not _is_of(word, node)


def _report(policy: ObjectSightings, pod: ObjectSightings, peer: Tree, told: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The NetworkPolicy {policy.title} admits pods only: {pod.name} is reachable from its "
            "own node, but not from other nodes."
        ),
        evidence=(peer.line, told, pod.span),
        reasoning=("Packets from a node have the node's address, which no pod selector admits.",),
        breaks=(f"connections to {pod.name} from other nodes, including API servers",),
        prevention="Add the nodes' addresses as an ipBlock wherever API servers or hosts connect.",
        certainty=0.7,
        asks=(
            FollowUp(
                "whether other pods, which the policy does not select, are reachable from those "
                "nodes",
                f"kubectl get networkpolicy -A; from another node: curl POD-OF-THE-SAME-NODE:PORT; "
                f"kubectl get pod {pod.name} -o wide --show-labels",
                "they are, and this pod is not: the policy; they are not, either: the path "
                "between the nodes",
            ),
        ),
        marks=("namespaceSelector", "podSelector"),
    )
