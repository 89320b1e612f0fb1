"""`docker inspect`, `docker network inspect` and Compose files: containers, networks and services
as they are configured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.kubernetes.shown import nest, rows, scalar
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.trees import read_tree
from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

_INSPECTED = re.compile(
    r'\s*"(?:NetworkSettings|IPAM|HostConfig|NetworkMode|PortBindings|GlobalIPv6Address|EnableIPv6|'
    r"Attachable|ConfigFrom|com\.docker\.network\.[\w.]+|EndpointID|IPPrefixLen|SandboxID|"
    r'IPAMConfig)"\s*:'
)
_COMPOSE = re.compile(r"(?:services|networks|version):")
_SERVICE = re.compile(
    r"\s+(?:image|build|ports|networks|network_mode|depends_on|container_name|environment|expose|"
    r"volumes|restart|driver):"
)
_SHORT = re.compile(
    r"(?:(?P<host>\[[0-9a-fA-F:]+\]|\d+(?:\.\d+){3}):)?(?:(?P<from>\d+)(?:-\d+)?:)?(?P<port>\d+)"
    r"(?:-\d+)?(?:/(?P<protocol>tcp|udp|sctp))?"
)


def recognise_inspect(source: Source) -> int:
    """Recognize fields that only Docker has."""
    found = {hit[0] for hit in map(_INSPECTED.match, source.lines[:400]) if hit is not None}
    head = next((line.lstrip() for line in source.lines if line.strip()), "")
    if not found:
        return NO
    return CERTAIN if len(found) >= 2 and head.startswith(("[", "{", '"')) else LIKELY


_TEMPLATE = re.compile(r"\{\{\s*json\s+(?P<path>(?:\.\w+)+)\s*\}\}")
"""A part of what is inspected, as `docker inspect NAME --format` prints it."""


class _InspectedPart(NamedTuple):
    """Whose part a command prints, and where in it the answer belongs."""

    name: str
    path: tuple[str, ...]


def _find_part(source: Source) -> _InspectedPart | None:
    command = parse_command(source.command)
    aside = {"container", "network", "-f", "--format"}
    words = [word for word in command.arguments if word not in aside]
    if command.program not in {"docker", "podman"} or words[:1] != ["inspect"]:
        return None
    found = [_TEMPLATE.search(word) for word in words]
    path = next((one["path"] for one in found if one is not None), "")
    named = [word for word in words[1:] if "{" not in word and not word.startswith("-")]
    return (
        _InspectedPart(named[0], tuple(path.split(".")[1:])) if path and len(named) == 1 else None
    )


def recognise_part(source: Source) -> int:
    """Recognize an object below a command that picks it."""
    opens = any(line.lstrip().startswith("{") for line in sample(source))
    return CERTAIN if opens and _find_part(source) is not None else NO


def read_part(source: Source) -> Reading:
    """Read a part of a container, put where the whole has it."""
    ledger = LineLedger(source)
    part = _find_part(source)
    for tree in read_tree(source, ledger.lines, source.first_line).trees if part else ():
        placed = tree
        for name in part.path[::-1] if part is not None else ():
            placed = Tree(value={name: placed}, span=tree.span)
        record = _inspected(Tree(value=placed.fields, span=tree.span))
        if record is not None and part is not None:
            first, last = tree.span.line, tree.span.last_line
            ledger.span(first - source.first_line, last - source.first_line)
            ledger.add(replace(record, name=part.name.removeprefix("/")))
    for index, line in enumerate(ledger.lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a part of a container")


def recognise_compose(source: Source) -> int:
    """Recognize a Compose file by its services and what only they have."""
    lines = sample(source)
    top = any(_COMPOSE.match(line) for line in lines)
    inner = sum(_SERVICE.match(line) is not None for line in lines)
    return CERTAIN if top and inner >= 2 else NO


def read_inspect(source: Source) -> Reading:
    """Read containers and networks."""
    ledger = LineLedger(source)
    grown = read_tree(source, ledger.lines, source.first_line)
    for tree in grown.trees:
        for item in tree.items or (tree,):
            record = _inspected(item)
            if record is not None:
                ledger.span(
                    record.span.line - source.first_line, record.span.last_line - source.first_line
                )
                ledger.add(record)
    for index, line in enumerate(ledger.lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("an object of Docker")


def _inspected(tree: Tree) -> ApiObjectRecord | None:
    name = tree.text_at("Name").removeprefix("/")
    if any(tree.at(field) is not None for field in ("IPAM", "Driver", "Options")):
        return ApiObjectRecord(span=tree.span, kind="Network", namespace="", name=name, tree=tree)
    if not tree.fields:
        return None
    bindings = (
        tree.at("NetworkSettings", "Ports")
        or tree.at("HostConfig", "PortBindings")
        or tree.at("Ports")
    )
    ports = rows(tree.span, _bound(bindings)) if bindings is not None else None
    fields = {**tree.fields, **({} if ports is None else {"ports": ports})}
    return ApiObjectRecord(
        span=tree.span,
        kind="Container",
        namespace="",
        name=name,
        tree=Tree(value=fields, span=tree.span),
    )


def _bound(bindings: Tree) -> Iterator[Tree]:
    for name, listed in bindings.fields.items():
        port, _, protocol = name.partition("/")
        for item in listed.items or (listed,):
            host, span = item.at("HostIp"), item.span
            yield nest(
                host.span if host is not None else span,
                containerPort=scalar(port, span),
                protocol=scalar(protocol or "tcp", span),
                hostIp=host,
                hostPort=item.at("HostPort"),
            )


def read_compose(source: Source) -> Reading:
    """Read the services with what they publish, and the file's networks."""
    ledger = LineLedger(source)
    grown = read_tree(source, ledger.lines, source.first_line)
    for index in grown.unread:
        if not ledger.elide(index):
            ledger.unread(index, "a field of a Compose file")
    for tree in grown.trees:
        ledger.span(tree.span.line - source.first_line, tree.span.last_line - source.first_line)
        ledger.add(
            ApiObjectRecord(span=tree.span, kind="Compose", namespace="", name="", tree=tree)
        )
        services = tree.at("services")
        for name, service in () if services is None else services.fields.items():
            ledger.add(_service(name, service))
    for index, line in enumerate(ledger.lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a Compose file")


def _service(name: str, service: Tree) -> ApiObjectRecord:
    ports = rows(service.span, _published(service))
    tree = Tree(value={**service.fields, "ports": ports}, span=service.span)
    return ApiObjectRecord(
        span=service.span,
        kind="Container",
        namespace="",
        name=service.text_at("container_name") or name,
        tree=tree,
    )


def _published(service: Tree) -> Iterator[Tree]:
    for item in service.items_at("ports"):
        if item.fields:
            yield nest(
                item.span,
                containerPort=item.at("target"),
                hostPort=item.at("published"),
                protocol=item.at("protocol"),
                hostIp=item.at("host_ip"),
            )
            continue
        found = _SHORT.fullmatch(item.text)
        if found is not None:
            yield _short(found, item.line)


def _short(found: re.Match[str], span: Span) -> Tree:
    return nest(
        span,
        hostIp=scalar((found["host"] or "").strip("[]"), span),
        hostPort=scalar(found["from"], span) if found["from"] else None,
        containerPort=scalar(found["port"], span),
        protocol=scalar(found["protocol"] or "tcp", span),
    )


FORMATS = (
    Format("docker inspect --format", recognise_part, read_part),
    Format("docker inspect", recognise_inspect, read_inspect),
    Format("docker-compose.yml", recognise_compose, read_compose),
)
