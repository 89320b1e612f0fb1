"""Files that define which devices a host should have: interfaces(5), netplan, ifcfg of the network
scripts, .network of networkd.

They tell what is wanted and not what is there. What they say beyond devices, ports, addresses and
gateways is kept as headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source
from podpath.net.statements import ConfiguredDevice

_IFACE = re.compile(r"\s*iface\s+(?P<link>\S+)\s+inet6?\s+(?P<method>\w+)")
_AUTO = re.compile(r"\s*(?:auto|allow-\w+|source(?:-directory)?|mapping)\s+\S")
_OPTION = re.compile(
    r"\s+(?P<name>address|netmask|gateway|network|broadcast|mtu|hwaddress|metric|dns-\S+|pre-up|up|"
    r"post-up|pre-down|down|post-down|bridge[_-]\S+|bond[_-]\S+|vlan[_-]\S+|ovs_\w+|scope|"
    r"pointopoint|accept_ra|autoconf)\s+(?P<value>.*?)\s*$"
)
_NETPLAN = re.compile(r"\s*network:\s*(?:#.*)?$")
_NETPLAN_SIGN = re.compile(r"\s*(?:renderer|ethernets|bridges|bonds|vlans|wifis|dhcp4|dhcp6):")
_KEY = re.compile(r"(?P<indent>\s*)(?P<dash>- )?(?P<key>[\w.\"'-]+):(?:\s+(?P<value>.*?))?\s*$")
_ITEM = re.compile(r"\s*- (?P<value>\S.*?)\s*$")
_SECTIONS = frozenset(
    {"ethernets", "bridges", "bonds", "vlans", "wifis", "tunnels", "dummy-devices"}
)
_IFCFG = re.compile(r"\s*(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>[\"']?[^\"']*[\"']?)\s*(?:#.*)?$")
_IFCFG_NAMES = frozenset(
    {
        "DEVICE",
        "ONBOOT",
        "BOOTPROTO",
        "IPADDR",
        "GATEWAY",
        "NM_CONTROLLED",
        "NETMASK",
        "PREFIX",
        "BRIDGE",
    }
)
_UNIT = re.compile(r"\s*\[(?P<section>Match|Network|Link|NetDev|Address|Route|DHCP|DHCPv4)\]\s*$")
_UNIT_FIELD = re.compile(r"\s*(?P<name>[A-Z]\w+)=(?P<value>.*?)\s*$")
_COMMENT = re.compile(r"\s*[#;]")
_EXPECTED = "a line of a network configuration"


@dataclass(slots=True)
class _ConfiguredDraft:
    """A device whose lines are being read."""

    first: int
    last: int
    name: str
    ports: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    gateway: str = ""
    matched: bool = False


def recognise(source: Source) -> int:
    """Recognize stanzas, a netplan tree, variables of ifcfg or units of networkd."""
    lines = sample(source)
    if any(_IFACE.match(line) for line in lines):
        return CERTAIN
    if any(_NETPLAN.match(line) for line in lines[:8]) and any(
        _NETPLAN_SIGN.match(line) for line in lines
    ):
        return CERTAIN
    names = {found["name"] for line in lines if (found := _IFCFG.match(line)) is not None}
    if len(names & _IFCFG_NAMES) >= 2:
        return CERTAIN
    sections = {found["section"] for line in lines if (found := _UNIT.match(line)) is not None}
    return CERTAIN if "Network" in sections and sections & {"Match", "Route"} else NO


def read(source: Source) -> Reading:
    """Read the devices of a file."""
    lines = [strip_terminal(raw) for raw in source.lines]
    ledger = Ledger(source)
    if any(_IFACE.match(line) for line in lines):
        manager, drafts = "ifupdown", _read_interfaces(lines)
    elif any(_NETPLAN.match(line) for line in lines):
        manager, drafts = "netplan", _read_netplan(lines)
    elif any(_UNIT.match(line) for line in lines):
        manager, drafts = "systemd-networkd", _read_unit(lines)
    else:
        manager, drafts = "network-scripts", _read_ifcfg(lines)
    for draft in drafts:
        _add(ledger, manager, draft)
    for index, line in enumerate(lines):
        if line.strip() and not ledger.is_claimed(index) and _is_known(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _is_known(line: str) -> bool:
    patterns = (_COMMENT, _AUTO, _OPTION, _IFACE, _KEY, _ITEM, _IFCFG, _UNIT, _UNIT_FIELD)
    return any(pattern.match(line) for pattern in patterns)


def _add(ledger: Ledger, manager: str, draft: _ConfiguredDraft) -> None:
    if not draft.name:
        ledger.gap(draft.first, "which device this is wanted of is not said", draft.last)
        return
    try:
        name = parse_name(draft.name)
    except ValueError as error:
        ledger.gap(draft.first, str(error), draft.last)
        return
    wanted = ConfiguredDevice(
        manager, name, tuple(draft.ports), tuple(draft.addresses), draft.gateway, draft.matched
    )
    ledger.add(StatementRecord(span=ledger.span(draft.first, draft.last), statement=wanted))


def _read_interfaces(lines: list[str]) -> list[_ConfiguredDraft]:
    drafts: list[_ConfiguredDraft] = []
    for index, line in enumerate(lines):
        iface = _IFACE.match(line)
        option = _OPTION.match(line)
        if iface is not None:
            drafts.append(_ConfiguredDraft(index, index, iface["link"]))
        elif _AUTO.match(line) or not drafts:
            continue
        elif option is not None and drafts[-1].last >= index - 3:
            _take_option(drafts[-1], option["name"].replace("_", "-"), option["value"])
            drafts[-1].last = index
    return drafts


def _take_option(draft: _ConfiguredDraft, name: str, value: str) -> None:
    if name in {"bridge-ports", "bond-slaves", "ovs-ports"} and value != "none":
        draft.ports += value.split()
    elif name == "vlan-raw-device":
        draft.ports.append(value)
    elif name == "address":
        draft.addresses.append(value)
    elif name == "gateway":
        draft.gateway = value


def _read_netplan(lines: list[str]) -> list[_ConfiguredDraft]:
    """Read the tree by its indents: sections, devices below them, what belongs to each."""
    drafts: list[_ConfiguredDraft] = []
    section = device = -1
    key = ""
    for index, line in enumerate(lines):
        found = _KEY.match(line)
        if found is None or found["dash"]:
            item = _ITEM.match(line)
            if item is not None and drafts and section >= 0:
                _take_item(drafts[-1], key, item["value"])
                drafts[-1].last = index
            continue
        indent, name, value = len(found["indent"]), found["key"].strip("\"'"), found["value"] or ""
        if name in _SECTIONS and (section < 0 or indent <= section):
            section, device = indent, -1
        elif section >= 0 and indent > section and (device < 0 or indent <= device):
            device = indent
            drafts.append(_ConfiguredDraft(index, index, name))
        elif section >= 0 and indent <= section:
            section = -1
        elif drafts and section >= 0:
            key = name
            drafts[-1].last = index
            _take_key(drafts[-1], name, value)
    return drafts


def _take_key(draft: _ConfiguredDraft, name: str, value: str) -> None:
    if name in {"macaddress", "driver"}:
        draft.matched = True
    elif name == "name" and value:
        draft.name = value.strip("\"'")
        draft.matched = draft.matched or "*" in value
    elif name == "interfaces":
        draft.ports += [word.strip(" \"'") for word in value.strip("[]").split(",") if word.strip()]
    elif name == "link" and value:
        draft.ports.append(value.strip("\"'"))
    elif name == "addresses":
        draft.addresses += [
            word.strip(" \"'") for word in value.strip("[]").split(",") if word.strip()
        ]
    elif name in {"gateway4", "gateway6"}:
        draft.gateway = value.strip("\"'")


def _take_item(draft: _ConfiguredDraft, key: str, value: str) -> None:
    if key == "interfaces":
        draft.ports.append(value.strip("\"'"))
    elif key == "addresses":
        draft.addresses.append(value.strip("\"'"))


def _read_ifcfg(lines: list[str]) -> list[_ConfiguredDraft]:
    drafts: list[_ConfiguredDraft] = []
    values: list[tuple[int, str, str]] = []
    for index, line in enumerate(lines):
        found = _IFCFG.match(line)
        if found is not None:
            values.append((index, found["name"], found["value"].strip("\"'")))
    for index, name, value in values:
        if name == "DEVICE" and value:
            drafts.append(_ConfiguredDraft(index, index, value))
    for _, name, value in values:
        if drafts and name.startswith("IPADDR"):
            drafts[-1].addresses.append(value)
        elif drafts and name == "GATEWAY":
            drafts[-1].gateway = value
    return drafts


def _read_unit(lines: list[str]) -> list[_ConfiguredDraft]:
    drafts: list[_ConfiguredDraft] = []
    section = ""
    for index, line in enumerate(lines):
        head = _UNIT.match(line)
        found = _UNIT_FIELD.match(line)
        if head is not None:
            section = head["section"]
            if section == "Network" and not drafts:
                drafts.append(_ConfiguredDraft(index, index, ""))
        elif found is None:
            continue
        elif section == "Match" and found["name"] == "Name":
            drafts.append(
                _ConfiguredDraft(
                    index,
                    index,
                    found["value"].split()[0] if found["value"] else "",
                    matched="*" in found["value"],
                )
            )
        elif drafts and found["name"] in {"Address", "Gateway"}:
            _take_field(drafts[-1], index, found["name"], found["value"])
    return drafts


def _take_field(draft: _ConfiguredDraft, index: int, name: str, value: str) -> None:
    if name == "Gateway":
        draft.gateway = value
    else:
        draft.addresses.append(value)
    if not draft.name:
        draft.last = index


FORMAT = Format("network configuration", recognise, read)
