"""Two outputs of the same thing from two states of one host: what vanished, changed or appeared.

A pair counts only if both outputs share something that no two hosts have alike, or somebody labels
them as two states, and nothing shows that they are of two hosts. Which one shows the failure
follows from the labels (`when it works:`, `after starting the VPN:`); where none says it, from what
is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice, pairwise
from typing import NamedTuple

from podpath.assembly.host.two_hosts import are_two_hosts
from podpath.assembly.scenes.labels import StateLikelihood, judge_label
from podpath.assembly.scenes.scene import ReadSource, ReadSources, host_of_prompt
from podpath.evidence.commands.command import parse_family
from podpath.evidence.node_records import AddressRecord, PolicyRuleRecord, RouteRecord, SocketRecord
from podpath.evidence.records import ChangeCommandRecord, Record, StatementRecord
from podpath.net.addresses import Address, Prefix
from podpath.net.firewall import ZoneSetting
from podpath.net.provenance import Span
from podpath.node.shifts import Shift, ShiftKind

MOST = 40
"""Outputs of one kind that are compared, each with the next; and differences past which two outputs
show two hosts.
"""
_BEFORE = re.compile(
    (
        r"(?<!\w)(?:before|beforehand|prior|previously|initially|at first|normally|original(?:ly)?|"
        r"usually)(?!\w)"
    ),
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?<!\w)(?:after(?:wards)?|once|then|later|now|when|while|with|since|as soon as)(?!\w)"
    r"(?!.*\b(?:fix|repair|cure|work|solv)\w*)",
    re.IGNORECASE,
)
_CURE = re.compile(
    r"(?<!\w)(?:fix|repair|cur(?:e|ing)|mend|solv|resolv|restor|recover|workaround|rollback|"
    r"roll(?:ed|ing)? back|work|help)\w*",
    re.IGNORECASE,
)
_ACT = re.compile(
    r"\s*(?:sudo\s+)?(?:systemctl|service|rc-service|/etc/init\.d/|ifup|ifdown|dhclient|dhcpcd|"
    r"wg-quick|openvpn|nmcli|netplan|networkctl|docker|podman|firewall-cmd|ufw|virsh|tailscale|"
    r"wicked|NetworkManager|kubectl|helm|cilium|calicoctl|reboot)\b|"
    r"\s*(?:sudo\s+)?(?:apt|apt-get|dnf|microdnf|tdnf|yum|zypper|apk)\s(?:.*\s)?"
    r"(?:install|reinstall|upgrade|full-upgrade|dist-upgrade|update|up|add)\b"
)
"""Programs that do more than their words say; what `ip` or `iptables` does is what they say."""
_STARTS = re.compile(
    r"\s*(?:sudo\s+)?(?:(?:docker|podman|nerdctl)\s+(?:run|start|compose\s.*\bup)|"
    r"(?:docker|podman)-compose\b.*\bup|virsh\s+start|kubectl\s+run)\b"
)
"""Commands that start a container or guest: they change nothing that an output shows but what its
network brings about.
"""
_LISTS: Mapping[ShiftKind, frozenset[str]] = {
    ShiftKind.ADDRESS: frozenset({"addr"}),
    ShiftKind.ROUTE: frozenset({"route"}),
    ShiftKind.RULE: frozenset({"rule"}),
}
"""The word of a command whose output lists all things of a kind, so that an empty one says that
there are none.
"""
_COMMON_RULES = frozenset({"local", "main", "default"})


class _ListedThing(NamedTuple):
    """What an output lists: a name by which it is found again, and what may differ about it."""

    value: object
    span: Span
    name: str
    prefix: Prefix | None = None
    address: Address | None = None
    link: str = ""
    port: int | None = None
    common: bool = False
    """True where every host has it."""


class _Act(NamedTuple):
    """A command that was typed, and where."""

    file: str
    line: int
    command: str


class _OutputState(NamedTuple):
    """One output's things of one kind."""

    scene: ReadSource
    things: dict[object, _ListedThing]


def list_shifts(evidence: ReadSources) -> tuple[Shift, ...]:
    """Return what differs between neighboring outputs of one kind, the first pair's first."""
    found: list[Shift] = []
    for kind, record_type in _TYPES:
        groups: dict[tuple[str, object], dict[int, _OutputState]] = {}
        for scene, record in evidence.records(record_type):
            thing = _read(kind, record)
            if thing is None or scene.is_elsewhere or scene.command.filters:
                continue
            state = groups.setdefault((scene.netns, _subject(scene)), {}).setdefault(
                scene.number, _OutputState(scene, {})
            )
            state.things.setdefault(*thing)
        acts = _list_acts(evidence) if groups else ()
        for (netns, subject), states in groups.items():
            _add_empty(kind, evidence, netns, subject, states)
            ordered = [states[number] for number in sorted(states)]
            for one, other in pairwise(islice(ordered, MOST)):
                found += _compare(kind, one, other, acts)
    return tuple(found)


def _list_acts(evidence: ReadSources) -> tuple[_Act, ...]:
    """Return the commands that start, stop or reload a program, which then does what it does, in
    their order.
    """
    changed = [
        _Act(record.span.source.name, record.span.line, record.command)
        for _, record in evidence.records(ChangeCommandRecord)
        if _ACT.match(record.command) is not None
    ]
    sources = [scene.source for scene in evidence.scenes]
    typed = ((source, source.typed or source.command or "") for source in sources)
    started = [
        _Act(source.name, source.first_line, command)
        for source, command in typed
        if _STARTS.match(command)
    ]
    return tuple(sorted((*changed, *started)))


def _add_empty(
    kind: ShiftKind,
    evidence: ReadSources,
    netns: str,
    subject: object,
    states: dict[int, _OutputState],
) -> None:
    """Add the outputs of the same command that list nothing of this kind: it is all gone there."""
    if kind not in _LISTS or not _LISTS[kind] & set(_words_of(subject)):
        return
    for scene in evidence.scenes:
        same = scene.netns == netns and _subject(scene) == subject and not scene.command.filters
        if same and scene.number not in states and not scene.is_elsewhere and scene.whole:
            states[scene.number] = _OutputState(scene, {})


def _words_of(subject: object) -> tuple[str, ...]:
    return subject[2] if isinstance(subject, tuple) else ()


_TYPES: tuple[tuple[ShiftKind, type[Record]], ...] = (
    (ShiftKind.ADDRESS, AddressRecord),
    (ShiftKind.ROUTE, RouteRecord),
    (ShiftKind.RULE, PolicyRuleRecord),
    (ShiftKind.LISTENER, SocketRecord),
    (ShiftKind.ZONE, StatementRecord),
)


def _subject(scene: ReadSource) -> object:
    """Return what a command asked for: two outputs of different questions differ without meaning
    anything.
    """
    words = [word for word in scene.command.arguments if not word.startswith("-")]
    return (
        scene.command.program,
        parse_family(scene.source),
        tuple(_SHORT.get(word, word) for word in words),
    )


_SHORT = {
    "a": "addr", "address": "addr", "r": "route", "ro": "route", "ru": "rule", "show": "",
    "list": "", "ls": "", "s": "", "sh": "",
}  # fmt: skip


def _compare(
    kind: ShiftKind, one: _OutputState, other: _OutputState, acts: Sequence[_Act]
) -> Iterator[Shift]:
    if are_two_hosts(one.scene, other.scene):
        return
    differing = {
        key for key in {**one.things, **other.things} if _value(one, key) != _value(other, key)
    }
    shared = [key for key, thing in one.things.items() if key in other.things and not thing.common]
    stated = _direct(one, other)
    act = _find_act(one.scene, other.scene, acts)
    empty = not _list_own(one) or not _list_own(other)
    told = stated is not None or (empty and (act or _is_one_host(one.scene, other.scene)))
    if not differing or len(differing) > MOST or (not shared and not told):
        return
    direction = _guess_direction(kind, one, other, differing) if stated is None else stated
    if direction is None:
        return
    good, bad = (one, other) if direction else (other, one)
    for key in (key for key in {**good.things, **bad.things} if key in differing):
        was, now = good.things.get(key), bad.things.get(key)
        thing = was or now
        if thing is not None and not thing.common:
            yield Shift(
                kind=kind,
                name=thing.name,
                good=was.span if was is not None else None,
                bad=now.span if now is not None else None,
                told=stated is not None,
                netns=bad.scene.netns,
                between=bad.scene.source.label or "",
                act=act if bad is other else "",
                lost=_list_lost(kind, was, now),
                port=thing.port,
                prefix=thing.prefix,
                address=thing.address,
                link=thing.link,
            )


def _guess_direction(
    kind: ShiftKind, one: _OutputState, other: _OutputState, differing: AbstractSet[object]
) -> bool | None:
    """Tell whether the first of two outputs shows the state that works, by which of them lacks
    something; None where both do, neither does, or a lack says nothing.
    """
    first_lacks = bool(differing - one.things.keys())
    second_lacks = bool(differing - other.things.keys())
    if first_lacks == second_lacks or kind not in _HELD:
        return None
    return second_lacks or _is_before_and_after(one, other)


_HELD = (ShiftKind.ADDRESS, ShiftKind.ROUTE, ShiftKind.RULE)
"""What a host that works has: of two outputs, the one that lacks it shows the failure."""


def _list_own(state: _OutputState) -> list[_ListedThing]:
    """Return what an output lists beside what every host has."""
    return [thing for thing in state.things.values() if not thing.common]


def _find_act(one: ReadSource, other: ReadSource, acts: Sequence[_Act]) -> str:
    """Return the last command that was typed between two outputs of one file; empty where none
    was.
    """
    first, second = one.source, other.source
    if first.name != second.name:
        return ""
    between = [
        act.command.strip()
        for act in acts
        if act.file == first.name and first.first_line < act.line < second.first_line
    ]
    return between[-1] if between else ""


def _is_one_host(one: ReadSource, other: ReadSource) -> bool:
    """Tell whether two outputs were typed at one prompt, which names a host."""
    named = host_of_prompt(one)
    return named is not None and named == host_of_prompt(other)


def _list_lost(
    kind: ShiftKind, was: _ListedThing | None, now: _ListedThing | None
) -> tuple[str, ...]:
    """Return the values of a zone's setting that the failing state lacks."""
    if kind is not ShiftKind.ZONE or was is None or now is None:
        return ()
    had, has = was.value, now.value
    if not isinstance(had, frozenset) or not isinstance(has, frozenset):
        return ()
    return tuple(sorted(map(str, had - has)))


def _value(state: _OutputState, key: object) -> object:
    thing = state.things.get(key)
    return None if thing is None else (thing.value,)


def _is_before_and_after(one: _OutputState, other: _OutputState) -> bool:
    """Tell whether labels call two outputs before and after, whatever happened between them: what
    appeared may have broken it.
    """
    first, second = one.scene.source.label or "", other.scene.source.label or ""
    return bool(_BEFORE.search(first)) and bool(_AFTER.search(second)) and not _CURE.search(second)


def _direct(one: _OutputState, other: _OutputState) -> bool | None:
    """Tell whether the second output shows the failure (True) or the first one (False); None where
    no words say it.
    """
    first, second = one.scene.source.label or "", other.scene.source.label or ""
    if first == second:
        return None
    standings = judge_label(first), judge_label(second)
    if _AFTER.search(second) and (
        _BEFORE.search(first) or standings[0] in (StateLikelihood.GOOD, StateLikelihood.PLAIN)
    ):
        if standings[1] is StateLikelihood.AFTER and not _CURE.search(second):
            return None  # after a restart or a change, which may have mended or broken it
        return standings[1] not in (StateLikelihood.AFTER, StateLikelihood.GOOD)
    if StateLikelihood.GOOD in standings and standings[0] != standings[1]:
        return standings[0] is StateLikelihood.GOOD
    if (
        StateLikelihood.BAD in standings
        and standings[0] != standings[1]
        and not _BEFORE.search(first if standings[0] is StateLikelihood.BAD else second)
    ):
        return standings[1] is StateLikelihood.BAD
    if _BEFORE.search(first) and standings[1] is StateLikelihood.AFTER:
        return False
    return None


def _read(kind: ShiftKind, record: Record) -> tuple[object, _ListedThing] | None:
    if isinstance(record, AddressRecord):
        return _read_address(record)
    if isinstance(record, RouteRecord):
        return _read_route(record)
    if isinstance(record, PolicyRuleRecord):
        return _read_rule(record)
    if isinstance(record, SocketRecord):
        return _read_listener(record)
    if (
        isinstance(record, StatementRecord)
        and isinstance(record.statement, ZoneSetting)
        and kind is ShiftKind.ZONE
    ):
        setting = record.statement
        key = (setting.zone, setting.key)
        return key, _ListedThing(
            frozenset(setting.values), record.span, f"`{setting.key}` of zone {setting.zone}"
        )
    return None


def _read_address(record: AddressRecord) -> tuple[object, _ListedThing] | None:
    if record.scope in ("link", "host") or record.address.is_loopback:
        return None
    flags = frozenset(record.flags) & {"tentative", "dadfailed", "deprecated"}
    link = str(record.link or "")
    name = f"{record.address}/{record.length}{f' on {link}' if link else ''}"
    return (link, record.address, record.length), _ListedThing(
        flags, record.span, name, address=record.address, link=link
    )


def _read_route(record: RouteRecord) -> tuple[object, _ListedThing] | None:
    if record.type in ("broadcast", "multicast", "anycast") or _follows_address(record):
        return None
    hops = frozenset((str(hop.link or ""), hop.gateway) for hop in record.nexthops)
    name = "the default route" if record.prefix.length == 0 else f"the route to {record.prefix}"
    link = next((str(hop.link) for hop in record.nexthops if hop.link), "")
    key = (record.prefix, record.table, record.metric if record.prefix.length == 0 else None)
    return key, _ListedThing(
        (record.type, hops), record.span, name, prefix=record.prefix, link=link
    )


def _follows_address(record: RouteRecord) -> bool:
    """Tell whether a route is one that the kernel keeps for an address of the host: others of table
    local are what a program had it take in, such as the address of a load balancer.
    """
    return "local" in {record.table, record.type} and record.protocol in {"kernel", "", None}


def _read_rule(record: PolicyRuleRecord) -> tuple[object, _ListedThing] | None:
    if record.unread:
        return None
    selectors = (
        record.src,
        record.dst,
        record.iif,
        record.oif,
        record.mark,
        record.negated,
        record.family,
    )
    plain = not any(selectors[:5]) and record.table in _COMMON_RULES
    name = f"the policy rule `{record.span.text.strip()}`"
    return (selectors, record.table, record.action), _ListedThing(
        None, record.span, name, common=plain
    )


def _read_listener(record: SocketRecord) -> tuple[object, _ListedThing] | None:
    if record.state != "LISTEN" or record.port is None:
        return None
    name = f"the listener of port {record.port}"
    return (record.protocol, record.local, record.port), _ListedThing(
        None, record.span, name, port=record.port
    )
