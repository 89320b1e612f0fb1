"""Kube-proxy that goes by another name than its node."""

from __future__ import annotations

import pytest

from podpath.checks.services.endpoint_not_local import check
from tests.checks.pasted import ticket_of

OLD = (
    '-A KUBE-XLB-ABCDEFGHIJKLMNOP -m comment --comment "shop/web: has no local endpoints" '
    "-j KUBE-MARK-DROP"
)
NEW = (
    "-A KUBE-EXTERNAL-SERVICES -d 203.0.113.9/32 -p tcp -m comment --comment "
    '"shop/web has no local endpoints" -m tcp --dport 80 -j DROP'
)
OTHER = '-A KUBE-SERVICES -m comment --comment "shop/web has no endpoints" -j REJECT'
FAILS = "From outside the service cannot be reached"


def certainties(prose: str, rule: str) -> list[float]:
    """Return how sure the findings of a ticket with this rule are."""
    text = f"{prose}\n\n```\n$ iptables-save | grep local\n{rule}\n```\n"
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize("rule", [OLD, NEW])
@pytest.mark.parametrize(
    "prose",
    [
        f"{FAILS}, not even through the worker that runs a pod of it.",
        f"{FAILS}. I asked the node with the pod directly.",
        f"{FAILS} by this node. The only replica is running on this very node.",
    ],
)
def test_a_pod_that_is_said_to_run_here(prose: str, rule: str) -> None:
    """Both versions of the rule, and three wordings."""
    assert [1.0] == certainties(prose, rule)


@pytest.mark.parametrize(
    ("prose", "rule"),
    [
        (f"{FAILS}.", OLD),
        (f"{FAILS}. Its pod runs on another node.", OLD),
        (f"{FAILS}, not even through the worker that runs a pod of it.", OTHER),
        ("I looked at the node with the pod.", OLD),
    ],
)
def test_what_is_another_fault_or_none(prose: str, rule: str) -> None:
    """No pod here, a service without endpoints, and nobody who complains."""
    assert [] == certainties(prose, rule)


@pytest.mark.parametrize(
    ("prose", "about"),
    [
        (f"{FAILS}, not even through the worker that runs a pod of it.", set()),
        ("The service api.shop.svc cannot be reached, not even on the node with the pod.", {"web"}),
    ],
)
def test_the_service_that_the_rule_names(prose: str, about: set[str]) -> None:
    """Where people name a service, the rule has to be that one's."""
    (finding,) = check(ticket_of(f"{prose}\n\n```\n$ iptables-save | grep local\n{OLD}\n```\n"))

    assert about == finding.about


POD = "default   web-0   1/1   Running   0   2m   10.44.7.9   a7   <none>   <none>"
PROXY = (
    "kube-system   kube-proxy-x2v8p   0/1   CrashLoopBackOff   41   3h   172.20.0.7   a7   "
    "<none>   <none>"
)
HEAD = (
    "NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE   IP   NODE   NOMINATED NODE   "
    "READINESS GATES"
)


@pytest.mark.parametrize(
    ("rows", "node", "claim"),
    [
        ((POD,), "a7", "although one of its pods runs here."),
        ((POD, PROXY), "a7", "kube-proxy does not run here, so its rules are old."),
        ((POD, PROXY.replace("a7", "a8")), "a7", "although one of its pods runs here."),
        ((POD,), "a8", ""),
        ((POD.replace("1/1   Running", "0/1   Running"),), "a7", ""),
        ((POD.replace("1/1   Running", "1/1   Terminating"),), "a7", ""),
        ((POD.replace("web-0", "db-0"),), "a7", ""),
        ((POD.replace("web-0", "web-gateway-0"),), "a7", ""),
        ((POD.replace("default", "staging"),), "a7", ""),
    ],
    ids=[
        "row",
        "proxy-stopped",
        "other-proxy",
        "other-node",
        "not-ready",
        "ends",
        "other-pod",
        "longer-name",
        "other-namespace",
    ],
)
def test_a_table_shows_the_pod_on_the_node_of_the_rules(
    rows: tuple[str, ...], node: str, claim: str
) -> None:
    """It is of the service by its name, and ready; whose rules these are the prompt says."""
    table = "\n".join((HEAD, *rows))
    rule = OLD.replace("shop/web", "default/web")
    text = (
        f"{FAILS}.\n\n```\n$ kubectl get pods -A -o wide\n{table}\n```\n"
        f"```\nroot@{node}:~# iptables-save -t nat\n*nat\n:KUBE-XLB-ABCDEFGHIJKLMNOP - [0:0]\n"
        f"{rule}\nCOMMIT\n```\n"
    )
    found = list(check(ticket_of(text)))

    assert len(found) == bool(claim)
    assert all(claim in str(one.claim) for one in found)
    assert all((one.certainty < 1) is ("does not run" not in claim) for one in found)
    assert all(bool(one.asks) is (one.certainty < 1) for one in found)


def test_a_pod_that_is_scheduled_and_not_ready_is_no_endpoint() -> None:
    """Its object has other conditions that are true."""
    rule = OLD.replace("shop/web", "default/web")
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-0\n  namespace: default\nspec:\n"
        "  nodeName: a7\nstatus:\n  phase: Running\n  conditions:\n"
        '  - type: PodScheduled\n    status: "True"\n  - type: Ready\n    status: "{}"\n'
    )
    text = (
        f"{FAILS}.\n\n```\n$ kubectl get pod web-0 -o yaml\n{pod}```\n"
        f"```\nroot@a7:~# iptables-save -t nat\n*nat\n:KUBE-XLB-ABCDEFGHIJKLMNOP - [0:0]\n"
        f"{rule}\nCOMMIT\n```\n"
    )

    assert not list(check(ticket_of(text.replace("{}", "False"))))
    assert len(list(check(ticket_of(text.replace("{}", "True"))))) == 1
