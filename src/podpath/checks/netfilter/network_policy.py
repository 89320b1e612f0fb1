"""network-policy: a NetworkPolicy selects the pods and does not admit what fails.

What it is
    Once any policy selects a pod for a direction, only what some policy for that direction lists
    gets through. Typical faults: a policy that denies everything with no other next to it, an
    egress policy that leaves out DNS (port 53 of kube-dns, UDP and TCP), a namespaceSelector for a
    label that no namespace has, a port other than the one the pod listens on (a policy applies to
    the pod's port, after the service's translation).

Why it breaks
    The network plugin silently drops what no policy admits: connections time out. kubectl does not
    show it.

How to confirm
    kubectl get networkpolicy -A; kubectl describe networkpolicy -n NAMESPACE
    kubectl get namespaces --show-labels

How to fix
    Add what is missing to the policy's rules: the clients' labels, their namespace
    (`kubernetes.io/metadata.name`), DNS.

References
    the documentation's page "Network Policies"; kubernetes api/networking/v1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import (
    ObjectSightings,
    failures,
    is_near,
    is_of_all,
    is_of_namespace,
    pods,
    see,
)
from podpath.checks.said import find_said
from podpath.checks.told import is_of_space
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_POLICY,)
NAME = "network-policy"
KINDS = ("NetworkPolicy",)
_BESIDE = (
    "CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy", "GlobalNetworkPolicy",
    "AdminNetworkPolicy", "BaselineAdminNetworkPolicy",
)  # fmt: skip
"""Kinds of policies that may admit what these do not."""
_CUT_OFF = frozenset({
    FailureKind.TIMEOUT, FailureKind.UNREACHABLE, FailureKind.HANGS,
    FailureKind.NAME_SERVER_SILENT, FailureKind.NAME_NOT_RESOLVED,
})  # fmt: skip
"""How what a policy does not admit fails."""
_NAMELESS = frozenset({FailureKind.NAME_SERVER_SILENT, FailureKind.NAME_NOT_RESOLVED})
DNS_PORTS = ("53", "dns", "dns-tcp", "5353")
BY_ITSELF = "kubernetes.io/metadata.name"
"""The label that every namespace has of itself."""


def check(case: Case) -> Iterator[Finding]:
    """Report policies that deny all, leave out DNS, or ask for labels that no namespace has."""
    policies = see(case, *KINDS)
    failed = bool(tuple(failures(case)))
    for policy in policies:
        spec = policy.at("spec")
        if spec is None:
            continue
        for direction in ("Ingress", "Egress"):
            if _is_of(spec, direction) and _is_bare(spec, direction):
                yield _report_denied(case, policy, spec, direction, policies, failed=failed)
        if (
            _is_of(spec, "Egress")
            and spec.items_at("egress")
            and not _admits_dns(spec, policies, policy)
        ):
            yield _report_dns(case, policy, spec)
        yield from _missing_labels(case, policy, spec, policies)


def _is_of(spec: Tree, direction: str) -> bool:
    """Tell whether a policy is of a direction: it says so, or says nothing and has rules of it
    (ingress always).
    """
    types = [item.text for item in spec.items_at("policyTypes")]
    return direction in types if types else direction == "Ingress" or spec.at("egress") is not None


def _is_bare(spec: Tree, direction: str) -> bool:
    rules = spec.at(direction.lower())
    return rules is None or rules.is_empty


def _spell_target(selector: Tree | None) -> str:
    """Return what a pod selector takes, in words."""
    labels = _labels(selector)
    if labels:
        return _spell(labels)
    return "every pod" if _takes_all(selector) else "the pods that it selects"


def _takes_all(selector: Tree | None) -> bool:
    return selector is not None and selector.is_empty


def _report_denied(
    case: Case,
    policy: ObjectSightings,
    spec: Tree,
    direction: str,
    policies: tuple[ObjectSightings, ...],
    *,
    failed: bool,
) -> Finding:
    others = [
        one for one in policies if one is not policy and is_near(one.namespace, policy.namespace)
    ]
    helped = any(one.items_at("spec", direction.lower()) for one in others)
    certainty = 0.8 if failed and not helped else 0.5
    target = _spell_target(spec.at("podSelector"))
    place = spec.at(direction.lower()) or spec.at("policyTypes") or spec.at("podSelector") or spec
    where = f" in {policy.namespace}" if policy.namespace else ""
    alone = not see(case, *_BESIDE)
    ours = alone and is_of_space(case, policy.namespace) and _takes_all(spec.at("podSelector"))
    proves = _CUT_OFF if ours and _is_only(policy, policies) else frozenset[FailureKind]()
    nameless = alone and direction == "Egress" and _is_nameless((policy, *others))
    if ours and nameless:
        proves |= _NAMELESS
    chosen_pods = [
        pod
        for pod in pods(case)
        if pod.labels is not None and is_near(pod.seen.namespace, policy.namespace)
    ]
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"The NetworkPolicy {policy.title} denies all {direction.lower()} of {target}{where}"
            f"{', and no policy there admits DNS (port 53)' if nameless else ''}."
        ),
        evidence=(place.line, *((spec.at("podSelector") or spec).line,), policy.span),
        reasoning=(
            (
                f"It is of type {direction} and has no {direction.lower()} rule; only another "
                "policy could admit anything."
            ),
        ),
        breaks=(f"{direction.lower()} of {len(chosen_pods) or 'the selected'} pods",),
        prevention=(
            "Ship policies for DNS and for each client together with one that denies everything."
        ),
        certainty=certainty,
        proves=proves,
        marks=(direction,),
    )


def _is_nameless(policies: Sequence[ObjectSightings]) -> bool:
    """Tell whether a table lists these policies, each is shown, and none lets port 53 out."""
    whole = all(map(_is_listed, policies))
    rules = [rule for one in policies for rule in one.items_at("spec", "egress")]
    return whole and not any(map(_may_be_of_dns, rules))


def _may_be_of_dns(rule: Tree) -> bool:
    """Tell whether a rule is for any port, or for one by which names may be asked for."""
    ports = rule.items_at("ports")
    named = any(not port.text_at("port").isdecimal() for port in ports)  # of any number
    return not ports or named or any(map(_is_of_dns, ports))


def _is_of_dns(port: Tree) -> bool:
    number, last = port.text_at("port"), port.text_at("endPort")
    ranged = number.isdecimal() and last != "" and int(number) <= 53
    ends = last.isdecimal() and int(last) < 53
    return not number or number in DNS_PORTS or (ranged and not ends)


def _is_only(policy: ObjectSightings, policies: tuple[ObjectSightings, ...]) -> bool:
    """Tell whether a table lists the policies of its namespace, and no other is there."""
    near = [one for one in policies if is_near(one.namespace, policy.namespace)]
    return _is_listed(policy) and len(near) == 1


def _is_listed(policy: ObjectSightings) -> bool:
    """Tell whether a table of all policies lists one, and another output shows it."""
    rows = [sight.tree for sight in policy.sights if sight.tree.at("listed") is not None]
    return any(is_of_namespace(row.line) for row in rows) and policy.at("spec") is not None


def _labels(selector: Tree | None) -> Mapping[str, str]:
    found = None if selector is None else selector.at("matchLabels")
    return {} if found is None else found.texts


def _spell(labels: Mapping[str, str]) -> str:
    return "pods with " + ",".join(f"{name}={value}" for name, value in labels.items())


def _admits_dns(spec: Tree, policies: tuple[ObjectSightings, ...], policy: ObjectSightings) -> bool:
    """Tell whether this policy or another that may select the same pods lets port 53 out."""
    for other in (policy, *policies):
        same = other is policy or is_near(other.namespace, policy.namespace)
        for rule in other.items_at("spec", "egress") if same else ():
            ports = rule.at("ports")
            if ports is None or not ports.items:
                if rule.at("to") is None or other is not policy or _is_anywhere(rule):
                    return True
                continue
            if any(map(_is_of_dns, ports.items)):
                return True
    return spec.at("egress") is None


def _is_anywhere(rule: Tree) -> bool:
    """Tell whether a rule without ports leads to where a DNS server may be."""
    for peer in rule.items_at("to"):
        space = peer.at("namespaceSelector")
        if space is not None and (space.is_empty or "kube-system" in _labels(space).values()):
            return True
        if peer.at("ipBlock") is not None:
            return True
    return False


def _report_dns(case: Case, policy: ObjectSightings, spec: Tree) -> Finding:
    egress = spec.at("egress") or spec
    selector = spec.at("podSelector")
    every = selector is not None and selector.is_empty and is_of_space(case, policy.namespace)
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=f"The NetworkPolicy {policy.title} restricts egress and admits no DNS (port 53).",
        evidence=(egress.line, policy.span),
        reasoning=(
            (
                "Names do not resolve in the pods that it selects, unless a policy that is not "
                "shown admits port 53."
            ),
        ),
        breaks=("names that the selected pods look up",),
        prevention="Admit UDP and TCP port 53 to kube-system in every egress policy.",
        certainty=0.7,
        proves=_NAMELESS if every else frozenset(),
        marks=("egress",),
    )


def _missing_labels(
    case: Case, policy: ObjectSightings, spec: Tree, policies: tuple[ObjectSightings, ...]
) -> Iterator[Finding]:
    """Yield namespaceSelectors by a label that none of the namespaces shown has."""
    seen = see(case, "Namespace")
    spaces = [one.at("metadata", "labels") for one in seen]
    shown = [_texts(labels) for labels in spaces if labels is not None]
    if not shown:
        return
    whole = any(is_of_all(sight.tree.line) for one in seen for sight in one.sights)
    for name, field in spec.walk():
        wanted = _labels(field) if name == "namespaceSelector" else {}
        asked = {key: value for key, value in wanted.items() if whole or key != BY_ITSELF}
        if asked and not any(asked.items() <= labels.items() for labels in shown):
            place = field.at("matchLabels", next(iter(asked))) or field
            meant = {one.name for one, labels in zip(seen, spaces, strict=True) if labels}
            denied = _find_denied(case, policy, spec) if meant & {*asked.values()} else None
            alone = whole and _is_single(policy, policies, spec)
            yield Finding(
                check=NAME,
                severity=Severity.CAUSE,
                claim=(
                    f"NetworkPolicy {policy.title} admits namespaces with {_spell_pairs(asked)}, "
                    "which none shown has."
                ),
                evidence=(
                    place.line,
                    *((denied,) if denied is not None else ()),
                    *(labels.line for labels in spaces[:2] if labels is not None),
                ),
                reasoning=("A namespaceSelector matches labels of the namespace, not its name.",),
                breaks=("traffic that the rule is meant to admit",),
                prevention=f"Select a namespace by {BY_ITSELF}.",
                certainty=0.8 if denied is None else 1.0,
                proves=_CUT_OFF if alone and is_of_space(case, policy.namespace) else frozenset(),
                marks=tuple(asked.values()),
            )


def _find_denied(case: Case, policy: ObjectSightings, spec: Tree) -> Span | None:
    """Return a line in which an agent says that policies deny what a policy of one peer lists: its
    port, or where it lists none, its namespace.
    """
    rules = _list_rules(spec)
    ports = {port.text_at("port") for rule in rules for port in rule.items_at("ports")}
    for one in find_said(case, MessageKind.BPF_DROP) if _has_single_peer(spec) else ():
        ends = one.values.get("dst", ""), one.values.get("src", "")
        asked = {one.values.get("port", ""), *(end.rpartition(":")[2] for end in ends)}
        spaces = {end.partition("/")[0] for end in ends if "/" in end}
        near = bool(ports & asked) if ports else policy.namespace in spaces
        denied = one.values.get("reason", "").casefold().startswith("policy denied")
        if denied and near:
            return one.span
    return None


def _is_single(policy: ObjectSightings, policies: tuple[ObjectSightings, ...], spec: Tree) -> bool:
    """Tell whether a policy of one peer is its namespace's only one, and selects every pod."""
    selector = spec.at("podSelector")
    every = selector is not None and selector.is_empty
    return every and _is_only(policy, policies) and _has_single_peer(spec)


def _has_single_peer(spec: Tree) -> bool:
    """Tell whether rules admit one peer, which is meant by its namespace alone."""
    rules = _list_rules(spec)
    peers = [peer for rule in rules for peer in (*rule.items_at("from"), *rule.items_at("to"))]
    return len(rules) == len(peers) == 1


def _list_rules(spec: Tree) -> tuple[Tree, ...]:
    return (*spec.items_at("ingress"), *spec.items_at("egress"))


def _texts(labels: Tree) -> Mapping[str, str]:
    return labels.texts


def _spell_pairs(labels: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in labels.items())
