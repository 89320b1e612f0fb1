"""Policies that admit pods, and clients that are nodes."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.policy_own_node import check
from tests.checks.pasted import ticket_of

PODS = """\
NAME             READY   STATUS    RESTARTS   AGE   IP          NODE
metrics-abcde    1/1     Running   0          11d   10.9.0.7    prod-control-02
"""
POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: inner
  namespace: kube-system
spec:
  podSelector: {{}}
  ingress:
  - from:
    - {peer}
"""
SELECTS = "namespaceSelector:\n        matchLabels:\n          team: a"
RANGE = "ipBlock:\n        cidr: 10.0.0.0/8"
OWN = "kubectl top works on control-02, but on control-01 and control-03 it fails."


def certainties(prose: str, peer: str) -> list[float]:
    """Return how sure the findings of a ticket with this policy are."""
    policy = POLICY.format(peer=peer)
    text = (
        f"{prose}\n\n```\n$ kubectl get pods -n kube-system -o wide\n{PODS}```\n\n"
        f"```\n$ kubectl get networkpolicy -n kube-system inner -o yaml\n{policy}```\n"
    )
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    "prose",
    [
        OWN,
        "From prod-control-02 the pod answers, but from prod-control-01 it times out.",
        "The webhook is reachable on control-02, whereas control-03 gets no answer.",
    ],
)
def test_it_works_on_the_pods_own_node_alone(prose: str) -> None:
    """Whole names of nodes or the ends of them, in several sentences."""
    assert [0.7] == certainties(prose, SELECTS)


@pytest.mark.parametrize(
    ("prose", "peer"),
    [
        (OWN, RANGE),
        ("kubectl top fails on control-01, control-02 and control-03.", SELECTS),
        ("kubectl top works on control-01, but on control-02 it fails.", SELECTS),
        ("Nobody reaches the pod.", SELECTS),
    ],
)
def test_other_policies_and_other_words(prose: str, peer: str) -> None:
    """A range that is admitted; what fails everywhere, or on the pod's own node."""
    assert [] == certainties(prose, peer)
