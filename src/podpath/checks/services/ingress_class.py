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
    listed = {one.name for one in see(case, "IngressClass")}
    for one in find_said(case, MessageKind.INGRESS_CLASS_UNKNOWN):
        title, name = one.values["ingress"], one.values["class"]
        if name in listed:  # a controller knows the classes of its own alone
            continue
        shown = _find_shown(case, title)
        hosts = _list_hosts(shown) if shown is not None else ()
        sure = shown is not None and _is_untaken(shown) and _is_meant(case, title, hosts)
        yield _report((title, name, "the controller does not know"), (one.span,), sure=sure)
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
            sure = _is_untaken(one) and _is_meant(case, one.title, _list_hosts(one))
            spans = (named.line, *(each.span for each in classes[:2]))
            which = f"no IngressClass has ({', '.join(sorted(names))})"
            yield _report((one.title, named.text, which), spans, sure=sure)
            return


def _is_untaken(shown: ObjectSightings) -> bool:
    """Tell whether a listing shows that no controller wrote its address."""
    return shown.at("status", "address") is not None and not _get_address(shown)


def _find_shown(case: Case, title: str) -> ObjectSightings | None:
    return next((one for one in see(case, "Ingress") if one.title == title), None)


def _list_hosts(shown: ObjectSightings) -> tuple[str, ...]:
    return tuple(rule.text_at("host") for rule in shown.items_at("spec", "rules"))


def _get_address(shown: ObjectSightings) -> str:
    balancer = shown.items_at("status", "loadBalancer", "ingress")
    return shown.text_at("status", "address") or "".join(one.text_at("ip") for one in balancer)


def _is_meant(case: Case, title: str, hosts: tuple[str, ...]) -> bool:
    """Tell whether people say that it fails: they name it or its host, or just an Ingress where no
    other one is shown.
    """
    failing = list(list_failing(case))
    name = title.rpartition("/")[2].casefold()
    if any(name in one.words | one.spoken | set(one.names) for one in failing):
        return True
    told = {each for one in failing for each in one.names}
    alone = all(one.title == title for one in see(case, "Ingress"))
    spoken = any(Technology.INGRESS in one.mentions for one in failing)
    return bool(told & {*hosts}) or (spoken and alone)


def _report(of: tuple[str, str, str], spans: tuple[Span, ...], *, sure: bool) -> Finding:
    title, name, which = of
    space, _, own = title.rpartition("/")
    ask = FollowUp(
        f"which controller is to serve {title}, and whether it has taken it",
        "kubectl get ingressclass; kubectl get ingress -A",
        f"no IngressClass {name}, and no address: no controller takes it",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(f"The Ingress {title} is of the class {name}, which {which}: it is not served."),
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
