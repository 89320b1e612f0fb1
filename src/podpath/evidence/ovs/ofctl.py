"""`ovs-ofctl dump-flows`, `dump-groups`, and `show` or `dump-ports-desc`: the flows of a bridge,
its groups, and the numbers of its ports (lib/ofp-flow.c, lib/ofp-group.c, lib/ofp-port.c, Open
vSwitch 2.5 to 3.5).
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.node_records import (
    OvsFlowListingRecord,
    OvsFlowRecord,
    OvsGroupRecord,
    OvsPortNumberRecord,
)
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import is_ellipsis
from podpath.net.provenance import Source

_FLOW_HEAD = re.compile(r"(?:NXST|OFPST)_FLOW(?:_DESC)? reply ")
_GROUP_HEAD = re.compile(r"(?:NXST|OFPST)_GROUP_DESC reply ")
_PORT_HEAD = re.compile(r"OFPT_FEATURES_REPLY |OFPST_PORT_DESC reply ")
_FLOW = re.compile(
    r"\s*(?P<head>(?:[a-z][\w-]*(?:=[^\s,]+)?[\s,]+)*,?)actions=(?P<actions>\S.*?)\s*$"
)
_SIGN = re.compile(r"\b(?:cookie|priority|n_packets|table)=")
_GROUP = re.compile(r"\s*group_id=(?P<number>\d+),type=(?P<type>\w+)(?P<rest>,.*|)$")
_PORT = re.compile(r"\s*(?P<number>\d+|LOCAL)\((?P<name>[^)]+)\): addr:")
_PORT_DETAIL = re.compile(
    r"\s+(?:config|state|current|advertised|supported|peer|speed):|n_tables:|capabilities: |"
    r"actions: |OFPT_GET_CONFIG_REPLY "
)
_STATS = frozenset({
    "cookie", "duration", "n_packets", "n_bytes", "idle_timeout",
    "hard_timeout", "idle_age", "hard_age", "importance", "send_flow_rem", "check_overlap",
    "reset_counts", "no_packet_counts", "no_byte_counts",
})  # fmt: skip
"""What a flow's line holds besides its priority, match and actions."""
USUAL_PRIORITY = 32768
_LOCAL = 0xFFFE
_VALUED = frozenset({"-O", "--protocols", "-t", "--timeout", "-F", "--flow-format", "--sort",
                     "--rsort"})  # fmt: skip


def _bridge_of(source: Source, *verbs: str) -> tuple[str, bool]:
    """Return the bridge that the command names, and whether it asks for all that the bridge has."""
    command = parse_command(source.command)
    words = iter(command.arguments)
    plain = []
    for word in words:
        if word in _VALUED:
            next(words, None)
        elif not word.startswith("-"):
            plain.append(word)
    if command.program not in {"ovs-ofctl", "ovs-appctl"} or len(plain) < 2:
        return "", not command.filters
    named = plain[1] if plain[0] in verbs else ""
    name = named.rpartition("/")[2].removesuffix(".mgmt")
    return name, len(plain) == 2 and not command.filters


def recognise_flows(source: Source) -> int:
    """Recognize flows by the reply's head, or by the shape of their lines."""
    lines = sample(source)
    if any(_FLOW_HEAD.match(line.strip()) for line in lines[:3]):
        return CERTAIN
    flows = sum("actions=" in line and _is_flow(line) for line in lines)
    return LIKELY + 30 if flows and flows >= 0.5 * len(lines) else NO


def _is_flow(line: str) -> bool:
    return _FLOW.match(line) is not None and _SIGN.search(line) is not None


def read_flows(source: Source) -> Reading:
    """Read every flow."""
    ledger = Ledger(source)
    bridge, whole = _bridge_of(source, "dump-flows", "bridge/dump-flows")
    whole = whole and not _is_cut(source)
    headed = False
    for index, line in enumerate(source.lines):
        found = _FLOW.match(line)
        if not headed and whole and bridge and found is not None:
            # `--names` and `--no-stats` print no head.
            span, headed = ledger.span(index), True
            ledger.add(OvsFlowListingRecord(span=span, bridge=bridge, what="flows", whole=True))
        if _FLOW_HEAD.match(line.strip()):
            span, headed = ledger.span(index), True
            ledger.add(OvsFlowListingRecord(span=span, bridge=bridge, what="flows", whole=whole))
        elif found is not None:
            _read_flow(ledger, index, bridge, found)
    return ledger.close("a flow of Open vSwitch")


def _read_flow(ledger: Ledger, index: int, bridge: str, found: re.Match[str]) -> None:
    table, priority, asked = 0, USUAL_PRIORITY, []
    for part in re.split(r"[\s,]+", found["head"]):
        name, _, value = part.partition("=")
        if name == "priority" and value.isdigit():
            priority = int(value)
        elif name in {"table", "table_id"} and value.isdigit():
            table = int(value)
        elif name and name not in _STATS:
            asked.append((name, value))
    ledger.add(
        OvsFlowRecord(
            span=ledger.span(index),
            bridge=bridge,
            table=table,
            priority=priority,
            match=tuple(asked),
            actions=found["actions"],
        )
    )


def recognise_groups(source: Source) -> int:
    """Recognize groups by the reply's head or their ids."""
    lines = sample(source)
    if any(_GROUP_HEAD.match(line) for line in lines[:3]):
        return CERTAIN
    return LIKELY if lines and all(_GROUP.match(line) for line in lines) else NO


def _is_cut(source: Source) -> bool:
    """Tell whether lines are left out, or may be behind the last one."""
    return source.open_end or any(map(is_ellipsis, source.lines))


def read_groups(source: Source) -> Reading:
    """Read every group with the actions of its buckets."""
    ledger = Ledger(source)
    bridge, whole = _bridge_of(source, "dump-groups")
    for index, line in enumerate(source.lines):
        found = _GROUP.match(line)
        if _GROUP_HEAD.match(line.strip()):
            span = ledger.span(index)
            ledger.add(OvsFlowListingRecord(span=span, bridge=bridge, what="groups", whole=whole))
        elif found is not None:
            ledger.add(
                OvsGroupRecord(
                    span=ledger.span(index),
                    bridge=bridge,
                    number=int(found["number"]),
                    type=found["type"],
                    buckets=tuple(
                        bucket.partition("actions=")[2]
                        for bucket in re.split(r",bucket=", found["rest"])[1:]
                    ),
                )
            )
    return ledger.close("a group of Open vSwitch")


def recognise_ports(source: Source) -> int:
    """Recognize ports by the reply's head, or by their lines."""
    lines = sample(source)
    if any(_PORT_HEAD.match(line) for line in lines[:3]):
        return CERTAIN
    return LIKELY if any(map(_PORT.match, lines[:2])) else NO


def read_ports(source: Source) -> Reading:
    """Read the number of every port."""
    ledger = Ledger(source)
    bridge, _ = _bridge_of(source, "show", "dump-ports-desc")
    for index, line in enumerate(source.lines):
        found = _PORT.match(line)
        if found is not None:
            number = _LOCAL if found["number"] == "LOCAL" else int(found["number"])
            ledger.add(
                OvsPortNumberRecord(
                    span=ledger.span(index), bridge=bridge, port=found["name"], number=number
                )
            )
        elif _PORT_DETAIL.match(line) or _PORT_HEAD.match(line.strip()):
            ledger.head(index)
    return ledger.close("a port of Open vSwitch")


FORMATS = (
    Format("ovs-ofctl dump-flows", recognise_flows, read_flows),
    Format("ovs-ofctl dump-groups", recognise_groups, read_groups),
    Format("ovs-ofctl show", recognise_ports, read_ports),
)
