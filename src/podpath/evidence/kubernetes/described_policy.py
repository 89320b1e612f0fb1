"""A NetworkPolicy as `kubectl describe` words it, under the names that its API gives the fields
(kubectl pkg/describe/describe.go:describeNetworkPolicy v1.29).

Only a description that is whole has a specification: one that is cut would admit less than the
policy does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.net.provenance import Span
from podpath.net.trees import Tree

Line = tuple[str, Span]
"""A line below `Spec:`, and where it stands."""
_REQUIREMENT = re.compile(
    r"(?P<key>[\w./-]+) (?P<operator>in|notin) \((?P<values>[^()]*)\)|"
    r"(?P<absent>!)?(?P<name>[\w./-]+)(?:={1,2}(?P<value>[\w.-]*))?"
)
_ONE = re.sub(r"\?P<\w+>", "?:", _REQUIREMENT.pattern)
_SELECTOR = re.compile(
    r"\s*(?P<field>PodSelector|NamespaceSelector):\s*"
    rf"(?P<value><none>.*|(?:{_ONE})(?:,(?:{_ONE}))*)\s*"
)
_SELECTOR_FIELDS = {"PodSelector": "podSelector", "NamespaceSelector": "namespaceSelector"}
_DIRECTION = re.compile(r"\s*(?P<not>Not affecting|Allowing) (?P<way>ingress|egress) traffic:?\s*")
_TYPES = re.compile(r"\s*Policy Types:\s+(?P<types>(?:Ingress|Egress)(?:, (?:Ingress|Egress))?)\s*")
_PORT = re.compile(
    r"\s*To Port(?: Range)?: (?:<any> .*|(?:(?P<port>\d{1,5})-(?P<last>\d{1,5})|"
    r"(?P<single><any>|<nil>|[\w-]{1,63}))(?:/(?P<protocol>\w+))?)\s*"
)
_UNKNOWN = "<unknown>"
"""Where a range ends: kubectl before v1.30 shows its first port alone."""
_PEER = re.compile(r"\s*(?:From|To):\s*(?:<any>.*)?")
_BLOCK = re.compile(r"\s*IPBlock:\s*")
_RANGE = re.compile(r"\s*(?P<field>CIDR|Except):\s*(?P<value>[\da-fA-F.:/, ]*?)\s*")
_NEXT = re.compile(r"\s*-{5,}\s*|\s*")
_ISOLATED = re.compile(r"\s*<none>.*")
_NONE = re.compile(r"<none>.*")
_ANY_PORT = frozenset({None, "<any>", "<nil>"})
"""How a rule for all ports of a protocol, or of any, is spelled."""
_KNOWN = (
    _SELECTOR, _DIRECTION, _TYPES, _PORT, _PEER, _BLOCK, _RANGE, _NEXT, _ISOLATED,
)  # fmt: skip


def is_policy(lines: Sequence[Line]) -> bool:
    """Tell whether lines below `Spec:` are those of a NetworkPolicy, from its selector to its
    types, and all are read: without a condition a rule would admit more than it does.
    """
    texts = [line for line, _ in lines]
    if not all(map(_is_known, texts)):
        return False
    chosen = any(
        found["field"] == "PodSelector" for found in map(_SELECTOR.fullmatch, texts) if found
    )
    return chosen and any(map(_TYPES.fullmatch, texts)) and any(map(_DIRECTION.fullmatch, texts))


def _is_known(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in _KNOWN)


def read_policy(lines: Sequence[Line], span: Span) -> Tree:
    """Return the specification; the lines are those of a whole policy. Its types are those of their
    own line: an older kubectl words a direction that is not affected as one that is isolated.
    """
    fields: dict[str, Tree] = {}
    types: dict[str, Tree] = {}
    rules: dict[str, list[list[Line]]] = {}
    places: dict[str, Span] = {}
    way = ""
    for text, place in lines:
        direction, selector = _DIRECTION.fullmatch(text), _SELECTOR.fullmatch(text)
        named = _TYPES.fullmatch(text)
        if direction is not None:
            way = direction["way"] if direction["not"] == "Allowing" else ""
            if way:
                rules[way], places[way] = [[]], place
        elif named is not None:
            way = ""
            types |= {one.lower(): _scalar(one, place) for one in named["types"].split(", ")}
        elif not way and selector is not None:
            fields.setdefault("podSelector", _read_selector(selector["value"], place))
        elif way and _NEXT.fullmatch(text):
            rules[way].append([])
        elif way and not _ISOLATED.fullmatch(text):
            rules[way][-1].append((text, place))
    for affected in types:
        if affected in rules:
            kept = tuple(_read_rule(rule, affected) for rule in rules[affected] if rule)
            fields[affected] = Tree(value=kept, span=places[affected])
    fields["policyTypes"] = Tree(value=tuple(types.values()), span=lines[-1][1])
    return Tree(value=fields, span=span)


def _read_rule(lines: Sequence[Line], way: str) -> Tree:
    """Read one rule: its ports, and whom it is about; neither field is there for any."""
    fields: dict[str, Tree] = {}
    ports = tuple(_read_ports(lines))
    peers = tuple(_read_peers(lines))
    if ports:
        fields["ports"] = Tree(value=ports, span=ports[0].span)
    if peers:
        fields["from" if way == "ingress" else "to"] = Tree(value=peers, span=peers[0].span)
    return Tree(value=fields, span=lines[0][1])


def _read_ports(lines: Sequence[Line]) -> Iterator[Tree]:
    for text, span in lines:
        found = _PORT.fullmatch(text)
        if found is None:
            continue
        port = found["port"] or found["single"]
        if port in _ANY_PORT and found["protocol"] is None:
            continue
        fields = {"protocol": _scalar(found["protocol"] or "TCP", span)}
        if port not in _ANY_PORT:
            fields["port"] = _scalar(port, span)
        last = found["last"] or (_UNKNOWN if port.isdecimal() else "")
        if last:
            fields["endPort"] = _scalar(last, span)
        yield Tree(value=fields, span=span)


def _read_peers(lines: Sequence[Line]) -> Iterator[Tree]:
    peer: dict[str, Tree] = {}
    start: Span | None = None
    for text, span in lines:
        heading, selector, range_ = (
            pattern.fullmatch(text) for pattern in (_PEER, _SELECTOR, _RANGE)
        )
        if _PORT.fullmatch(text):
            continue
        if selector is not None:
            field = _SELECTOR_FIELDS[selector["field"]]
            peer[field] = _read_selector(selector["value"], span)
        elif range_ is not None:
            block = dict(peer["ipBlock"].fields) if "ipBlock" in peer else {}
            words = [word.strip() for word in range_["value"].split(",") if word.strip()]
            if range_["field"] == "CIDR":
                block["cidr"] = _scalar(range_["value"], span)
            elif words:
                block["except"] = Tree(value=tuple(_scalar(one, span) for one in words), span=span)
            peer["ipBlock"] = Tree(value=block, span=span)
        elif heading is not None:
            if start is not None and peer:
                yield Tree(value=peer, span=start)
            peer, start = {}, span
    if start is not None and peer:
        yield Tree(value=peer, span=start)


def _read_selector(text: str, span: Span) -> Tree:
    """Read a selector as `kubectl` spells it (apimachinery, FormatLabelSelector): `<none>` is an
    empty one, which selects all.
    """
    if _NONE.fullmatch(text):
        return Tree(value={}, span=span)
    labels: dict[str, Tree] = {}
    asked: list[Tree] = []
    for found in _REQUIREMENT.finditer(text):
        if found["value"] is not None and not found["absent"]:
            labels[found["name"]] = _scalar(found["value"], span)
            continue
        operator = {"in": "In", "notin": "NotIn", None: "Exists"}[found["operator"]]
        fields = {
            "key": _scalar(found["key"] or found["name"], span),
            "operator": _scalar("DoesNotExist" if found["absent"] else operator, span),
        }
        if found["values"] is not None:
            words = (word.strip() for word in found["values"].split(","))
            values = tuple(_scalar(word, span) for word in words)
            fields["values"] = Tree(value=values, span=span)
        asked.append(Tree(value=fields, span=span))
    selector = {"matchLabels": Tree(value=labels, span=span)} if labels else {}
    if asked:
        selector["matchExpressions"] = Tree(value=tuple(asked), span=span)
    return Tree(value=selector, span=span)


def _scalar(text: str, span: Span) -> Tree:
    return Tree(value=text, span=span)
