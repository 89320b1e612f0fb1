"""What NetworkPolicies say of a flow, as their specification has it: which pods they select, and
what they admit.

It is intent, and not what a plugin's rules do. Every answer has three values: a label that nobody
shows, a port by its name, a range whose end is not shown and a pod in an ipBlock leave it open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from podpath.checks.objects import read_prefix, see
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.protocols import TCP, UDP
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.node import NetnsRole
from podpath.node.objects import ApiObject

Maybe = bool | None
KIND = "NetworkPolicy"
_PROTOCOLS = {"TCP": TCP, "UDP": UDP, "SCTP": 132, "": TCP}
_OF_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace has of itself."""


class PolicyAnswer(Enum):
    """What policies make of a flow."""

    UNTOUCHED = "no new policy selects an end of it"
    ADMITTED = "admitted"
    FORBIDDEN = "forbidden"
    OPEN = "open"


class PolicyRuling(NamedTuple):
    """What policies make of a flow, and by which lines."""

    ruling: PolicyAnswer
    spans: tuple[Span, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEnd:
    """One end of a flow as policies see it."""

    address: Address
    port: int = 0
    namespace: str = ""
    """Empty where it is no pod."""
    name: str = ""
    labels: Mapping[str, str] | None = None
    """None where no output shows them."""
    around: Mapping[str, str] | None = None
    """The labels of its namespace; None where no output shows them."""

    @property
    def is_pod(self) -> bool:
        """Tell whether it is a pod."""
        return bool(self.name)


class PolicyBook:
    """All policies of a case and those that are new, with the pods that they are about."""

    def __init__(self, case: Case, new: Sequence[ApiObject]) -> None:
        """Take the policies that are shown, those of the same name replaced by the new ones."""
        self.node = case.node
        self.new = [one for one in new if one.kind == KIND]
        names = {(one.namespace or "default", one.name) for one in self.new}
        shown = [
            one
            for one in case.objects
            if one.kind == KIND
            and one.tree.at("spec") is not None
            and (one.namespace or "default", one.name) not in names
        ]
        self.all = [*self.new, *shown]
        self.labels = {
            (seen.namespace, seen.name): _texts(seen.at("metadata", "labels"))
            for seen in see(case, "Pod")
        }
        self._hosts = frozenset(
            item.address
            for netns in case.node.namespaces.values()
            if netns.role == NetnsRole.HOST
            for item in netns.addresses.items
        )
        self._on_host = {
            (seen.namespace, seen.name)
            for seen in see(case, "Pod")
            if seen.text_at("spec", "hostNetwork") == "true"
        }
        self.spaces = {
            seen.name: _texts(seen.at("metadata", "labels")) for seen in see(case, "Namespace")
        }

    def rule_on(self, probe: Probe) -> PolicyRuling:
        """Say what the policies make of a flow; of a service, of every endpoint behind it."""
        source = self._end(probe.src, 0)
        targets = self._targets(probe)
        rulings = [self._rule_between(source, target, probe.protocol) for target in targets]
        kinds = {one.ruling for one in rulings}
        if len(kinds) == 1:
            return rulings[0]
        spans = tuple(dict.fromkeys(span for one in rulings for span in one.spans))
        return PolicyRuling(PolicyAnswer.OPEN, spans, "policies treat its endpoints differently")

    def _targets(self, probe: Probe) -> Sequence[FlowEnd]:
        found = [
            end
            for service in self.node.services
            if probe.dst in service.addresses
            for port in service.ports
            if (port.protocol, port.port) == (probe.protocol, probe.dport)
            for end in port.endpoints
        ]
        return [self._end(address, port) for address, port in found] or [
            self._end(probe.dst, probe.dport)
        ]

    def _end(self, address: Address, port: int) -> FlowEnd:
        pod = next((one for one in self.node.pods if one.address == address), None)
        on_host = pod is not None and (pod.namespace, pod.name) in self._on_host
        if pod is None or address in self._hosts or on_host:  # no policy selects it then
            return FlowEnd(address=address, port=port)
        labels = self.labels.get((pod.namespace, pod.name))
        around = self.spaces.get(pod.namespace)
        return FlowEnd(
            address=address,
            port=port,
            namespace=pod.namespace,
            name=pod.name,
            labels=labels,
            around=around,
        )

    def _rule_between(self, source: FlowEnd, target: FlowEnd, protocol: int) -> PolicyRuling:
        own = {item.address for item in self.node.host.addresses.items}
        sides = [("Egress", "egress", "to", source, target)]
        if source.address not in own:  # a pod's own node always reaches it
            sides.append(("Ingress", "ingress", "from", target, source))
        rulings = [self._rule_side(side, protocol, target.port) for side in sides if side[3].is_pod]
        order = (PolicyAnswer.FORBIDDEN, PolicyAnswer.OPEN, PolicyAnswer.ADMITTED)
        for wanted in order:
            for one in rulings:
                if one.ruling is wanted:
                    return one
        return PolicyRuling(PolicyAnswer.UNTOUCHED)

    def _rule_side(
        self, side: tuple[str, str, str, FlowEnd, FlowEnd], protocol: int, port: int
    ) -> PolicyRuling:
        direction, field, peers, end, other = side
        selected = {id(one): _selects(one, direction, end) for one in self.all}
        touched = [selected[id(one)] for one in self.new]
        if not any(one is not False for one in touched):
            return PolicyRuling(PolicyAnswer.UNTOUCHED)
        spans = tuple(_line_of(one) for one in self.new if selected[id(one)] is not False)
        if not any(touched):
            why = (
                f"whether the policy selects {end.namespace}/{end.name} is not known:"
                " kubectl get pods --show-labels"
            )
            return PolicyRuling(PolicyAnswer.OPEN, spans, why)
        admits = [
            _all_of((selected[id(one)], _admits(one, (field, peers), other, (protocol, port))))
            for one in self.all
            if selected[id(one)] is not False
        ]
        said = f"{direction.lower()} of {end.namespace}/{end.name}"
        match _any_of(admits):
            case True:
                return PolicyRuling(
                    PolicyAnswer.ADMITTED, spans, f"the policies admit it as {said}"
                )
            case None:
                why = f"whether the policies admit it as {said} is not known"
                return PolicyRuling(PolicyAnswer.OPEN, spans, why)
            case False:
                why = (
                    f"no policy that is shown admits it as {said}, by the specification of"
                    " NetworkPolicy; the plugin's rules are not modeled"
                )
                return PolicyRuling(PolicyAnswer.FORBIDDEN, spans, why)


def _line_of(policy: ApiObject) -> Span:
    """Return the line that names a policy."""
    name = policy.tree.at("metadata", "name")
    return name.line if name is not None else policy.tree.line


def _texts(tree: Tree | None) -> Mapping[str, str] | None:
    return None if tree is None else tree.texts


def _any_of(answers: Iterable[Maybe]) -> Maybe:
    found = list(answers)
    if True in found:
        return True
    return None if None in found else False


def _all_of(answers: Iterable[Maybe]) -> Maybe:
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True


def _selects(policy: ApiObject, direction: str, end: FlowEnd) -> Maybe:
    """Tell whether a policy is of a direction and selects a pod."""
    types = [item.text for item in policy.tree.items_at("spec", "policyTypes")]
    egress = policy.tree.at("spec", "egress") is not None
    of_direction = direction in types if types else direction == "Ingress" or egress
    if not of_direction or (policy.namespace or "default") != end.namespace:
        return False
    return _fits(policy.tree.at("spec", "podSelector"), end.labels)


def _fits(selector: Tree | None, labels: Mapping[str, str] | None) -> Maybe:
    """Tell whether labels are what a selector asks; an empty one asks nothing."""
    if selector is None or selector.is_empty:
        return True
    if labels is None:
        return None
    wanted = selector.at("matchLabels")
    pairs = wanted.fields.items() if wanted is not None else ()
    plain = all(labels.get(name) == field.text for name, field in pairs)
    asked = selector.items_at("matchExpressions")
    return plain and _all_of(_meets(one, labels) for one in asked)


def _meets(expression: Tree, labels: Mapping[str, str]) -> Maybe:
    key = expression.text_at("key")
    values = {item.text for item in expression.items_at("values")}
    match expression.text_at("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return None


def _admits(
    policy: ApiObject, fields: tuple[str, str], other: FlowEnd, place: tuple[int, int]
) -> Maybe:
    rules = policy.tree.items_at("spec", fields[0])
    answers: list[Maybe] = []
    for rule in rules:
        peers, ports = rule.items_at(fields[1]), rule.items_at("ports")
        from_peer = _any_of(_is_peer(peer, policy, other) for peer in peers) if peers else True
        to_port = _any_of(_is_port(port, *place) for port in ports) if ports else True
        answers.append(_all_of((from_peer, to_port)))
    return _any_of(answers)


def _is_peer(peer: Tree, policy: ApiObject, other: FlowEnd) -> Maybe:
    block = peer.at("ipBlock")
    if block is not None:
        prefix = read_prefix(block.text_at("cidr"))
        excepted = [read_prefix(item.text) for item in block.items_at("except")]
        if prefix is None or None in excepted:
            return None
        held = prefix.covers(other.address) and not any(
            one is not None and one.covers(other.address) for one in excepted
        )
        return None if held and other.is_pod else held
    if not other.is_pod:
        return False
    space, pods = peer.at("namespaceSelector"), peer.at("podSelector")
    if space is None:
        near: Maybe = (policy.namespace or "default") == other.namespace
    else:
        own = {_OF_NAME: other.namespace}
        around = {**other.around, **own} if other.around is not None else None
        near = _fits(space, around)
        if around is None and _asks_only_the_name(space):
            near = _fits(space, own)
    return _all_of((near, _fits(pods, other.labels) if pods is not None else True))


def _asks_only_the_name(selector: Tree) -> bool:
    wanted = selector.at("matchLabels")
    keys = set(wanted.fields) if wanted is not None else set()
    keys |= {one.text_at("key") for one in selector.items_at("matchExpressions")}
    return keys == {_OF_NAME}


def _is_port(port: Tree, protocol: int, number: int) -> Maybe:
    if _PROTOCOLS.get(port.text_at("protocol").upper()) != protocol:
        return False
    first, last = port.text_at("port"), port.text_at("endPort")
    if not first:
        return True
    if not first.isdecimal():
        return None
    if last.isdecimal():
        return int(first) <= number <= int(last)
    beyond = last != "" and int(first) < number
    return None if beyond else int(first) == number
