"""The file of flows: TOML, one `[[flow]]` for each, read strictly.

An unknown key, a value of the wrong kind and a flow that says too little are refused, all at once,
each with its line and column. `from`, `to` and `port` may be lists: then every combination is a
flow. Where an end is a network, the source all pods, or a port a range, each pair of ends is a set
of flows with all ports of the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from podpath.flows.flow import EVERY_POD, EVERY_PORT, Expectation, Flow, spell_target
from podpath.net.end_names import EndName, NameKind, parse_end
from podpath.net.errors import UsageError
from podpath.net.provenance import Source, Span
from podpath.net.tables import TableError, find_line, parse_tables

_HOST = "host"
PROTOCOLS = ("tcp", "udp", "icmp")
_NETWORK = re.compile(r"[0-9A-Fa-f:.]+/\d+")
_RANGE = re.compile(r"(\d{1,5})-(\d{1,5})")
_SERVICE = re.compile(r"(?:svc|services?)/\S+")
_POD = re.compile(r"(?:po|pods?)/\S+")
_NUMBERED = frozenset({NameKind.ADDRESS, NameKind.NODE, NameKind.NETNS})
"""What has ports by number only."""


def _parse_ends(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(one, str) and one.split() == [one] for one in values):
        raise ValueError(
            "pod/NS/NAME, svc/NS/NAME, host, an address, a network, or a list of these"
        )
    ends = tuple(map(str, values))
    for one in ends:
        try:
            _read_end(one)
        except UsageError as error:
            raise ValueError(str(error).removeprefix("expected ")) from None
    return ends


def _read_end(text: str) -> EndName | None:
    """Take an end apart; None for a network."""
    if _NETWORK.fullmatch(text):
        return None
    return parse_end(text)


def _parse_ports(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(_parse_port(one) for one in values)


def _parse_port(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536:
        return str(value)
    found = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if found is not None and 0 < int(found[1]) <= int(found[2]) < 65536:
        return found[0]
    if found is None and isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9-]{1,15}", value):
        return value
    raise ValueError(
        "a port from 1 to 65535, a range of them, the name of a service's port, or a list of these"
    )


def _is_name(port: str) -> bool:
    """Tell whether this is the name of a service's port: neither a number nor a range."""
    return not port.isdecimal() and _RANGE.fullmatch(port) is None


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

    @property
    def is_set(self) -> bool:
        """Tell whether each pair of ends is a set of flows."""
        ends = (*self.source, *self.target)
        return (
            EVERY_POD in self.source
            or any(_NETWORK.fullmatch(one) for one in ends)
            or any(_RANGE.fullmatch(port) for port in self.port)
        )

    def __post_init__(self) -> None:
        """Refuse what no flow can be."""
        if self.by and self.expect is Expectation.CONNECTS:
            raise ValueError('`by` only with expect = "fails"')
        if self.protocol == "icmp" and self.port:
            raise ValueError("no port of icmp")
        read = {one: _read_end(one) for one in self.target}
        ends = {one: end for one, end in read.items() if end is not None}
        named = [one for one, end in ends.items() if end.port]
        if named and self.port:
            raise ValueError(f"the port once, in `to` or in `port`, saw both {named[0]} and port")
        if self.is_set:
            self._refuse_as_set(named)
        else:
            self._refuse_as_single(ends)
        sources = (_read_end(one) for one in self.source)
        if any(end is not None and end.kind is NameKind.SERVICE for end in sources):
            raise ValueError("a pod, host or an address in `from`: services open no connections")

    def _refuse_as_single(self, ends: Mapping[str, EndName]) -> None:
        """Refuse what no flow can be that is no set; `ends` are the targets, taken apart."""
        far = [one for one, end in ends.items() if end.kind is not NameKind.SERVICE]
        bare = [one for one in far if not ends[one].port]
        if bare and not self.port and self.protocol != "icmp":
            raise ValueError(f"a port for {bare[0]}: only a service with one port needs none")
        numbered = [one for one in far if one == _HOST or ends[one].kind in _NUMBERED]
        if numbered and any(map(_is_name, self.port)):
            raise ValueError(
                f"a port's number for {numbered[0]}: only services' and pods' ports have names"
            )

    def _refuse_as_set(self, named: Sequence[str]) -> None:
        """Refuse what no set of flows can be; `named` are the targets with a port."""
        networks = [one for one in self.source if _NETWORK.fullmatch(one)]
        if networks and not self.device:
            raise ValueError(f"the device that packets of {networks[0]} come in on")
        if self.device and any(one == EVERY_POD or _POD.fullmatch(one) for one in self.source):
            raise ValueError("networks and addresses in `from` of a set with a device")
        if any(one == "host" or one.startswith("node/") for one in self.source):
            raise ValueError(
                "pods or networks in `from` of a set: a node takes another address for each target"
            )
        if any(map(_is_name, self.port)):
            raise ValueError("the numbers of ports in a set")
        services = [one for one in self.target if _SERVICE.fullmatch(one)]
        bare = [one for one in services if not one.rpartition(":")[2].isdecimal()]
        if bare:
            raise ValueError(f"a port's number for {bare[0]} in a set, such as svc/shop/api:80")
        ported = [one for one in named if one not in services]
        if ported:
            raise ValueError(f"the port of {ported[0]} in `port`: its table is of sets")


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
    ports = (",".join(table.port) or EVERY_PORT,) if table.is_set else (table.port or ("",))
    combinations = list(product(table.source, table.target, ports))
    for source, target, port in combinations:
        end = _spell_set(target, port) if table.is_set else spell_target(target, port)
        if table.protocol == "tcp":
            made = f"{source} > {end}"
        else:
            made = f"{source} > {end}/{table.protocol}"
        named = table.name if len(combinations) == 1 else f"{table.name} ({made})".strip()
        yield Flow(
            name=(named if table.name else "") or made,
            source=source,
            target=target if table.is_set else end,
            protocol=table.protocol,
            device=table.device,
            expect=table.expect,
            by=table.by,
            span=span,
            ports=port if table.is_set else "",
        )


def _spell_set(target: str, ports: str) -> str:
    """Spell a target with the ports of a set, where they are not all."""
    if ports == EVERY_PORT:
        return target
    return f"{target} ports {ports}"


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
