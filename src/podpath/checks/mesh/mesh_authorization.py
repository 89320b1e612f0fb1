"""mesh-authorization: a mesh's AuthorizationPolicy allows nothing.

What it is
    An AuthorizationPolicy with action ALLOW (the default) and no rules denies every request to the
    workloads that it selects; one with action DENY and an empty rule also denies every request.

Why it breaks
    The sidecar answers 403 "RBAC: access denied", or resets TCP connections.

How to confirm
    kubectl get authorizationpolicy -A -o yaml; kubectl logs POD -c istio-proxy | grep rbac

How to fix
    Add a policy that allows the intended traffic; `rules: [{}]` allows everything.

References
    Istio's page "Authorization Policy"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.MESH_POLICY,)
NAME = "mesh-authorization"


def check(case: Case) -> Iterator[Finding]:
    """Report policies that deny all, unless another beside them allows something."""
    policies = see(case, "AuthorizationPolicy")
    allowed = {
        seen.namespace
        for seen in policies
        if seen.text_at("spec", "action") in {"", "ALLOW"} and seen.items_at("spec", "rules")
    }
    for seen in policies:
        spec = seen.at("spec")
        if spec is None or not _is_denying(spec):
            continue
        denies = spec.text_at("action") == "DENY"
        yield _report(seen, spec, sure=denies or seen.namespace not in allowed)


def _is_denying(spec: Tree) -> bool:
    rules = spec.at("rules")
    if spec.text_at("action") == "DENY":
        return rules is not None and any(rule.is_empty for rule in rules.items)
    return spec.text_at("action") in {"", "ALLOW"} and (rules is None or rules.is_empty)


def _report(seen: ObjectSightings, spec: Tree, *, sure: bool) -> Finding:
    place = spec.at("action") or spec
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=f"The AuthorizationPolicy {seen.title} denies every request.",
        evidence=(place.line, seen.span),
        reasoning=(
            (
                "None of its rules allows anything, and a workload that a policy selects accepts "
                "only what the policy lists."
            ),
        ),
        breaks=("requests to the workloads that it selects",),
        prevention=(
            "Deploy the policies that allow traffic together with one that denies everything."
        ),
        certainty=0.8 if sure else 0.4,
        marks=("spec",),
    )
