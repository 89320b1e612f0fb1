"""Rules of kube-proxy that are not what the endpoints are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podpath.checks.finding import Finding, Severity
from podpath.checks.services.proxy_behind import check
from tests.checks.proxied import (
    ENDPOINTS,
    JUST_NOW,
    LONG_AGO,
    SERVICE,
    case_of,
    endpoints,
    iptables,
    listed,
    nftables,
)

SHAPES = (iptables, nftables)
Shape = Callable[..., str]


def ask(
    folder: Path, rules: str, behind: str, *, at: str = "2026-11-23T01:53:50Z"
) -> list[Finding]:
    """Run the check on a node with these rules and a service with these endpoints."""
    return list(check(case_of(folder, rules, listed(SERVICE, behind, at=at))))


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_that_are_what_the_endpoints_are(tmp_path: Path, shape: Shape) -> None:
    """Nothing is said of a node whose rules have all endpoints that are ready, and no other."""
    assert ask(tmp_path, shape(*ENDPOINTS), endpoints(ENDPOINTS)) == []


@pytest.mark.parametrize("shape", SHAPES)
def test_an_endpoint_that_is_gone(tmp_path: Path, shape: Shape) -> None:
    """The rule that still leads there is quoted, and why it is certain is told."""
    (found,) = ask(tmp_path, shape(*ENDPOINTS), endpoints(ENDPOINTS[:1]))

    assert found.claim == (
        "Kube-proxy's rules on this node send shop/api:http to 10.244.0.2:8080, which its "
        "endpoints do not list."
    )
    assert "10.244.0.2:8080" in found.evidence[0].text
    assert (found.severity, found.certainty) == (Severity.FAULT, 1.0)
    assert "The endpoints changed 829 s before the rules were read." in found.reasoning
    assert found.breaks == ("a share of the connections from this node to shop/api:http",)
    assert found.repairs[0].commands == ("systemctl restart kube-proxy",)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_endpoint_that_is_not_ready(tmp_path: Path, shape: Shape) -> None:
    """It is listed, but nothing is to be sent to it."""
    (found,) = ask(tmp_path, shape(*ENDPOINTS), endpoints(ENDPOINTS[:1], ENDPOINTS[1:]))

    assert str(found.claim).endswith("10.244.0.2:8080, which is not ready.")
    assert found.certainty == 1.0


@pytest.mark.parametrize("shape", SHAPES)
def test_an_endpoint_that_the_rules_lack(tmp_path: Path, shape: Shape) -> None:
    """The others still answer, so it is a risk."""
    (found,) = ask(tmp_path, shape(*ENDPOINTS[:1]), endpoints(ENDPOINTS))

    assert found.claim == (
        "Kube-proxy's rules on this node lack 10.244.0.2:8080, a ready endpoint of shop/api:http."
    )
    assert (found.severity, found.certainty) == (Severity.RISK, 1.0)


def test_rules_that_refuse_a_service_whose_endpoint_is_ready(tmp_path: Path) -> None:
    """Kube-proxy still says that there is none."""
    refusing = (
        "*filter\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -d 10.96.54.185/32 -p tcp -m comment "
        '--comment "shop/api:http has no endpoints" -m tcp --dport 80 -j REJECT\nCOMMIT\n'
    )
    other = iptables(*ENDPOINTS).replace("10.96.54.185", "10.96.0.99")
    (found,) = ask(tmp_path, refusing + other, endpoints(ENDPOINTS))

    assert "has no endpoints" in found.evidence[0].text
    assert (found.severity, found.certainty) == (Severity.FAULT, 1.0)
    assert found.breaks == ("every connection from this node to shop/api:http",)


def test_a_service_that_the_rules_do_not_know(tmp_path: Path) -> None:
    """Kube-proxy has rules, and none for it."""
    other = iptables(*ENDPOINTS).replace("10.96.54.185", "10.96.0.99")
    (found,) = ask(tmp_path, other, endpoints(ENDPOINTS))

    assert "have nothing for shop/api:http at all; 10.244.1.3:8080 and 1 more" in str(found.claim)


@pytest.mark.parametrize(
    ("changed", "at", "words"),
    [
        (JUST_NOW, "2026-11-23T01:53:50Z", "changed 9 s before"),
        (LONG_AGO, "", "does not show how long"),
        (LONG_AGO, "2026-11-23T01:45:00Z", "does not show how long"),
        (LONG_AGO, "2026-11-23T01:53:48Z", "does not show how long"),
        ("2026-11-23T01:53:59Z", "2026-11-23T01:54:30Z", "changed 10 s after"),
        ("", "2026-11-23T01:53:50Z", "does not show how long"),
    ],
)
def test_a_change_that_may_be_young(tmp_path: Path, changed: str, at: str, words: str) -> None:
    """Where the change is young, or objects and rules are of different times, it is only possible,
    with a question.
    """
    behind = endpoints(ENDPOINTS[:1], changed=changed)
    (found,) = ask(tmp_path, iptables(*ENDPOINTS), behind, at=at)

    assert found.certainty < 1
    assert words in str(found.reasoning)
    assert found.asks[0].command == "curl -s http://localhost:10256/healthz"


SLICE = f"""
- kind: EndpointSlice
  metadata:
    name: api-x
    namespace: shop
    labels: {{kubernetes.io/service-name: api}}
    annotations: {{endpoints.kubernetes.io/last-change-trigger-time: "{LONG_AGO}"}}
"""
POD = """
- kind: Pod
  metadata: {name: api-0, namespace: shop}
  status:
    podIP: 10.244.0.2
    conditions:
    - {type: Ready, status: "True", lastTransitionTime: "READY"}
    containerStatuses:
    - name: c
      restartCount: 7
      state: {running: {startedAt: "STARTED"}}
      lastState: {terminated: {finishedAt: "ENDED"}}
"""


@pytest.mark.parametrize("time", ["READY", "STARTED", "ENDED"])
def test_an_endpoint_whose_pod_restarts(tmp_path: Path, time: str) -> None:
    """Its endpoint comes and goes with it, whatever the endpoints say of their last change: that
    the rules lack it is only possible.
    """
    for number, (moment, certainty) in enumerate(((LONG_AGO, 1.0), (JUST_NOW, 0.6))):
        pod = POD.replace(time, moment)
        for word in ("READY", "STARTED", "ENDED"):
            pod = pod.replace(word, LONG_AGO)
        objects = listed(SERVICE, endpoints(ENDPOINTS), pod)
        folder = tmp_path / str(number)
        (found,) = check(case_of(folder, iptables(*ENDPOINTS[:1]), objects))
        assert (str(found.claim)[:38], found.certainty) == (
            "Kube-proxy's rules on this node lack 1",
            certainty,
        )


def test_the_last_change_is_the_latest_that_is_noted(tmp_path: Path) -> None:
    """A manager's old time does not hide what the controller notes of its last change."""
    noted = endpoints(ENDPOINTS, changed=JUST_NOW).replace(
        "\n  subsets", f'\n    managedFields: [{{manager: m, time: "{LONG_AGO}"}}]\n  subsets'
    )
    (found,) = ask(tmp_path, iptables(*ENDPOINTS[:1]), noted)

    assert found.certainty < 1


def test_a_service_whose_endpoints_are_all_gone(tmp_path: Path) -> None:
    """Nothing notes when the last one went."""
    empty = endpoints(()).replace("  subsets:", "  other:") + SLICE
    (found,) = ask(tmp_path, iptables(*ENDPOINTS), empty)

    assert found.certainty < 1


@pytest.mark.parametrize(
    "changed",
    [
        SERVICE.replace("    selector", "    internalTrafficPolicy: Local\n    selector"),
        SERVICE.replace("    clusterIP: 10.96.54.185", "    clusterIP: None"),
        SERVICE.replace(
            "namespace: shop}",
            "namespace: shop, labels: {service.kubernetes.io/service-proxy-name: x}}",
        ),
    ],
)
def test_services_that_are_not_kube_proxys(tmp_path: Path, changed: str) -> None:
    """Nothing is said where kube-proxy writes other rules, or none."""
    case = case_of(tmp_path, iptables(*ENDPOINTS), listed(changed, endpoints(ENDPOINTS[:1])))

    assert list(check(case)) == []


def test_rules_that_are_cut(tmp_path: Path) -> None:
    """What is not shown may be there."""
    rules = "\n".join(line for line in iptables(*ENDPOINTS).split("\n") if "SEP-1" not in line)

    assert ask(tmp_path, rules.replace("COMMIT", "..."), endpoints(ENDPOINTS)) == []
