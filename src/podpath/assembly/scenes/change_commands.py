"""Commands in the evidence that change the node, and what they change.

`modprobe br_netfilter` above an output means that the output shows the state after it; the fault
was there before. A command whose effect is not known here is kept in the case and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.assembly.scenes.scene import ReadSource, ReadSources, name_netns
from podpath.evidence.commands.command import Command, parse_command
from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.records import ChangeCommandRecord
from podpath.evidence.text.tokenizer import Cursor
from podpath.net.addresses import Address, Family, IfName, Prefix
from podpath.net.provenance import Span
from podpath.node.case import ChangeCommand


class SysctlChange(NamedTuple):
    """A sysctl was set."""

    netns: str
    span: Span
    command: str
    key: str
    value: str


class ModuleChange(NamedTuple):
    """A module was loaded or removed."""

    span: Span
    command: str
    name: str
    loaded: bool


class RouteChange(NamedTuple):
    """A route was added or deleted; what the command does not say is None."""

    netns: str
    span: Span
    command: str
    added: bool
    prefix: Prefix
    link: IfName | None
    gateway: Address | None
    table: str
    metric: int | None


Effect = SysctlChange | ModuleChange | RouteChange

_PROC = re.compile(r"/proc/sys/(?P<path>\S+)")
_SETTING = re.compile(r"(?P<key>[A-Za-z][\w./-]*)\s*=\s*(?P<value>\S.*)?")
_ROUTE_VERBS: Mapping[str, bool] = {
    **dict.fromkeys(("add", "a", "append", "prepend", "replace", "repl", "change", "chg"), True),
    **dict.fromkeys(("del", "delete", "d", "de"), False),
}


def list_change_commands(evidence: ReadSources) -> tuple[ChangeCommand, ...]:
    """Return all commands of the evidence that change the node."""
    return tuple(
        ChangeCommand(command=record.command, span=record.span)
        for _, record in evidence.records(ChangeCommandRecord)
    )


def read_effects(evidence: ReadSources) -> tuple[Effect, ...]:
    """Return what the commands of the evidence change, in their order; commands on another host do
    not count.
    """
    return tuple(
        effect
        for scene, record in evidence.records(ChangeCommandRecord)
        if not scene.is_elsewhere
        for effect in _read(scene, record)
    )


def _read(scene: ReadSource, record: ChangeCommandRecord) -> Iterator[Effect]:
    echoed = ""
    for part in parse_shell(record.command):
        if not part.words:
            continue
        text = record.command[part.words[0].start : part.words[-1].end]
        command = parse_command(text)
        netns = scene.netns if command.netns is None else name_netns(command.netns)
        targets = [
            redirect.target for redirect in part.redirects if redirect.operator in {">", ">>", ">|"}
        ]
        if command.program in {"echo", "printf"}:
            echoed = " ".join(word for word in command.arguments if word != "-n").replace("\\n", "")
        if command.program == "tee":
            targets += command.arguments
        for target in targets:
            path = _PROC.fullmatch(target)
            if path is not None and echoed:
                yield SysctlChange(
                    netns, record.span, record.command, path["path"].replace("/", "."), echoed
                )
        yield from _read_command(command, netns, record)


def _read_command(command: Command, netns: str, record: ChangeCommandRecord) -> Iterator[Effect]:
    words = command.arguments
    if command.program == "sysctl":
        for word in words:
            setting = _SETTING.fullmatch(word)
            if setting is not None and setting["value"]:
                if "." in setting["key"].partition("/")[0]:
                    key = setting["key"]
                else:
                    key = setting["key"].replace("/", ".")
                yield SysctlChange(
                    netns,
                    record.span,
                    record.command,
                    key.replace("/", "."),
                    setting["value"].strip(),
                )
    elif command.program in {"modprobe", "insmod", "rmmod"}:
        removed = command.program == "rmmod" or any(word in {"-r", "--remove"} for word in words)
        names = [word for word in words if not word.startswith("-") and "=" not in word]
        for name in names if removed or "-a" in words else names[:1]:
            module = name.rpartition("/")[2].partition(".ko")[0].replace("-", "_")
            yield ModuleChange(record.span, record.command, module, not removed)
    elif command.program in {"ip", "route"}:
        read = _read_ip_route if command.program == "ip" else _read_net_tools_route
        yield from read(words, netns, record)


def _read_ip_route(
    words: Sequence[str], netns: str, record: ChangeCommandRecord
) -> Iterator[RouteChange]:
    """Read `ip route add|del ...`."""
    cursor = Cursor(" ".join(words))
    family: Family | None = None
    while cursor.peek.startswith("-"):
        family = {"-4": 4, "-6": 6}.get(cursor.take(), family)  # type: ignore[assignment]  # the table's values are families
    if not cursor.peek or not "route".startswith(cursor.take()) or cursor.peek not in _ROUTE_VERBS:
        return
    added = _ROUTE_VERBS[cursor.take()]
    if cursor.peek in {"unicast", "blackhole", "unreachable", "prohibit", "local", "to"}:
        cursor.take()
    prefix = _parse_prefix(cursor.take(), family or 4)
    options: dict[str, str] = {}
    while not cursor.done:
        key = cursor.take()
        if key in {"via", "dev", "table", "metric", "src", "proto", "scope"}:
            options[key] = cursor.take()
    if prefix is not None:
        yield _make(netns, record, added, prefix, options)


def _read_net_tools_route(
    words: Sequence[str], netns: str, record: ChangeCommandRecord
) -> Iterator[RouteChange]:
    """Read `route add|del [-net|-host] TARGET [netmask M] [gw G] [metric N] [dev] DEV`."""
    cursor = Cursor(" ".join(words))
    options: dict[str, str] = {}
    verb, target, host = "", "", False
    while not cursor.done:
        word = cursor.take()
        if word in _ROUTE_VERBS and not verb:
            verb = word
        elif word in {"-net", "-host"}:
            host = word == "-host"
            target = cursor.take()
        elif word in {"gw", "netmask", "metric", "dev", "mss", "window", "irtt"}:
            options[{"gw": "via"}.get(word, word)] = cursor.take()
        elif not target and not word.startswith("-"):
            target = word
        elif not word.startswith("-"):
            options.setdefault("dev", word)
    mask = options.get("netmask")
    prefix = _parse_prefix(f"{target}/{mask}" if mask and not host else target, 4)
    if verb and prefix is not None:
        yield _make(netns, record, _ROUTE_VERBS[verb], prefix, options)


def _make(
    netns: str,
    record: ChangeCommandRecord,
    added: bool,  # noqa: FBT001
    prefix: Prefix,
    options: Mapping[str, str],
) -> RouteChange:
    gateway = _parse_gateway(options.get("via"))
    metric = options.get("metric", "")
    return RouteChange(
        netns=netns,
        span=record.span,
        command=record.command,
        added=added,
        prefix=prefix,
        link=IfName(options["dev"]) if options.get("dev") else None,
        gateway=gateway,
        table=options.get("table", "main"),
        metric=int(metric) if metric.isascii() and metric.isdigit() else None,
    )


def _parse_prefix(text: str, family: Family) -> Prefix | None:
    try:
        return Prefix.parse(text, 6 if ":" in text else family)
    except ValueError:
        return None


def _parse_gateway(text: str | None) -> Address | None:
    try:
        address = None if text is None else Address.parse(text)
    except ValueError:
        return None
    if address is None or address.is_unspecified:
        return None
    return address
