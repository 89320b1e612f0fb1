"""Services whose pods are not ready, and why."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.services.endpoint_not_ready import check
from podpath.testing.nodes import given_node
from tests.checks.api import case_with
from tests.checks.proxied import SERVICE, endpoints

HEAD = """
- kind: Pod
  metadata: {name: api-0, namespace: shop, labels: {app: api}%s}
  spec:
    containers:
    - name: server
      readinessProbe: {httpGet: {path: /ready, port: 8080}}
  status:
    podIP: 10.244.0.2
    conditions:
"""
NOT_READY = HEAD % "" + '    - {type: Ready, status: "False", reason: ContainersNotReady}\n'
STATUS = "    containerStatuses:\n    - name: server\n      ready: false\n"


def ask(pod: str, ready: tuple[str, ...] = ()) -> list[Finding]:
    """Run the check on a service with this pod."""
    unready = () if ready else ("10.244.0.2",)
    return list(check(case_with(given_node(), SERVICE, endpoints(ready, unready), pod)))


@pytest.mark.parametrize(
    ("pod", "why", "line"),
    [
        (
            NOT_READY + STATUS + "      state: {waiting: {reason: CrashLoopBackOff}}\n"
            "      lastState: {terminated: {reason: Error, exitCode: 137}}\n",
            (
                "the container server is waiting (CrashLoopBackOff); it ended before: Error, "
                "exit code 137"
            ),
            "CrashLoopBackOff",
        ),
        (
            NOT_READY + STATUS + "      state: {running: {startedAt: x}}\n",
            (
                "the container server runs and its readiness probe (httpGet /ready at port 8080) "
                "does not succeed"
            ),
            "ready: false",
        ),
        (
            NOT_READY + STATUS + "      state: {terminated: {reason: Completed, exitCode: 0}}\n",
            "the container server has ended; it ended before: Completed, exit code 0",
            "Completed",
        ),
        (
            HEAD % "" + '    - {type: PodScheduled, status: "False", message: no room}\n',
            "no room",
            "no room",
        ),
        (HEAD % ", deletionTimestamp: x", "it is being deleted", "deletionTimestamp"),
        (NOT_READY, "ContainersNotReady", "ContainersNotReady"),
    ],
)
def test_the_status_says_why(pod: str, why: str, line: str) -> None:
    """The line of the status comes first, the service's address is quoted too."""
    (found,) = ask(pod)

    assert f"for its pod shop/api-0, {why}." in str(found.claim)
    assert line in found.evidence[0].text
    assert found.marks == ("10.96.54.185",)
    assert found.certainty == 1.0


def test_services_with_a_ready_endpoint() -> None:
    """Nothing is said where one is ready, nor where the pod is."""
    ready = HEAD % "" + '    - {type: Ready, status: "True"}\n'

    assert ask(NOT_READY, ("10.244.0.2",)) == []
    assert ask(ready) == []
