"""Pods that are asked about and have no address."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.services.pod_without_address import find_unplaced
from podpath.net.end_names import EndName, NameKind
from podpath.testing.nodes import given_node
from tests.checks.api import case_with

CREATING = """\
    phase: Pending
    containerStatuses:
    - name: c
      ready: false
      state: {waiting: {reason: ContainerCreating}}
"""
PENDING = "pod/shop/late has no address: it is Pending"
POD = """
- kind: Pod
  metadata: {name: late, namespace: shop}
  spec:
    containers: [{name: c}]
  status:
"""
ASKED = EndName(NameKind.POD, "late", "shop")


def ask(status: str, asked: EndName = ASKED) -> list[Finding]:
    """Ask about the pod with a status."""
    return list(find_unplaced(case_with(given_node(), POD + status), (asked,)))


@pytest.mark.parametrize(
    ("status", "claim", "lines"),
    [
        (
            CREATING,
            f"{PENDING}: the container c is waiting (ContainerCreating).",
            ["phase: Pending", "ContainerCreating"],
        ),
        (
            "    phase: Pending\n",
            "pod/shop/late has no address: it is Pending.",
            ["phase: Pending"],
        ),
        (
            "    phase: Succeeded\n    podIP: 10.244.0.9\n",
            "pod/shop/late has ended (Succeeded): nothing connects from it or to it any more.",
            ["phase: Succeeded"],
        ),
    ],
)
def test_a_pod_that_cannot_be_an_end(status: str, claim: str, lines: list[str]) -> None:
    """Its phase says so, and its status why."""
    (found,) = ask(status)

    assert (found.claim, found.certainty) == (claim, 1.0)
    assert all(part in span.text for part, span in zip(lines, found.evidence, strict=True))


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("    phase: Running\n    podIP: 10.244.0.9\n", "late"),
        ("    phase: Pending\n    podIP: 10.244.0.9\n", "late"),
        ("    qosClass: Burstable\n", "late"),
        ("    phase: Pending\n", "other"),
    ],
)
def test_a_pod_that_can_or_is_not_asked_about(status: str, name: str) -> None:
    """Nothing is said: one that initializes has its address already."""
    assert ask(status, ASKED._replace(name=name)) == []
