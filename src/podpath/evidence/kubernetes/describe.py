"""`kubectl describe` of services, pods and nodes: one object after the other, each with its events
at the end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.evidence.attempts.failures import parse_host
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.described_policy import is_policy
from podpath.evidence.kubernetes.events import read_event
from podpath.evidence.kubernetes.picked import Pick, parse_described
from podpath.evidence.kubernetes.records import PodRecord, ServiceRecord
from podpath.evidence.kubernetes.service import make_ports
from podpath.evidence.kubernetes.shown import DescribedField, describe_object
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.addresses import Address
from podpath.net.provenance import Source, Span

_FIELD = re.compile(r"(?P<key>[A-Z][\w ()/.-]*?):(?:\s+(?P<value>\S.*?))?\s*$")
_START = re.compile(r"Name:\s+\S")
_SERVICE = frozenset(
    {
        "Selector",
        "Type",
        "IP",
        "IPs",
        "Port",
        "TargetPort",
        "Endpoints",
        "Session Affinity",
        "NodePort",
        "IP Families",
    }
)
_POD = frozenset(
    {
        "Node",
        "Containers",
        "Controlled By",
        "QoS Class",
        "Priority",
        "Node-Selectors",
        "Init Containers",
        "Tolerations",
    }
)
_NODE = frozenset(
    {
        "PodCIDR",
        "Roles",
        "Addresses",
        "Allocatable",
        "Capacity",
        "Non-terminated Pods",
        "System Info",
        "Unschedulable",
    }
)

_BY_KIND: Mapping[str, frozenset[str]] = {
    "Service": _SERVICE, "Pod": _POD, "Node": _NODE | {"PodCIDRs"},
}  # fmt: skip
"""What tells an object that a command describes, where a filter leaves but a line of it."""
_OF_ALL = frozenset({"Labels", "Annotations"})
_KINDS = {"service": "Service", "pod": "Pod", "slice": "EndpointSlice", "endpoints": "Endpoints"}


class _Field(NamedTuple):
    key: str
    value: str
    place: int
    """Index of its line."""
    nested: Sequence[str]
    """The lines below it that stand deeper."""


def recognise_describe(source: Source) -> int:
    """Recognize an object by the names of its fields."""
    lines = sample(source)
    keys = {found["key"] for found in map(_FIELD.match, lines) if found is not None}
    picked = parse_described(source.command) if source.command else None
    if picked is not None and keys & (_BY_KIND.get(picked.kind, frozenset()) | _OF_ALL):
        return CERTAIN
    if len(keys & _SERVICE) >= 3 or len(keys & _POD) >= 3 or len(keys & _NODE) >= 3:
        return CERTAIN
    kinds = keys & (
        _SERVICE | _POD | _NODE | {"Labels", "Annotations", "Namespace", "Events", "Subsets"}
    )
    if any(_START.match(line) for line in lines[:3]) and len(kinds) >= 2:
        return CERTAIN
    return LIKELY if len(kinds) >= 2 and "Endpoints" in keys else NO


def read_describe(source: Source) -> Reading:
    """Read services and pods, and the events of every object; the other fields are kept as
    headings.
    """
    ledger = LineLedger(source)
    lines = ledger.lines
    starts = [index for index, line in enumerate(lines) if _START.match(line)] or [0]
    if starts[0] > 0:
        starts.insert(0, 0)
    picked = parse_described(source.command) if source.command else None
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        _read_object(ledger, start, end, picked if len(starts) == 1 else None)
    for index, line in enumerate(lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a field of kubectl describe")


def _read_object(ledger: LineLedger, start: int, end: int, picked: Pick | None) -> None:
    fields = list(_fields(ledger.lines, start, end))
    keys = {field.key for field in fields}
    events = next((field for field in fields if field.key == "Events"), None)
    name = _value(fields, "Name") or (picked.name if picked is not None else None)
    kind = "object"
    if "AddressType" in keys:
        kind = "slice"
    elif "Subsets" in keys:
        kind = "endpoints"
    elif keys & {"Endpoints", "TargetPort", "Session Affinity"}:
        kind = "service"
    elif len(keys & _POD) >= 2:
        kind = "pod"
    if events is not None:
        subject = f"{kind}/{name}" if name else None
        for index in range(events.place + 1, end):
            line = ledger.lines[index]
            if line.strip() and not ledger.is_claimed(index):
                read_event(ledger, index, (), subject)
    last = max(
        (field.place + len(field.nested) for field in fields if field.key != "Events"),
        default=start,
    )
    if kind == "service":
        _add_service(ledger, fields, start, last)
    elif kind == "pod":
        _add_pod(ledger, fields, start, last)
    placed = tuple(_place(ledger, field) for field in fields)
    shown = _KINDS.get(kind) or _find_kind(keys, placed)
    shown = shown or (picked.kind if picked is not None else "")
    if shown:
        for record in describe_object(
            shown, _value(fields, "Namespace") or "", name or "", placed, ledger.span(start, last)
        ):
            ledger.add(record)


def _find_kind(keys: Collection[str], fields: Sequence[DescribedField]) -> str:
    """Return what has the fields of a node or of a NetworkPolicy; empty for anything else."""
    if len(_NODE.intersection(keys)) >= 2:
        return "Node"
    policy = any(field.key == "Spec" and is_policy(field.nested) for field in fields)
    return "NetworkPolicy" if policy else ""


def _place(ledger: LineLedger, field: _Field) -> DescribedField:
    """Say of each line of a field where it stands."""
    source = ledger.source
    first = source.first_line + field.place
    below = tuple(
        (line, Span(source, first + number, first + number))
        for number, line in enumerate(field.nested, 1)
        if line.strip()
    )
    return DescribedField(field.key, field.value, Span(source, first, first), below)


def _fields(lines: Sequence[str], start: int, end: int) -> Iterator[_Field]:
    place = start
    while place < end:
        found = _FIELD.match(lines[place])
        if found is None:
            place += 1
            continue
        below = place + 1
        while below < end and (lines[below][:1] in {" ", "\t"} or not lines[below].strip()):
            below += 1
        nested = lines[place + 1 : below]
        while nested and not nested[-1].strip():
            nested = nested[:-1]
        yield _Field(found["key"], found["value"] or "", place, nested)
        place = below


def _value(fields: list[_Field], *keys: str) -> str | None:
    """Return the value of the first of these fields that has one."""
    for field in fields:
        if field.key in keys and field.value and field.value not in {"<none>", "<unset>"}:
            return field.value
    return None


def _addresses(fields: list[_Field], *keys: str) -> tuple[Address, ...]:
    found: dict[Address, None] = {}
    for field in fields:
        if field.key in keys:
            for word in re.split(r"[,\s]+", " ".join([field.value, *field.nested])):
                address = parse_host(word)
                if address is not None:
                    found[address] = None
    return tuple(found)


def _add_service(ledger: LineLedger, fields: list[_Field], start: int, last: int) -> None:
    rows = [
        (field.key, field.value)
        for field in fields
        if field.key in {"Port", "TargetPort", "NodePort", "Endpoints"}
    ]
    ports, unread = make_ports(rows)
    endpoints = next((field.place for field in fields if field.key == "Endpoints"), start)
    record = ServiceRecord(
        span=ledger.span(start, last),
        namespace=_value(fields, "Namespace"),
        name=_value(fields, "Name"),
        type=_value(fields, "Type"),
        addresses=_addresses(fields, "IP", "IPs", "External IPs", "LoadBalancer Ingress"),
        ports=ports,
    )
    ledger.add(record)
    for text in unread:
        ledger.refuse(ledger.span(endpoints), f"expected ports and endpoints, saw {text[:80]!r}")


def _add_pod(ledger: LineLedger, fields: list[_Field], start: int, last: int) -> None:
    node, _, node_address = (_value(fields, "Node") or "").partition("/")
    addresses = _addresses(fields, "IP") or _addresses(fields, "IPs")
    record = PodRecord(
        span=ledger.span(start, last),
        namespace=_value(fields, "Namespace"),
        name=_value(fields, "Name"),
        address=addresses[0] if addresses else None,
        node=node or None,
        node_address=parse_host(node_address),
        details=dict(_details(fields)),
    )
    ledger.add(record)


def _details(fields: list[_Field]) -> Iterator[tuple[str, str]]:
    """Yield labels, annotations and the states of containers by their Kubernetes names."""
    for field in fields:
        if field.key in {"Labels", "Annotations"}:
            for line in (field.value, *field.nested):
                key, sign, value = line.strip().partition("=" if field.key == "Labels" else ":")
                if sign and " " not in key:
                    yield f"{field.key.lower()}.{key}", value.strip()
        elif field.key == "Status" and field.value:
            yield "status", field.value
        elif field.key in {"Containers", "Init Containers"}:
            yield from _states(field.nested)


def _states(nested: Sequence[str]) -> Iterator[tuple[str, str]]:
    name = ""
    for line in nested:
        heading = re.fullmatch(r" {2}(?P<name>[a-z0-9-]+):\s*", line)
        state = re.fullmatch(
            r"\s+(?P<key>State|Ready|Last State|Restart Count|Reason|Exit Code|"
            r"Host Port):\s+(?P<value>\S.*?)\s*",
            line,
        )
        if heading is not None:
            name = heading["name"]
        elif state is not None and name:
            yield f"containers.{name}.{state['key'].lower().replace(' ', '-')}", state["value"]


def details_of(cells: Mapping[str, str]) -> Mapping[str, str]:
    """Return the details of a pod that a table shows."""
    return {
        title.lower(): cells[title] for title in ("STATUS", "READY", "RESTARTS") if cells.get(title)
    }


FORMAT = Format("kubectl describe", recognise_describe, read_describe)
