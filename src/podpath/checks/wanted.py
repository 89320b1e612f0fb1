"""What configuration files want of devices, in one form: all managers say the same things.

A file's own words stay with their lines; what is not an address is kept as it is spelled, since
that may be the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from podpath.net.addresses import WIDTH, Address, Prefix, read_address
from podpath.net.provenance import Span
from podpath.net.settings import Setting, SettingsFile
from podpath.node.case import Case

_NETPLAN_SECTIONS = frozenset({"ethernets", "bridges", "bonds", "vlans", "wifis"})
_ON = frozenset({"yes", "true", "ipv4", "ipv6", "both", "dhcp", "auto", "bootp"})
_EVERYWHERE = frozenset({"default", "0.0.0.0/0", "::/0"})
_HEAD = "[Route]"
_ROUTES = frozenset({"up", "post-up", "pre-up"})


@dataclass(slots=True)
class WantedDevice:
    """What a file wants of one device."""

    device: str
    span: Span
    """The line that names it."""
    addresses: list[Setting] = field(default_factory=list)
    masks: list[Setting] = field(default_factory=list)
    """Netmasks or lengths that stand apart from their address."""
    gateways: list[Setting] = field(default_factory=list)
    ports: list[tuple[str, Span]] = field(default_factory=list)
    """The ports of a bridge, each with its line."""
    bridge: str = ""
    """The bridge that it says it is a port of."""
    dhcp: Span | None = None
    """The line that asks for addresses by DHCP."""
    metric: str = ""
    """The metric of its default route, as the file spells it; empty where it says none."""
    default: bool = True
    """False where the file says that no default route is to go by it."""
    on_link: bool = False
    """True where the file has the gateway reached otherwise: a far end, a route of its own,
    `on-link`.
    """
    reached: list[Prefix] = field(default_factory=list)
    """Networks that a route of the same file reaches without a gateway."""
    route: str = ""
    """Where the route goes that is being read."""


def wanted_devices(case: Case) -> tuple[WantedDevice, ...]:
    """Return what all files of the case want of devices, in the order of the evidence."""
    found: list[WantedDevice] = []
    for file in case.files:
        read = _READERS.get(file.kind)
        found += list(read(file)) if read is not None else []
    return tuple(found)


def prefixes(wanted: WantedDevice) -> Iterator[tuple[Setting, Address, int]]:
    """Yield the addresses with the lengths of their networks; what has none, or is none, is left
    out.
    """
    for place, setting in enumerate(wanted.addresses):
        word = setting.words[0] if setting.words else ""
        text, sign, rest = word.partition("/")
        if not sign:
            rest = wanted.masks[min(place, len(wanted.masks) - 1)].value if wanted.masks else ""
        address, length = read_address(text), read_length(rest)
        if address is not None and length is not None and length <= WIDTH[address.family]:
            yield setting, address, length


def read_length(text: str) -> int | None:
    """Read a prefix length or a netmask; None for what is neither, such as a mask with holes."""
    if text.isdecimal() and len(text) <= 3:
        return int(text)
    mask = read_address(text)
    if mask is None or mask.family != 4:
        return None
    length = mask.value.bit_count()
    return length if mask.value == Prefix.of(Address(4, 0xFFFFFFFF), length).network else None


def _read_interfaces(file: SettingsFile) -> Iterator[WantedDevice]:
    """Read stanzas of interfaces(5)."""
    current: WantedDevice | None = None
    for setting in file.settings:
        if setting.name == "iface" and len(setting.words) >= 2:
            if current is not None:
                yield current
            current = WantedDevice(setting.words[0], setting.span)
            current.dhcp = (
                setting.span
                if setting.words[-1] == "dhcp" and "inet6" not in setting.words
                else None
            )
        elif current is not None and setting.path and setting.path[-1].startswith("iface "):
            _take_interfaces(current, setting)
    if current is not None:
        yield current


def _take_interfaces(wanted: WantedDevice, setting: Setting) -> None:
    name = setting.name.replace("_", "-")
    if name == "address":
        wanted.addresses.append(setting)
    elif name == "netmask":
        wanted.masks.append(setting)
    elif name == "gateway":
        wanted.gateways.append(setting)
    elif name == "metric":
        wanted.metric = setting.value
    elif name == "bridge-ports":
        wanted.ports += [
            (word, setting.span) for word in setting.words if word not in {"none", "regex"}
        ]
    elif name in {"pointopoint", "onlink"} or (name in _ROUTES and "route" in setting.value):
        wanted.on_link = True


def _read_ifcfg(file: SettingsFile) -> Iterator[WantedDevice]:
    """Read the variables of an ifcfg file."""
    head = next(file.all("DEVICE", "NAME"), None)
    device = head.value if head is not None else file.path.rpartition("ifcfg-")[2]
    if not device or not file.settings:
        return
    wanted = WantedDevice(device, (head or file.settings[0]).span)
    for setting in file.settings:
        name = setting.name.upper().rstrip("0123456789")
        if name == "IPADDR":
            wanted.addresses.append(setting)
        elif name in {"NETMASK", "PREFIX"}:
            wanted.masks.append(setting)
        elif name == "GATEWAY":
            wanted.gateways.append(setting)
        elif name == "BRIDGE":
            wanted.bridge = setting.value
        elif name == "BOOTPROTO" and setting.value.lower() in _ON:
            wanted.dhcp = setting.span
        elif name == "METRIC":
            wanted.metric = setting.value
        elif name == "DEFROUTE" and setting.value.lower() not in _ON:
            wanted.default = False
        elif name in {"SCOPE", "GATEWAYDEV"}:
            wanted.on_link = True
    yield wanted


def _read_netplan(file: SettingsFile) -> Iterator[WantedDevice]:
    """Read devices of netplan's tree."""
    found: dict[tuple[str, ...], WantedDevice] = {}
    for setting in file.settings:
        place = next(
            (place for place, name in enumerate(setting.path) if name in _NETPLAN_SECTIONS), None
        )
        if place is None or len(setting.path) < place + 2:
            continue
        key = setting.path[: place + 2]
        wanted = found.setdefault(key, WantedDevice(key[-1], setting.span))
        _take_netplan(wanted, setting, setting.path[place + 2 :], is_bridge=key[place] == "bridges")
    yield from found.values()


def _take_netplan(
    wanted: WantedDevice, setting: Setting, inner: tuple[str, ...], *, is_bridge: bool
) -> None:
    if setting.name == "on-link" and setting.value.lower() in _ON:
        wanted.on_link = True
    elif inner == ("routes",) and setting.name == "to":
        wanted.route = setting.value
    elif inner == ("routes",) and setting.name == "via" and wanted.route in _EVERYWHERE:
        wanted.gateways.append(setting)
    elif inner == ("routes",) and setting.name == "metric" and wanted.route in _EVERYWHERE:
        wanted.metric = setting.value
    elif inner == ("routes",) and setting.name == "table" and wanted.route in _EVERYWHERE:
        del wanted.gateways[-1:]
    elif inner:
        return
    elif setting.name == "addresses":
        wanted.addresses.append(setting)
    elif setting.name in {"gateway4", "gateway6"}:
        wanted.gateways.append(setting)
    elif setting.name == "interfaces" and is_bridge:
        wanted.ports += [(word, setting.span) for word in setting.words]
    elif setting.name == "dhcp4" and setting.value.lower() in _ON:
        wanted.dhcp = setting.span


def unnamed_devices(case: Case) -> tuple[WantedDevice, ...]:
    """Return what parts of .network files want that do not say of which device."""
    files = [file for file in case.files if file.kind == "networkd"]
    return tuple(
        _take_networkd(WantedDevice("the device", file.span), file)
        for file in files
        if file.settings and ("Match",) not in file.blocks()
    )


def _read_networkd(file: SettingsFile) -> Iterator[WantedDevice]:
    """Read a .network file; two names to match are of two files, of which nobody knows where the
    second one begins.
    """
    heads = [one for one in file.all("Name") if one.path == ("Match",)]
    if len(heads) == 1 and heads[0].words:
        yield _take_networkd(WantedDevice(heads[0].words[0], heads[0].span), file)


def _take_networkd(wanted: WantedDevice, file: SettingsFile) -> WantedDevice:
    for setting in file.settings:
        if setting.name == "Address" and setting.path in {("Network",), ("Address",)}:
            wanted.addresses.append(setting)
        elif setting.name == "Gateway" and setting.path == ("Network",):
            wanted.gateways.append(setting)
        elif setting.name == "Bridge":
            wanted.bridge = setting.value
        elif setting.name == "DHCP" and setting.value.lower() in _ON - {"ipv6"}:
            wanted.dhcp = setting.span
        elif setting.name in {"Metric", "RouteMetric"}:
            wanted.metric = setting.value
        elif setting.name == "Peer":
            wanted.on_link = True
    for section in _split_sections(file, ("Route",)):
        _take_route(wanted, section)
    return wanted


def _split_sections(file: SettingsFile, path: tuple[str, ...]) -> Iterator[Mapping[str, Setting]]:
    """Yield each section of a name by itself, its settings by theirs: between two of them stands
    the line of a head.
    """
    section: dict[str, Setting] = {}
    line = 0
    for setting in file.settings:
        if setting.path != path:
            continue
        if section and (setting.name in section or _HEAD in _between(setting.span, line)):
            yield section
            section = {}
        section[setting.name] = setting
        line = setting.span.line
    if section:
        yield section


def _between(span: Span, line: int) -> str:
    """Return the lines of a source between a line and a span."""
    first = span.source.first_line
    return "\n".join(span.source.lines[line - first + 1 : span.line - first])


def _take_route(wanted: WantedDevice, section: Mapping[str, Setting]) -> None:
    """Take a [Route] section: what it reaches by itself, or the gateway of a default route."""
    target, gateway = section.get("Destination"), section.get("Gateway")
    if gateway is None:
        reached = _read_prefix(target.value) if target is not None else None
        wanted.reached += [] if reached is None else [reached]
        return
    on_link = section.get("GatewayOnLink")
    declared = on_link is not None and on_link.value.lower() in _ON
    wide = target is None or target.value in _EVERYWHERE
    if wide and not declared and "Table" not in section:
        wanted.gateways.append(gateway)


def _read_prefix(text: str) -> Prefix | None:
    """Read a network, or one address as the network of itself."""
    word, _, rest = text.partition("/")
    address = read_address(word)
    if address is None:
        return None
    length = read_length(rest) if rest else WIDTH[address.family]
    fits = length is not None and length <= WIDTH[address.family]
    return Prefix.of(address, length) if fits else None


def _read_keyfile(file: SettingsFile) -> Iterator[WantedDevice]:
    """Read a connection of NetworkManager; the gateway stands behind the address, or in a setting
    of its own.
    """
    head = next(file.all("interface-name"), None)
    if head is None:
        return
    wanted = WantedDevice(head.value, head.span)
    for setting in file.settings:
        if setting.path in {("ipv4",), ("ipv6",)} and setting.name.startswith("address"):
            wanted.addresses.append(setting)
            if len(setting.words) > 1:
                wanted.gateways.append(setting._replace(value=setting.words[1]))
        elif setting.path in {("ipv4",), ("ipv6",)} and setting.name == "gateway":
            wanted.gateways.append(setting)
        elif setting.path == ("ipv4",) and setting.name == "method" and setting.value == "auto":
            wanted.dhcp = setting.span
        elif setting.name == "route-metric":
            wanted.metric = setting.value
        elif setting.name == "never-default" and setting.value.lower() in _ON:
            wanted.default = False
        elif setting.path == ("connection",) and setting.name in {"master", "controller"}:
            wanted.bridge = setting.value
        elif setting.name.startswith("route"):
            wanted.on_link = True
    yield wanted


_READERS: Mapping[str, Callable[[SettingsFile], Iterator[WantedDevice]]] = {
    "ifupdown": _read_interfaces,
    "ifcfg": _read_ifcfg,
    "netplan": _read_netplan,
    "networkd": _read_networkd,
    "networkmanager": _read_keyfile,
}
