"""The file of flows: TOML, one `[[flow]]` for each, read strictly.

An unknown key, a value of the wrong kind and a flow that says too little are refused, all at once,
each with its line and column. `from`, `to` and `port` may be lists: then every combination is a
flow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from podpath.flows.flow import Expectation, Flow, spell_target
from podpath.net.provenance import Source, Span
from podpath.net.tables import TableError, find_line, parse_tables

PROTOCOLS = ("tcp", "udp", "icmp")
_SERVICE = re.compile(r"(?:svc|services?)/\S+")
_POD = re.compile(r"(?:po|pods?)/\S+")
_ENDS_WITH_PORT = re.compile(r"\]:\d+|(?:svc|services?|po|pods?)/[^:\s]+:[\w-]+|[\d.]+:\d+")


def _parse_ends(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(one, str) and one.split() == [one] for one in values):
        raise ValueError("pod/NS/NAME, svc/NS/NAME, host, an address, or a list of these")
    return tuple(values)


def _parse_ports(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(_parse_port(one) for one in values)


def _parse_port(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536:
        return str(value)
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9-]{1,15}", value):
        return value
    raise ValueError("a port from 1 to 65535, the name of a service's port, or a list of these")


def _parse_expect(value: object) -> Expectation:
    try:
        return Expectation(str(value))
    except ValueError:
        raise ValueError("connects or fails") from None


def _parse_protocol(value: object) -> str:
    if value not in PROTOCOLS:
        raise ValueError(f"one of {', '.join(PROTOCOLS)}")
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFlow:
    """One `[[flow]]` as it stands in the file."""

    name: str = ""
    source: tuple[str, ...] = field(metadata={"parse": _parse_ends, "key": "from"})
    target: tuple[str, ...] = field(metadata={"parse": _parse_ends, "key": "to"})
    port: tuple[str, ...] = field(default=(), metadata={"parse": _parse_ports})
    protocol: str = field(default="tcp", metadata={"parse": _parse_protocol})
    device: str = ""
    expect: Expectation = field(metadata={"parse": _parse_expect})
    by: str = ""

    def __post_init__(self) -> None:
        """Refuse what no flow can be."""
        if self.by and self.expect is Expectation.CONNECTS:
            raise ValueError('`by` only with expect = "fails"')
        if self.protocol == "icmp" and self.port:
            raise ValueError("no port of icmp")
        named = [one for one in self.target if _ENDS_WITH_PORT.fullmatch(one)]
        if named and self.port:
            raise ValueError(f"the port once, in `to` or in `port`, saw both {named[0]} and port")
        bare = [one for one in self.target if not _SERVICE.fullmatch(one) and one not in named]
        if bare and not self.port and self.protocol != "icmp":
            raise ValueError(f"a port for {bare[0]}: only a service with one port needs none")
        far = [one for one in self.target if not _SERVICE.fullmatch(one)]
        if far and any(not port.isdecimal() for port in self.port):
            raise ValueError(f"a port's number for {far[0]}: only services' ports have names")
        if any(_SERVICE.fullmatch(one) for one in self.source):
            raise ValueError("a pod, host or an address in `from`: services open no connections")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowsFile:
    """A whole file."""

    flow: tuple[StatedFlow, ...] = ()


def read_flows(text: str, name: str) -> tuple[Flow, ...]:
    """Read a file of flows; `TableError` names every fault with its line and column."""
    read = parse_tables(text, name, FlowsFile, columns=True)
    if not read.flow:
        raise TableError(f"{name}:1:1: expected at least one [[flow]], saw none")
    source = Source(name=name, lines=tuple(text.split("\n")), format="flows")
    lines = [find_line(text, ("flow", place)) for place in range(len(read.flow))]
    ends = [*lines[1:], len(source.lines) + 1]
    flows: list[Flow] = []
    for table, line, end in zip(read.flow, lines, ends, strict=True):
        flows += _expand(table, _span(source, line, end))
    _demand_names(flows)
    return tuple(flows)


def _span(source: Source, line: int, end: int) -> Span:
    """Return the lines of a table: from its heading to its last key."""
    begin = line
    while begin < end - 1 and not source.lines[begin - 1].strip().startswith("[["):
        begin += 1
    last = end - 1
    while last > begin and (
        not source.lines[last - 1].strip() or source.lines[last - 1].lstrip().startswith("#")
    ):
        last -= 1
    return Span(source, begin, last)


def _expand(table: StatedFlow, span: Span) -> Iterator[Flow]:
    """Yield every combination of a table's ends and ports."""
    combinations = list(product(table.source, table.target, table.port or ("",)))
    for source, target, port in combinations:
        end = spell_target(target, port)
        made = (
            f"{source} > {end}" if table.protocol == "tcp" else f"{source} > {end}/{table.protocol}"
        )
        named = table.name if len(combinations) == 1 else f"{table.name} ({made})".strip()
        yield Flow(
            name=(named if table.name else "") or made,
            source=source,
            target=end,
            protocol=table.protocol,
            device=table.device,
            expect=table.expect,
            by=table.by,
            span=span,
        )


def _demand_names(flows: Sequence[Flow]) -> None:
    """Refuse two flows of one name: reports and suppressions go by names."""
    seen: dict[str, Flow] = {}
    faults: list[str] = []
    for flow in flows:
        other = seen.setdefault(flow.name, flow)
        if other is not flow:
            faults.append(
                f"{flow.span}:1: expected a name of its own, saw {flow.name!r} again ({other.span})"
            )
    if faults:
        raise TableError("\n".join(faults))
