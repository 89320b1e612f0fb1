"""`docker ps`, `docker container ls`, `docker port` and `nerdctl ps`: containers with what they
publish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.kubernetes.shown import nest, rows, scalar
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

_HEADING = re.compile(
    r"\s*(?:CONTAINER ID\s+|NAMES?\s{2,}|IMAGE\s{2,}).*(?:PORTS|STATUS|NAMES|COMMAND)"
)
_PUBLISHED = re.compile(
    r"(?<![0-9a-fA-F.:\[])(?:(?P<host>\[?[0-9a-fA-F.:]*\]?):)?(?P<from>\d+)(?:-(?P<to>\d+))?->"
    r"(?P<port>\d+)(?:-\d+)?(?:/(?P<protocol>tcp|udp|sctp))?"
)
_EXPOSED = re.compile(r"(?<![\d>.:-])(?P<port>\d+)/(?P<protocol>tcp|udp|sctp)")
_ROW = re.compile(
    r"\s*(?P<id>[0-9a-f]{12})\s+(?P<image>\S+)\s+.*?\s(?P<status>Up|Exited|Created|Restarting|"
    r"Paused)\b(?P<rest>.*)$"
)
_BOUND = re.compile(
    r"\s*(?P<port>\d+)/(?P<protocol>tcp|udp|sctp) -> (?P<host>\[?[0-9a-fA-F.:]*\]?):"
    r"(?P<from>\d+)\s*$"
)


def recognise_ps(source: Source) -> int:
    """Recognize the heading, rows that begin with an ID, and the arrows of `docker port`."""
    lines = sample(source)
    if any(_HEADING.match(line) for line in lines[:3]):
        return CERTAIN
    fitting = sum(_ROW.match(line) is not None or _BOUND.match(line) is not None for line in lines)
    return LIKELY if fitting and fitting >= 0.6 * len(lines) else NO


def read_ps(source: Source) -> Reading:
    """Read every container with its published and its exposed ports."""
    ledger = LineLedger(source)
    for index, line in enumerate(ledger.lines):
        if not line.strip() or ledger.elide(index):
            continue
        row, bound = _ROW.match(line), _BOUND.match(line)
        if row is not None:
            span = ledger.span(index)
            ledger.add(_container(line, row, span))
        elif bound is not None:
            span = ledger.span(index)
            ledger.add(_record("", nest(span, ports=rows(span, [_port(bound, span)]))))
        elif _PUBLISHED.search(line):
            span = ledger.span(index)
            ledger.add(_record(line.split()[-1], nest(span, ports=rows(span, _ports(line, span)))))
        else:
            ledger.head(index)
    return ledger.close("a container")


def _container(line: str, row: re.Match[str], span: Span) -> ApiObjectRecord:
    words = line.split()
    name = words[-1] if "/" not in words[-1] and "->" not in words[-1] else ""
    fields = nest(
        span,
        image=scalar(row["image"], span),
        state=scalar(row["status"], span),
        ports=rows(span, _ports(row["rest"], span)),
    )
    return _record(name, fields)


def _record(name: str, tree: Tree) -> ApiObjectRecord:
    return ApiObjectRecord(span=tree.span, kind="Container", namespace="", name=name, tree=tree)


def _ports(text: str, span: Span) -> Iterator[Tree]:
    for found in _PUBLISHED.finditer(text):
        yield _port(found, span)
    for found in _EXPOSED.finditer(_PUBLISHED.sub("", text)):
        yield nest(
            span,
            containerPort=scalar(found["port"], span),
            protocol=scalar(found["protocol"], span),
        )


def _port(found: re.Match[str], span: Span) -> Tree:
    host = (found["host"] or "").strip("[]")
    return nest(
        span,
        hostIp=scalar(host, span),
        hostPort=scalar(found["from"], span),
        containerPort=scalar(found["port"], span),
        protocol=scalar(found["protocol"] or "tcp", span),
    )


FORMAT = Format("docker ps", recognise_ps, read_ps)
