"""The part of an object that a path selects: `kubectl get svc web -o jsonpath={.spec.selector}`,
`-o json | jq .spec.selector`.

The command says which object it is and where in it the answer belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.trees import read_tree
from podpath.net.provenance import Source
from podpath.net.trees import Tree

KINDS: Mapping[str, str] = {
    "svc": "Service", "service": "Service", "services": "Service", "pod": "Pod", "pods": "Pod",
    "po": "Pod", "deploy": "Deployment", "deployment": "Deployment", "ds": "DaemonSet",
    "daemonset": "DaemonSet", "sts": "StatefulSet", "statefulset": "StatefulSet", "node": "Node",
    "nodes": "Node", "no": "Node", "netpol": "NetworkPolicy", "networkpolicy": "NetworkPolicy",
    "cm": "ConfigMap",
    "configmap": "ConfigMap", "configmaps": "ConfigMap", "ep": "Endpoints",
    "endpoints": "Endpoints", "ippool": "IPPool", "ippools": "IPPool",
    "l2advertisement": "L2Advertisement", "l2advertisements": "L2Advertisement",
    "bgpadvertisement": "BGPAdvertisement", "ipaddresspool": "IPAddressPool",
    "ipaddresspools": "IPAddressPool", "ns": "Namespace", "namespace": "Namespace",
    "namespaces": "Namespace", "ing": "Ingress", "ingress": "Ingress", "ingresses": "Ingress",
    "ingressclass": "IngressClass", "ingressclasses": "IngressClass",
}  # fmt: skip
WITH_VALUE = frozenset(
    {
        "-n",
        "--namespace",
        "-o",
        "--output",
        "--context",
        "--kubeconfig",
        "-c",
        "--cluster",
        "-l",
        "--selector",
    }
)
"""Options of kubectl whose value stands behind them."""
_WHOLE = re.compile(r"(?:-o=?|--output=?)?(?:yaml|json)")
_OUTPUT = re.compile(r"(?:-o=?|--output=)?jsonpath=(?P<path>.+)")
_PATH = re.compile(r"\{?\s*\$?(?P<path>(?:\.(?:[A-Za-z0-9_-]|\\.)+(?:\[[0*]\])?)+)\s*\}?")
_STEP = re.compile(r"\.((?:[A-Za-z0-9_-]|\\.)+(?:\[[0*]\])?)")
_INDEX = re.compile(r"\[[0*]\]$")
_FIRST = "items[0]"
"""How a path begins that picks the first of several objects."""
_OPENS = re.compile(r"\s*[\[{]")
_VALUE = re.compile(r"\s*['\"]?(?P<value>[\w][\w./:-]*)['\"]?\s*")
"""One value, as jsonpath prints it."""
_BRACKETS = re.compile(r"\s*[{}\[\],][\s{}\[\],]*")
_ENDS_VALUE = re.compile(r"[\"\]}\w]\s*$")
_NEXT_FIELD = re.compile(r"\s*\"[^\"]*\"\s*:")


class Pick(NamedTuple):
    """What a command picks."""

    kind: str
    namespace: str
    name: str
    path: tuple[str, ...]
    labels: str = ""
    """What the object is selected by, where it has no name: `app=web`."""


def parse_pick(command: str) -> Pick | None:
    """Read which part of which object a command asks for; None where it asks for another thing."""
    steps = parse_shell(command)
    if not steps or steps[0].program not in {"kubectl", "oc", "k"}:
        return None
    path = next(_list_paths([word for step in steps for word in step.arguments]), ())
    plain, namespace = split_options(steps[0].arguments)
    if not path or plain[:1] != ["get"]:
        return None
    words = [part for word in plain[1:3] for part in word.split("/", 1)]
    kind = KINDS.get(words[0].lower(), "") if words else ""
    labels = _find_labels(steps[0].arguments)
    if kind and labels and len(words) == 1 and path[0] == _FIRST and path[1:]:
        return Pick(kind, namespace, "", path[1:], labels)
    return Pick(kind, namespace, words[1], path) if kind and len(words) == 2 else None


def _find_labels(words: Sequence[str]) -> str:
    """Return what `-l` selects by; empty where it is no plain list of pairs."""
    given = dict(pairwise(words))
    found = given.get("-l") or given.get("--selector") or ""
    return found if _LABELS.fullmatch(found) else ""


_LABELS = re.compile(r"[\w./-]+={1,2}[\w.-]+(?:,[\w./-]+={1,2}[\w.-]+)*")


def parse_whole(command: str) -> Pick | None:
    """Read which single object a command prints as YAML or JSON, all of it or what a filter leaves;
    None where it asks for another thing.
    """
    steps = parse_shell(command)
    if not steps or steps[0].program not in {"kubectl", "oc", "k", "calicoctl"}:
        return None
    if not any(map(_WHOLE.fullmatch, steps[0].arguments)):
        return None
    plain, namespace = split_options(steps[0].arguments)
    words = [part for word in plain[1:3] for part in word.split("/", 1)]
    if plain[:1] != ["get"] or len(words) != 2:
        return None
    kind = KINDS.get(words[0].lower(), "")
    return Pick(kind, namespace, words[1], ()) if kind else None


def parse_described(command: str) -> Pick | None:
    """Read which single object a command describes, whole or what a filter leaves; None where it
    asks for another thing.
    """
    steps = parse_shell(command)
    if not steps or steps[0].program not in {"kubectl", "oc", "k"}:
        return None
    plain, namespace = split_options(steps[0].arguments)
    words = [part for word in plain[1:3] for part in word.split("/", 1)]
    if plain[:1] != ["describe"] or len(words) != 2:
        return None
    kind = KINDS.get(words[0].lower(), "")
    return Pick(kind, namespace, words[1], ()) if kind else None


def _list_paths(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of `jsonpath=` and of jq that name one field each."""
    for word in words:
        output = _OUTPUT.fullmatch(word)
        found = _PATH.fullmatch(output["path"] if output is not None else word)
        if found is not None:
            yield tuple(step.replace("\\", "") for step in _STEP.findall(found["path"]))


def split_options(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the words of kubectl that are no options, and the namespace."""
    given = dict(pairwise(words))
    values = {place + 1 for place, word in enumerate(words) if word in WITH_VALUE}
    plain = [
        word
        for place, word in enumerate(words)
        if place not in values and word[:1] not in {"-", "{"}
    ]
    return plain, given.get("-n") or given.get("--namespace") or ""


def recognise_pick(source: Source) -> int:
    """Recognize fields, a list or one value behind a command that picks a part of an object."""
    lines = sample(source)
    alone = len(lines) == 1 and _VALUE.fullmatch(lines[0]) is not None
    shaped = alone or (bool(lines) and _OPENS.match(lines[0]) is not None)
    return CERTAIN if shaped and parse_pick(source.command or "") is not None else NO


def read_pick(source: Source) -> Reading:
    """Read the part, and put it where it belongs in its object."""
    ledger = LineLedger(source)
    picked = parse_pick(source.command or "")
    for index, line in enumerate(ledger.lines):
        value = _VALUE.fullmatch(line)
        if value is not None and picked is not None:
            ledger.add(_make_object(picked, Tree(value=value["value"], span=ledger.span(index))))
            return ledger.close("a part of an object")
    grown = read_tree(source, _with_commas(ledger.lines), source.first_line)
    for index in grown.unread:
        if not ledger.elide(index):
            ledger.unread(index, "a field of an object")
    if picked is not None and grown.trees:
        tree = grown.trees[0]
        first, last = (line - source.first_line for line in (tree.span.line, tree.span.last_line))
        ledger.span(first, last)
        ledger.add(_make_object(picked, tree))
    for index, line in enumerate(ledger.lines):
        if _BRACKETS.fullmatch(line) and not ledger.is_claimed(index):
            ledger.head(index)
    return ledger.close("a part of an object")


def _with_commas(lines: Sequence[str]) -> list[str]:
    """Return lines of JSON with the commas that people lose when they shorten one."""
    return [
        f"{line},"
        if _ENDS_VALUE.search(line) and _NEXT_FIELD.match(after) and not line.endswith("{")
        else line
        for line, after in pairwise([*lines, ""])
    ]


def _make_object(picked: Pick, part: Tree) -> ApiObjectRecord:
    tree = part
    for step in reversed(picked.path):
        field = _INDEX.sub("", step)
        tree = Tree(value=(tree,), span=part.span) if field != step else tree
        tree = Tree(value={field: tree}, span=part.span)
    if picked.labels:
        pairs = (pair.replace("==", "=").split("=") for pair in picked.labels.split(","))
        labels = {key: Tree(value=value, span=part.span) for key, value in pairs}
        metadata = Tree(value={"labels": Tree(value=labels, span=part.span)}, span=part.span)
        tree = Tree(value={**tree.fields, "metadata": metadata}, span=part.span)
    return ApiObjectRecord(
        span=part.span, kind=picked.kind, namespace=picked.namespace, name=picked.name, tree=tree
    )


FORMAT = Format("kubectl get -o jsonpath", recognise_pick, read_pick)
