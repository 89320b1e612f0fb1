"""Small files of configuration: /etc/resolv.conf, flannel's subnet.env and its net-conf.json."""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.kubernetes.shown import rows, scalar
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.trees import read_tree
from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

_RESOLV = re.compile(r"\s*(?P<key>nameserver|search|options|domain|sortlist)\s+(?P<rest>\S.*?)\s*$")
_COMMENT = re.compile(r"\s*[#;]")
_SUBNET = re.compile(r"\s*(?P<key>FLANNEL_\w+)=(?P<value>\S*)\s*$")
_NET_CONF = re.compile(r'"Network"\s*:\s*"')


def recognise_resolv_conf(source: Source) -> int:
    """Recognize name servers, search lists and options, and nothing else beside comments."""
    lines = [line for line in sample(source) if not _COMMENT.match(line)]
    fitting = sum(_RESOLV.match(line) is not None for line in lines)
    servers = any(line.lstrip().startswith(("nameserver ", "nameserver\t")) for line in lines)
    if "resolv.conf" in (source.command or "") and fitting:
        return CERTAIN
    if servers and fitting == len(lines):
        return CERTAIN
    return LIKELY if servers and fitting >= 0.7 * len(lines) else NO


def read_resolv_conf(source: Source) -> Reading:
    """Read name servers, search domains and options as one object, in their order."""
    ledger = LineLedger(source)
    lists: dict[str, list[Tree]] = {"nameservers": [], "search": [], "options": []}
    places: list[int] = []
    for index, line in enumerate(ledger.lines):
        found = _RESOLV.match(line)
        if found is not None:
            places.append(index)
            number = source.first_line + index
            key = {"nameserver": "nameservers", "domain": "search"}.get(found["key"], found["key"])
            if key in {"search", "options"} and found["key"] != "domain":
                lists[key] = [] if key == "search" else lists[key]
            words = found["rest"].partition("#")[0].split()
            span = Span(source, number, number)
            lists.setdefault(key, []).extend(
                scalar(word, span) for word in (words[:1] if key == "nameservers" else words)
            )
            ledger.span(index)
        elif line.strip() and not ledger.elide(index):
            ledger.head(index)
    if places:
        span = Span(source, source.first_line + places[0], source.first_line + places[-1])
        tree = Tree(value={key: rows(span, items) for key, items in lists.items()}, span=span)
        ledger.add(
            ApiObjectRecord(
                span=span, kind="ResolvConf", namespace="", name="resolv.conf", tree=tree
            )
        )
    return ledger.close("a line of resolv.conf")


def recognise_subnet_env(source: Source) -> int:
    """Recognize flannel's variables."""
    return CERTAIN if any(_SUBNET.match(line) for line in sample(source)) else NO


def read_subnet_env(source: Source) -> Reading:
    """Read the file that flannel writes for its plugin."""
    ledger = LineLedger(source)
    fields: dict[str, Tree] = {}
    for index, line in enumerate(ledger.lines):
        found = _SUBNET.match(line)
        if found is not None:
            fields[found["key"]] = scalar(found["value"], ledger.span(index))
        elif line.strip() and not ledger.elide(index):
            ledger.head(index)
    if fields:
        spans = [field.span for field in fields.values()]
        span = Span(source, spans[0].line, spans[-1].line)
        ledger.add(
            ApiObjectRecord(
                span=span,
                kind="SubnetEnv",
                namespace="",
                name="subnet.env",
                tree=Tree(value=fields, span=span),
            )
        )
    return ledger.close("a variable of subnet.env")


def recognise_net_conf(source: Source) -> int:
    """Recognize flannel's network in JSON."""
    head = "\n".join(sample(source))
    return (
        LIKELY
        if head.lstrip().startswith("{") and _NET_CONF.search(head) and '"Backend"' in head
        else NO
    )


def read_net_conf(source: Source) -> Reading:
    """Read flannel's network and backend."""
    ledger = LineLedger(source)
    for tree in read_tree(source, ledger.lines, source.first_line).trees[:1]:
        ledger.span(tree.span.line - source.first_line, tree.span.last_line - source.first_line)
        ledger.add(
            ApiObjectRecord(
                span=tree.span, kind="FlannelNetConf", namespace="", name="net-conf.json", tree=tree
            )
        )
    return ledger.close("flannel's network")


FORMATS = (
    Format("/etc/resolv.conf", recognise_resolv_conf, read_resolv_conf),
    Format("subnet.env", recognise_subnet_env, read_subnet_env),
    Format("net-conf.json", recognise_net_conf, read_net_conf),
)
