"""`kubectl get` of pods, services and endpoints, as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.evidence.attempts.failures import parse_host
from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.describe import details_of
from podpath.evidence.kubernetes.records import PodRecord, ServicePortRecord, ServiceRecord
from podpath.evidence.kubernetes.service import parse_endpoints, parse_listed_ports
from podpath.evidence.kubernetes.shown import table_object
from podpath.evidence.kubernetes.table import is_heading, parse_heading, parse_row
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import Column
from podpath.net import protocols
from podpath.net.provenance import Source

_POD_ROW = re.compile(
    r"\s*(?:(?P<namespace>[a-z0-9-]+)\s+)?(?P<name>[a-z0-9][a-z0-9.-]*)\s+(?P<ready>\d+/\d+)\s+"
    r"(?P<status>[A-Z]\w+\S*)\s+(?P<restarts>\d+(?:\s\([^)]*\))?)\s+(?P<age>\w+)"
    r"(?:\s+(?P<address>\S+)\s+(?P<node>\S+)|\s*$)"
)
_SERVICE_ROW = re.compile(
    r"\s*(?:(?P<namespace>[a-z0-9-]+)\s+)?(?P<name>[a-z0-9][a-z0-9-]*)\s+"
    r"(?P<type>ClusterIP|NodePort|LoadBalancer|ExternalName)\s+(?P<inner>\S+)\s+(?P<outer>\S+)\s+"
    r"(?P<ports>\d+(?::\d+)?/\S+|<none>)(?:\s+(?P<age>\w+))?(?:\s+(?P<selector>\S+))?\s*$"
)
_LABEL = re.compile(r"(?P<key>[A-Za-z][\w./-]*)(?:==?(?P<value>[\w.-]*))?")
"""A label that is asked for, with its value or with any."""
_TITLES = {
    "namespace": "NAMESPACE", "name": "NAME", "ready": "READY", "status": "STATUS",
    "address": "IP", "node": "NODE", "type": "TYPE", "inner": "CLUSTER-IP",
    "outer": "EXTERNAL-IP", "ports": "PORT(S)", "selector": "SELECTOR",
}  # fmt: skip
"""What a row without a heading would have as its columns' titles."""
_SERVICE_TYPES = frozenset({"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"})


def recognise_get(source: Source) -> int:
    """Recognize a table by its heading; rows of pods and services do without one."""
    lines = sample(source)
    heading = next((line for line in lines[:5] if is_heading(line)), None)
    if heading is not None:
        titles = {column.title for column in parse_heading(heading)}
        known = (
            bool(
                titles
                & {
                    "CLUSTER-IP",
                    "ENDPOINTS",
                    "READY",
                    "RESTARTS",
                    "STATUS",
                    "DESIRED",
                    "ROLES",
                    "POD-SELECTOR",
                    "INTERNAL-IP",
                    "AVOID BUGGY IPS",
                    "IPADDRESSPOOLS",
                    "IPADDRESSPOOL SELECTORS",
                }
            )
            or "AGE" in titles
        )
        return CERTAIN if known and "REASON" not in titles else NO
    rows = sum(_bare_row(line) is not None for line in lines)
    return LIKELY if rows and rows >= 0.5 * len(lines) else NO


def read_get(source: Source) -> Reading:
    """Read every row of a table that names pods, services or endpoints; rows of other objects are
    kept as headings.
    """
    ledger = LineLedger(source)
    columns: tuple[Column, ...] = ()
    namespace = _asked_namespace(source)
    chosen = ",".join(_asked_labels(source))
    for index, line in enumerate(ledger.lines):
        if not line.strip() or ledger.elide(index):
            continue
        if is_heading(line):
            columns = parse_heading(line)
            ledger.head(index)
            continue
        cells = parse_row(columns, line) if columns else _bare_row(line)
        if cells is None:
            ledger.gap(index, "expected a row of the table above it")
            continue
        if chosen and "ROLES" in cells:
            cells = {"LABELS": chosen, **cells}
        if not _read_row(ledger, index, cells, cells.get("NAMESPACE") or namespace):
            ledger.head(index)
    return ledger.close("a row of kubectl get")


def _asked_labels(source: Source) -> Iterator[str]:
    """Yield the labels that every row has, since the command asks for nothing else (`-l KEY`, `-l
    KEY=VALUE`).
    """
    for step in parse_shell(source.command or ""):
        words = step.arguments
        for place, word in enumerate(words):
            option, _, joined = word.partition("=")
            if option in {"-l", "--selector"}:
                text = joined or next(iter(words[place + 1 :]), "")
                yield from (
                    f"{found['key']}={found['value'] or ''}"
                    for found in map(_LABEL.fullmatch, text.split(","))
                    if found is not None
                )


def _asked_namespace(source: Source) -> str | None:
    """Return the namespace that the command asks for; `default` where it asks for none."""
    for step in parse_shell(source.command or ""):
        words = step.arguments
        for place, word in enumerate(words):
            if word in {"-n", "--namespace"} and place + 1 < len(words):
                return words[place + 1]
            if word.startswith("--namespace="):
                return word.partition("=")[2]
            if word in {"-A", "--all-namespaces"}:
                return None
        if step.program in {"kubectl", "oc", "k"}:
            return "default"
    return None


def _bare_row(line: str) -> Mapping[str, str] | None:
    """Read a row of a pod or a service that stands without its heading, as `grep` leaves it."""
    found = _POD_ROW.match(line) or _SERVICE_ROW.match(line)
    if found is None:
        return None
    return {
        _TITLES[name]: cell for name, cell in found.groupdict().items() if cell and name in _TITLES
    }


def _read_row(
    ledger: LineLedger, index: int, cells: Mapping[str, str], namespace: str | None
) -> bool:
    shown = table_object(cells, namespace or "", ledger.span(index))
    if shown is not None:
        ledger.add(shown)
    if "NAME" not in cells:
        return shown is not None
    if "CLUSTER-IP" in cells or cells.get("TYPE") in _SERVICE_TYPES:
        addresses = [parse_host(cells.get("CLUSTER-IP"))]
        addresses += [parse_host(part) for part in (cells.get("EXTERNAL-IP") or "").split(",")]
        ledger.add(
            ServiceRecord(
                span=ledger.span(index),
                namespace=namespace,
                name=cells["NAME"],
                type=cells.get("TYPE"),
                addresses=tuple(address for address in addresses if address is not None),
                ports=tuple(parse_listed_ports(cells.get("PORT(S)", ""))),
            )
        )
        return True
    if "ENDPOINTS" in cells and "ADDRESSTYPE" not in cells:
        ledger.add(_endpoints(ledger, index, cells, namespace))
        return True
    if "READY" in cells and "STATUS" in cells and "/" in cells["READY"]:
        node = cells.get("NODE")
        ledger.add(
            PodRecord(
                span=ledger.span(index),
                namespace=namespace,
                name=cells["NAME"],
                address=parse_host(cells.get("IP")),
                node=node if node not in {None, "", "<none>"} else None,
                details=details_of(cells),
            )
        )
        return True
    return shown is not None


def _endpoints(
    ledger: LineLedger, index: int, cells: Mapping[str, str], namespace: str | None
) -> ServiceRecord:
    """Make a Service of which only the endpoints are known: its own port is 0."""
    endpoints, more = parse_endpoints(cells["ENDPOINTS"])
    port = ServicePortRecord(None, protocols.TCP, 0, None, None, endpoints, more)
    return ServiceRecord(
        span=ledger.span(index),
        namespace=namespace,
        name=cells["NAME"],
        type=None,
        addresses=(),
        ports=(port,) if endpoints else (),
    )


FORMAT = Format("kubectl get", recognise_get, read_get)
