"""What kubeskoop's collector writes (alibaba/kubeskoop, `pkg/skoop/collector`): a node and all its
pods in one JSON object.

`p` lists pods, `n` network namespaces, the host's without a key. Each kind of fact is said again
here as the tool prints it that asks the kernel for it, so that one reader reads it wherever it
comes from. A rule's action and a route's several nexthops are not in it: such a line is left for
the reader to refuse, so that the table does not pass for whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from podpath.evidence.layouts.iptables_xml import looks_like_xml, spell_rules
from podpath.evidence.layouts.layout import BundleLayout, LayoutRow, Part
from podpath.evidence.layouts.values import (
    Fields,
    fields_at,
    fields_in,
    load_fields,
    mac_at,
    number_at,
    prefix_of,
    spell_prefix,
    text_at,
)

_HEAD = re.compile(rb'\s*\{\s*"(?:p|n)"\s*:\s*(?:\[|null)[\s\S]{0,4000}?"(?:nm|if|id|i)"\s*:')
_SPACE = re.compile(rb'"n"\s*:\s*"/proc/\d+/ns/net"')
_TYPES = {
    1: "unicast", 2: "local", 3: "broadcast", 4: "anycast", 5: "multicast", 6: "blackhole",
    7: "unreachable", 8: "prohibit", 9: "throw",
}  # fmt: skip
_SCOPES = {0: "global", 200: "site", 253: "link", 254: "host", 255: "nowhere"}
_PROTOCOLS = {1: "redirect", 2: "kernel", 3: "boot", 4: "static", 16: "dhcp", 186: "bgp"}
_TABLES = {255: "local", 254: "main", 253: "default"}
_NEIGHBOURS = {
    0x01: "INCOMPLETE", 0x02: "REACHABLE", 0x04: "STALE", 0x08: "DELAY", 0x10: "PROBE",
    0x20: "FAILED", 0x40: "NOARP", 0x80: "PERMANENT",
}  # fmt: skip
_UP, _DOWN = 1, 2
_LISTENS = 0


def is_dump(data: bytes) -> bool:
    """Tell what the collector wrote by the names of its first members, and a namespace's file."""
    head = data[: 1 << 20]
    return _HEAD.match(head) is not None and _SPACE.search(head) is not None


def take_apart(text: str) -> Iterator[Part]:
    """Yield what the tools would print of each namespace."""
    for space in fields_in(load_fields(text).get("n")):
        key = text_at(space, "k")
        netns = f"pod/{key}" if key else "host"
        for name, command, lines in _spell_space(space):
            if lines:
                yield Part(command, tuple(lines), netns=netns, name=f"{netns}/{name}")


def _spell_space(space: Fields) -> Iterator[tuple[str, str, list[str]]]:
    links = [*fields_in(space.get("if"))]
    names = {number_at(link, "i"): text_at(link, "n") for link in links}
    yield "ip-addr", "ip -d -j addr", _as_json(_spell_link(link, names) for link in links)
    yield (
        "ip-route",
        "ip -4 -d -j route show table all",
        _as_json(_spell_route(route) for route in fields_in(space.get("r"))),
    )
    yield (
        "ip-rule",
        "ip -4 -d -j rule",
        _as_json(_spell_policy(rule) for rule in fields_in(space.get("ru"))),
    )
    yield "ip-neigh", "ip -j neigh", _as_json(_spell_neighbours(links))
    yield "bridge-fdb", "bridge -j fdb", _as_json(_spell_forwarding(links))
    yield (
        "sysctl",
        "sysctl -a",
        [f"{key} = {value}" for key, value in _all_sysctls(space, links).items()],
    )
    rules = text_at(space, "it")
    yield (
        "iptables-save",
        "iptables-save",
        [*(spell_rules(rules) if looks_like_xml(rules) else rules.splitlines())],
    )
    yield "ipset", "ipset save", [*_spell_sets(space)]
    yield "ipvsadm", "ipvsadm -Ln", [*_spell_virtual_services(space)]
    yield "ss", "ss -tuln", [*_spell_sockets(space)]


def _as_json(objects: Iterable[Fields]) -> list[str]:
    """Put objects into lines as `ip -j` prints them, one to a line."""
    lines = [json.dumps(each) for each in objects]
    return ["[", *(f"{line}," for line in lines[:-1]), lines[-1], "]"] if lines else []


def _spell_link(link: Fields, names: dict[int, str]) -> Fields:
    kind, state = text_at(link, "d"), number_at(link, "st")
    peer = number_at(link, "p")
    master = names.get(number_at(link, "mi"))
    found: dict[str, object] = {
        "ifindex": number_at(link, "i"),
        "ifname": text_at(link, "n"),
        "mtu": number_at(link, "m"),
    }
    if peer:
        found["link_index"] = peer
    if state == _UP:
        found |= {
            "flags": [*(["LOOPBACK"] if text_at(link, "n") == "lo" else []), "UP", "LOWER_UP"]
        }
    if state in {_UP, _DOWN}:
        found["operstate"] = "UP" if state == _UP else "DOWN"
    if master:
        found["master"] = master
    if kind and kind != "device":
        found["linkinfo"] = {"info_kind": kind}
    found["addr_info"] = [*_spell_addresses(link)]
    return found


def _spell_addresses(link: Fields) -> Iterator[Fields]:
    for address in fields_in(link.get("a")):
        found = prefix_of(address)
        if found is not None:
            yield {
                "family": "inet6" if ":" in found[0] else "inet",
                "local": found[0],
                "prefixlen": found[1],
            }


def _spell_route(route: Fields) -> Fields:
    dst = spell_prefix(fields_at(route, "d"))
    table = number_at(route, "tb")
    found: dict[str, object] = {
        "type": _TYPES.get(number_at(route, "t"), "unicast"),
        "dst": dst.removesuffix("/32"),
        "table": _TABLES.get(table, str(table)),
        "protocol": _PROTOCOLS.get(number_at(route, "p"), str(number_at(route, "p"))),
        "scope": _SCOPES.get(number_at(route, "sc"), str(number_at(route, "sc"))),
        "flags": [],
    }
    words = {
        "gateway": text_at(route, "g"),
        "dev": text_at(route, "o"),
        "prefsrc": text_at(route, "s"),
    }
    found |= {key: value for key, value in words.items() if value}
    if number_at(route, "pr"):
        found["metric"] = number_at(route, "pr")
    return found


def _spell_policy(rule: Fields) -> Fields:
    src, dst = spell_prefix(fields_at(rule, "s")), spell_prefix(fields_at(rule, "d"))
    found: dict[str, object] = {"priority": max(number_at(rule, "p"), 0), "src": "all"}
    for key, prefix in (("src", src), ("dst", dst)):
        if "/" in prefix:
            found[key], _, length = prefix.partition("/")
            found[f"{key}len"] = int(length)
    if number_at(rule, "m") > 0:
        found["fwmark"] = hex(number_at(rule, "m"))
        if number_at(rule, "ma") > 0:
            found["fwmask"] = hex(number_at(rule, "ma"))
    words = {"iif": text_at(rule, "i"), "oif": text_at(rule, "o")}
    found |= {key: value for key, value in words.items() if value}
    table = number_at(rule, "tb")
    if table > 0:
        found["table"] = _TABLES.get(table, str(table))
    else:
        found["src"] = "not collected"
    return found


def _spell_neighbours(links: Iterable[Fields]) -> Iterator[Fields]:
    for link in links:
        for entry in fields_in(link.get("ne")):
            mac = mac_at(entry, "HardwareAddr")
            state = _NEIGHBOURS.get(number_at(entry, "State"))
            if text_at(entry, "IP") and state:
                found: dict[str, object] = {
                    "dst": text_at(entry, "IP"),
                    "dev": text_at(link, "n"),
                    "state": [state],
                }
                yield found | ({"lladdr": mac} if mac else {})


def _spell_forwarding(links: Iterable[Fields]) -> Iterator[Fields]:
    for link in links:
        for entry in fields_in(link.get("f")):
            mac, far = mac_at(entry, "HardwareAddr"), text_at(entry, "IP")
            if mac:
                found: dict[str, object] = {"mac": mac, "ifname": text_at(link, "n"), "flags": []}
                found["state"] = "permanent" if number_at(entry, "State") & 0x80 else ""
                yield found | ({"dst": far} if far else {})


def _all_sysctls(space: Fields, links: Iterable[Fields]) -> dict[str, str]:
    """Return the sysctls of a namespace; those of its devices stand with each device, too."""
    found: dict[str, str] = {}
    for settings in (fields_at(space, "s"), *(fields_at(link, "s") for link in links)):
        found |= {
            key: value
            for key, value in settings.items()
            if isinstance(value, str) and key.startswith("net.")
        }
    return found


def _spell_sets(space: Fields) -> Iterator[str]:
    for one in fields_in(space.get("is")):
        name, members = text_at(one, "n"), fields_at(one, "m")
        yield f"create {name} {text_at(one, 't')}"
        yield from (f"add {name} {member}" for member in members)


def _spell_virtual_services(space: Fields) -> Iterator[str]:
    services = [service for service in fields_at(space, "vs").values() if isinstance(service, dict)]
    if services:
        yield "Prot LocalAddress:Port Scheduler Flags"
        yield "  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn"
    for service in services:
        yield (
            f"{text_at(service, 'pro').upper()}  {_spell_end(service, 'ip', 'p')} "
            f"{text_at(service, 's')}"
        )
        for server in fields_in(service.get("r")):
            way = "Masq" if server.get("m") is True else "Route"
            yield f"  -> {_spell_end(server, 'ip', 'p')}  {way}  {number_at(server, 'w')}  0  0"


def _spell_sockets(space: Fields) -> Iterator[str]:
    listening = [one for one in fields_in(space.get("c")) if one.get("st") == _LISTENS]
    if listening:
        yield "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port"
    for one in listening:
        protocol = text_at(one, "p").lower()
        any_end = "[::]:*" if ":" in text_at(one, "l") else "0.0.0.0:*"
        yield (
            f"{protocol} {'LISTEN' if protocol == 'tcp' else 'UNCONN'} 0 0 "
            f"{_spell_end(one, 'l', 'lp')} {any_end}"
        )


def _spell_end(fields: Fields, address: str, port: str) -> str:
    host = text_at(fields, address)
    return f"{f'[{host}]' if ':' in host else host}:{number_at(fields, port)}"


LAYOUT = BundleLayout(
    name="kubeskoop collector",
    of_node=True,
    marks=(),
    knows=is_dump,
    rows=(LayoutRow(r".*", rewrite=take_apart),),
)
