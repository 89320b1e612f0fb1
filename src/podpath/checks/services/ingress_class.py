"""ingress-class-unknown: an Ingress is of a class that no IngressClass has.

What it is
    An Ingress names its class (ingressClassName), and the cluster has no IngressClass of that name:
    `kubectl get ingressclass` lists others, or ingress-nginx logs that it ignores the Ingress ("no
    object matching key").

Why it breaks
    Each controller takes the Ingresses of its own class alone. One that no controller takes gets no
    address, and a controller that is asked for its host answers 404 from its default backend.

How to confirm
    kubectl get ingressclass; kubectl get ingress -A
    kubectl -n NAMESPACE logs deploy/CONTROLLER | grep -i 'ingress class'

How to fix
    Name the class that the controller serves (spec.ingressClassName), or create the IngressClass.

References
    kubernetes.io, Ingress: Ingress class; ingress-nginx internal/ingress/controller/store/store.go
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, is_of_all, see
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER, Category.BACKEND_MISMATCH)
NAME = "ingress-class-unknown"
LIKELY = 0.7
"""Where people name no host or Ingress of it, or a controller serves it after all."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first Ingress that a controller says it ignores, or whose class is not listed."""
    for one in find_said(case, MessageKind.INGRESS_CLASS_UNKNOWN):
        title, name = one.values["ingress"], one.values["class"]
        shown = _find_shown(case, title)
        hosts = _list_hosts(shown) if shown is not None else ()
        sure = _is_meant(case, title, hosts)
        yield _report(case, title, name, (one.span,), sure=sure)
        return
    yield from _find_unlisted(case)


def _find_unlisted(case: Case) -> Iterator[Finding]:
    classes = see(case, "IngressClass")
    names = {one.name for one in classes}
    if not any(is_of_all(sight.tree.line) for one in classes for sight in one.sights):
        return
    for one in see(case, "Ingress"):
        named = one.at("spec", "ingressClassName")
        if named is not None and named.text not in names:
            untaken = one.at("status", "address") is not None and not _get_address(one)
            sure = untaken and _is_meant(case, one.title, _list_hosts(one))
            spans = (named.line, *(each.span for each in classes[:2]))
            yield _report(case, one.title, named.text, spans, sure=sure)
            return


def _find_shown(case: Case, title: str) -> ObjectSightings | None:
    return next((one for one in see(case, "Ingress") if one.title == title), None)


def _list_hosts(shown: ObjectSightings) -> tuple[str, ...]:
    return tuple(rule.text_at("host") for rule in shown.items_at("spec", "rules"))


def _get_address(shown: ObjectSightings) -> str:
    balancer = shown.items_at("status", "loadBalancer", "ingress")
    return shown.text_at("status", "address") or "".join(one.text_at("ip") for one in balancer)


def _is_meant(case: Case, title: str, hosts: tuple[str, ...]) -> bool:
    """Tell whether people say that it fails: they name it or its host, or just an Ingress and no
    host of another.
    """
    failing = list(list_failing(case))
    name = title.rpartition("/")[2].casefold()
    if any(name in one.words | one.spoken | set(one.names) for one in failing):
        return True
    told = {each for one in failing for each in one.names}
    others = {host for one in see(case, "Ingress") for host in _list_hosts(one)} - {*hosts}
    spoken = any(Technology.INGRESS in one.mentions for one in failing)
    return bool(told & {*hosts}) or (spoken and not told & others)


def _report(case: Case, title: str, name: str, spans: tuple[Span, ...], *, sure: bool) -> Finding:
    known = sorted(one.name for one in see(case, "IngressClass"))
    listed = f" ({', '.join(known)})" if known else ""
    space, _, own = title.rpartition("/")
    ask = FollowUp(
        f"which controller is to serve {title}, and whether it has taken it",
        "kubectl get ingressclass; kubectl get ingress -A",
        f"no IngressClass {name}, and no address: no controller takes it",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The Ingress {title} is of the class {name}, which no IngressClass has{listed}: no "
            "controller serves it."
        ),
        evidence=spans,
        reasoning=("A controller leaves out Ingresses of a class that it does not know.",),
        breaks=(f"requests for the hosts of the Ingress {title}",),
        repairs=(
            Repair(
                title="name the class that the controller serves (spec.ingressClassName)",
                commands=(f"kubectl -n {space or 'NAMESPACE'} edit ingress {own}",),
            ),
        ),
        prevention="Make one IngressClass the default, and leave the field out.",
        certainty=1.0 if sure else LIKELY,
        asks=() if sure else (ask,),
        marks=(name,),
    )
