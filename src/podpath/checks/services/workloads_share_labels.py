"""workloads-share-labels: two workloads give their pods the same labels, so one selector matches
the pods of both.

What it is
    Two Deployments, StatefulSets or DaemonSets in one namespace have the same selector, most often
    because a tool set one label for all of them (kustomize's commonLabels, a copied chart).

Why it breaks
    A service chooses pods only by labels, so it also gets the pods of the other workload,
    where nothing listens on its port: a share of the connections is refused or times out. `kubectl
    logs deploy/NAME` may show the other's log.

How to confirm
    kubectl get deploy -o wide
    kubectl get endpointslices -l kubernetes.io/service-name=NAME -o wide

How to fix
    Give each workload a label of its own in selector and template, and in the service's selector,
    too; a Deployment's selector cannot be changed, so recreate the Deployment. In kustomize use
    `labels` with includeSelectors: false.

References
    Kubernetes, Labels and Selectors; kustomize, commonLabels
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, is_near, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.NO_ENDPOINTS, Category.NO_LISTENER)
NAME = "workloads-share-labels"


def check(case: Case) -> Iterator[Finding]:
    """Report each pair of workloads of one kind whose selectors are the same."""
    told: list[tuple[ObjectSightings, Tree]] = []
    for seen in see(case, "Deployment", "StatefulSet", "DaemonSet"):
        labels = seen.at("spec", "selector", "matchLabels")
        if labels is None or not labels.fields or not seen.name:
            continue
        twin = next(
            (one for one in told if _is_twin(one[0], seen) and _text(one[1]) == _text(labels)), None
        )
        told.append((seen, labels))
        if twin is None:
            continue
        name, value = next(iter(labels.fields.items()))
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{twin[0].kind} {twin[0].name} and {seen.kind} {seen.name} both select "
                f"{name}={value.text}."
            ),
            evidence=(twin[1].fields[name].line, value.line),
            reasoning=("A service that selects this label has pods of both as endpoints.",),
            breaks=("a share of the connections to services of either workload",),
            prevention="Give every workload a label that no other one has.",
            certainty=1.0,
            marks=(value.text,),
        )


def _is_twin(one: ObjectSightings, other: ObjectSightings) -> bool:
    return one.name != other.name and is_near(one.namespace, other.namespace)


def _text(labels: Tree) -> dict[str, str]:
    return labels.texts
