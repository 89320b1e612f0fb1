"""module-forbidden: a line of modprobe's configuration blocks a module that something needs.

What it is
    Something says that the kernel lacks a module, a table, a match, a device type or a protocol,
    and a file below /etc/modprobe.d has `install MODULE /bin/false` (or /bin/true) for that module.
    Or modprobe itself says so: `Error running install command '/bin/false' for module MODULE`.

Why it breaks
    modprobe runs the command in an install line instead of loading the module, no matter who asks
    for it: a person by its name, or the kernel by an alias. With /bin/true it even reports success.
    Hardening guides add such lines. A line `blacklist MODULE` does less: it only ignores aliases,
    and `modprobe MODULE` loads the module all the same.

How to confirm
    modprobe -n -v MODULE    # prints `install /bin/false` instead of the module's file
    grep -rn 'install ' /etc/modprobe.d /run/modprobe.d /usr/lib/modprobe.d

How to fix
    Delete the install line (a file of the same name in /etc/modprobe.d replaces one of the
    distribution's), then run modprobe MODULE. If the initial RAM disk has a copy, rebuild it.

References
    modprobe.d(5); kmod, kmod_module_probe_insert_module (libkmod/libkmod-module.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.said import QUOTED, Meaning, find_said, get_value, is_of_container, tell
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case

CATEGORIES = (Category.KERNEL_MODULE, Category.RULESET_FAILURE)
NAME = "module-forbidden"
OPEN = 0.7
"""The certainty where the error may be one that the host's install line does not make."""

_LACKS = (
    MessageKind.EXTENSION_MISSING,
    MessageKind.EXTENSION_NOT_LOADED,
    MessageKind.TABLE_MISSING,
    MessageKind.TABLE_NOT_INITIALIZED,
    MessageKind.DEVICE_TYPE_UNSUPPORTED,
    MessageKind.MODULE_NOT_FOUND,
    MessageKind.SCHEDULER_MISSING,
    MessageKind.PROXY_MODULES_MISSING,
    MessageKind.PROTOCOL_UNSUPPORTED,
    MessageKind.RTNETLINK_ANSWER,
)
_OTHER_ERRORS = re.compile(
    r"Operation not permitted|Required key|Key was rejected|Unknown symbol|Exec format|"
    r"Cannot allocate|Invalid module format|No such device|version magic|disagrees about|"
    r"Module \S+ not found|not found in"
)
"""What modprobe reports of a module that no install line stands for: it tried to load it, or has no
file of it.
"""
_DEVICE_TYPES: Mapping[str, str] = MappingProxyType({
    "bond": "bonding", "vlan": "8021q", "gre": "ip_gre", "gretap": "ip_gre", "tun": "tun",
    "ip6gre": "ip6_gre", "ip6tnl": "ip6_tunnel", "vti": "ip_vti",
})  # fmt: skip
"""Types of devices whose module has another name."""
_TYPE = re.compile(r"\bip (?:-\S+ )*link add .*\btype (?P<type>\w+)")
_MODULES = re.compile(r"\b(?:ip_vs\w*|nf_conntrack\w*|wireguard|sctp|l2tp_?\w*)\b")
_ABOVE = 2
"""Lines above an answer of the kernel in which the command stands that it answers."""
ASK = FollowUp(
    "whether modprobe runs the command of that line where the module is asked for",
    "modprobe -n -v MODULE (on the host); lsmod | grep MODULE",
    "it prints `install`: this is the cause; it prints a file: look at the error itself",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each module that something lacks and an install line keeps out."""
    refused = find_said(case, MessageKind.MODULE_REFUSED)
    lines = find_said(case, MessageKind.MODULE_BLACKLISTED)
    forbidden = [one for one in lines if "instead" in one.values]
    loaded = {_spell(name) for name in case.node.modules.items}
    names = [_spell(one.values["module"]) for one in (*refused, *forbidden)]
    for name in dict.fromkeys(names):
        if name in loaded:
            continue
        said = [one for one in refused if _spell(one.values["module"]) == name]
        ways = [one for one in forbidden if _spell(one.values["module"]) == name]
        lacks = [one for one in find_said(case, *_LACKS) if name in _list_modules(one)]
        if said or (ways and lacks):
            yield _report(name, (said, ways, lacks))


def _report(name: str, found: tuple[list[Message], list[Message], list[Message]]) -> Finding:
    said, ways, lacks = found
    quoted = [*ways[:1], *said[:1], *lacks]
    sure = bool(said) or any(map(_is_made_by_it, lacks))
    instead = get_value(quoted, "instead", default="another command")
    meaning = Meaning(
        claim=f"modprobe runs {instead} instead of loading the module {name}.",
        breaks=f"whatever needs {name}",
        cure=f"delete the install line of {name} from modprobe's configuration, and load it",
        commands=(f"grep -rn 'install *{name}' /etc/modprobe.d /usr/lib/modprobe.d",),
        prevention="Have the node's hardening leave out the modules that its network needs.",
        certainty=1.0 if sure else OPEN,
        ask=None if sure else ASK,
    )
    spans = (*list_spans((*ways[:1], *said[:1])), *list_spans(lacks)[:QUOTED])
    return replace(tell(NAME, quoted, meaning), evidence=tuple(dict.fromkeys(spans)))


def _is_made_by_it(message: Message) -> bool:
    """Tell whether an install line of the host makes an error: it is none that modprobe reports of
    a module that it tried to load, and was not met by a modprobe with a configuration of its own.
    """
    proxy = message.kind is MessageKind.PROXY_MODULES_MISSING
    inside = proxy or is_of_container(message.span)
    return not inside and _OTHER_ERRORS.search(message.span.text) is None


def _spell(name: str) -> str:
    """Return a module's name as the kernel spells it."""
    return name.replace("-", "_")


def _list_modules(message: Message) -> frozenset[str]:
    """Return the modules without which a message would be said, as far as its words tell."""
    values = message.values
    if message.kind in {MessageKind.TABLE_MISSING, MessageKind.TABLE_NOT_INITIALIZED}:
        family = "ip6" if "ip6tables" in message.span.text else "ip"
        table = values.get("table", "filter")
        return frozenset({f"{family}_tables", f"{family}table_{table}", "x_tables"})
    if message.kind in {MessageKind.DEVICE_TYPE_UNSUPPORTED, MessageKind.RTNETLINK_ANSWER}:
        return _list_of_device(message)
    name = values.get("module") or values.get("name", "")
    found = {_spell(name)} | set(_MODULES.findall(message.span.text))
    if message.kind is MessageKind.PROTOCOL_UNSUPPORTED:
        found |= _list_of_device(message)
    if message.kind is MessageKind.SCHEDULER_MISSING:
        found.add(f"ip_vs_{name}")
    if "sort" in values:
        found.add(f"xt_{name}")
    return frozenset(found)


def _list_of_device(message: Message) -> frozenset[str]:
    """Return the module of the type of device that the kernel was asked for in vain."""
    supported = message.values.get("error", "Operation not supported")
    if "not supported" not in supported:
        return frozenset()
    source = message.span.source
    place = message.span.line - source.first_line
    above = source.lines[max(0, place - _ABOVE) : place]
    asked = [_TYPE.search(line) for line in (source.command or "", *above)]
    types = {one["type"] for one in asked if one is not None}
    types |= {message.values[name] for name in ("sort", "third") if name in message.values}
    return frozenset(_DEVICE_TYPES.get(one, one) for one in types)
