"""What stands beside the lines of a fault and leaves it open: the same thing up again, another
device, another failure, or the words of the program itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from podpath.checks.dying import AGENTS
from podpath.checks.finding import Finding
from podpath.checks.objects import is_ready, see
from podpath.checks.services import port_taken
from podpath.checks.stated import is_inner_bridge, statements_of
from podpath.checks.told import (
    LOSSES,
    is_said_to_recur,
    list_failing,
    list_failing_addresses,
)
from podpath.net.addresses import IfName, Prefix, read_address
from podpath.net.failures import Ending, FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Source, Span
from podpath.net.statements import BondState, LinkMode, WarningEvent
from podpath.node.case import Case
from podpath.node.links import Link

READ = 20_000
"""Lines of a log in which something is looked for again."""
_NAMES = ("device", "bond", "bridge", "link")
"""Values of a message that name a device."""
_UP = re.compile(
    r"\b[Ll]ink (?:status )?(?:is )?(?:definitely )?[Uu]p\b|\blink becomes ready|"
    r"\bactive interface up|\bnew active (?:one|slave|interface)|\bcarrier (?:acquired|up)|"
    r"\bGained carrier|\breset completed success"
)
"""What drivers, the bonding driver and network managers say of a device that works again."""
_TROUBLE = re.compile(
    r"\b(?:err(?:or)?s?|fail\w*|fatal|panic\w*|unable|can(?:no|')t|could(?: no|n')t|denied|"
    r"forbidden|refused|time[sd]? ?out|timeout|not found|no such|invalid|missing|crash\w*|"
    r"back-?off|evict\w*|oom\w*|pending|killed|exit(?:ed|ing|s)?|unauthorized|unhealthy|taint\w*|"
    r"unsupported|terminat\w*|ErrImagePull)\b|^[EWF]\d{4} ",
    re.IGNORECASE,
)
"""What programs put into a line that says why something does not run."""
_LISTED = re.compile(r"\bget (?:po|all|ds|daemonset)|\b(?:docker|podman|crictl|nerdctl) ps\b")
"""Commands whose rows are workloads."""
_DONE = re.compile(
    r"\bSyncProxyRules complete\b|\bsyncProxyRules took\b|\bstart worker process\b|"
    r"\bNormal\s+Started\b|\bCaches populated\b|\bReceived own node information\b|"
    r"\bStarted \w+ in [\d.]+ s|\bAPI listen on\b|"
    r"\bsetting resolvers\b|"
    r"\bcertificates? (?:was |has been |have been )?(?:rotated|renewed)\b|"
    r"(?<!un)(?<!not )(?<!without )(?<!no )\bsuccess(?:ful|fully)?\b(?!\s*[:=]\s*(?:false|0|no)\b)",
    re.IGNORECASE,
)
"""What programs say of what they have done."""
_IGNORED = re.compile(r"\bfail\w*\b.{0,120}?,? \(?ignored\b", re.IGNORECASE)
"""What programs say of a failure that they go on after."""
_STARTED = re.compile(r"\bsystemd\[\d+\]: Started \S+\.service\b")
"""What systemd says of a unit that runs again."""
_LISTENS = re.compile(r"\]: (?:all zones loaded|running|ready)$")
"""What daemons say of themselves when they serve: an address less does not keep them from it."""
_SCHEDULED = re.compile(
    r"\bsuccessfully (?:assigned|pulled|connected|authenticated)\b|\bestablished successfully\b",
    re.IGNORECASE,
)
"""What says so of something before the network, or beside it."""
_CARD = re.compile(r"(?:eth|en[opsx]\w*|em|bond|ib)\d\w*")
_NO_SPEED = re.compile(
    r"\bspeed\b\W+(?:unknown|-1\b)|\bcannot get device settings\b|"
    r"\b(?:speed|duplex)\b.*\b(?:invalid argument|not supported)\b",
    re.IGNORECASE,
)
"""What tools say of a card whose driver knows no speed."""
_OF_COREDNS = re.compile(r"\bplugin/\w+:|\[(?:FATAL|ERROR|WARNING|INFO)\]|coredns", re.IGNORECASE)
_BEFORE = re.compile(r"\blogs?\b.*\s(?:--previous|-p)\b")
"""Commands that print the log of a container before its last start."""
_DNS_PODS = ("coredns", "kube-dns", "rke2-coredns")
_ABSENT = frozenset({MessageKind.AGENT_SOCKET_MISSING, MessageKind.SUBNET_FILE_MISSING})
"""Lines that say no more than that an agent was not reached."""


def list_quoted(case: Case, finding: Finding) -> list[Message]:
    """Return the messages whose lines a finding quotes."""
    return [message for message in case.messages if message.span in finding.evidence]


def list_devices(case: Case, finding: Finding) -> set[str]:
    """Return the devices that a finding's messages name, with those that belong to them by others:
    the members of a bond.
    """
    own: set[str] = set()
    for message in list_quoted(case, finding):
        own.update(read_devices(message))
    related = [one for one in map(read_devices, case.messages) if own & one]
    states = [state for state, _ in statements_of(case, BondState) if state.bond in own]
    return own.union(*related, (state.slave for state in states if state.slave))


def read_devices(message: Message) -> set[str]:
    """Return the devices that a message names."""
    return {message.values[name] for name in _NAMES if name in message.values}


def names_any(line: str, devices: Collection[str]) -> bool:
    """Tell whether a line names any of some devices."""
    return any(device in line for device in devices)


def shape(line: str) -> str:
    """Return a line without numbers and blanks: a program says the same again at another time."""
    return re.sub(r"[\s\d]+", "", line)


def find_recovered(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the line by which a device comes up after the fault's last line, unless it came up
    before and failed again, or people say that it comes and goes.
    """
    if is_said_to_recur(case):
        return
    quoted = list_quoted(case, finding)
    devices = list_devices(case, finding)
    shapes = {shape(message.span.text) for message in quoted}
    for source in dict.fromkeys(message.span.source for message in quoted):
        numbered = enumerate(source.lines, source.first_line)
        spoken = [(number, line) for number, line in numbered if names_any(line, devices)]
        failed = [number for number, line in spoken if shape(line) in shapes]
        if not failed:
            continue
        ups = [number for number, line in spoken if _UP.search(line)]
        between = [number for number in ups if failed[0] < number < failed[-1]]
        later = [number for number in ups if number > failed[-1]]
        if later and not between:
            yield Span(source, later[0], later[0])


def find_standing(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the line of another output that shows a bond with a link, or with a member that has
    one.
    """
    quoted = list_quoted(case, finding)
    bonds = {one.values["bond"] for one in quoted if "bond" in one.values}
    sources = {message.span.source for message in quoted}
    for link in case.node.host.links.items:
        works = link.up and link.carrier and link.name in bonds
        if works and link.span is not None and link.span.source not in sources:
            yield link.span
    for state, stated in statements_of(case, BondState):
        if state.bond in bonds and state.slave and state.up:
            yield stated.span


def find_other_device(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a sentence of what fails on another device alone, or within one node."""
    devices = list_devices(case, finding)
    links = {link.name: link for link in case.node.host.links.items}
    own = {name for name in links if _is_over(links, name, devices)} | devices
    failing = tuple(list_failing(case))
    if any(one.words & own for one in failing):
        return
    for one in failing:
        cards = {word for word in one.words if _CARD.fullmatch(word)}
        others = (one.words & links.keys()) | (cards - own if devices else set())
        if others or one.same_node:
            yield one.span


def _is_over(links: Mapping[IfName, Link], name: IfName, devices: Collection[str]) -> bool:
    """Tell whether a device sends by one of some devices: a VLAN or bridge over it."""
    ports = [link.name for link in links.values() if link.master == name]
    below = {name, name.partition(".")[0], links[name].lower or "", *ports}
    return not below.isdisjoint(devices)


def find_other_failure(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentences of what gets no answer, where none says that anything is not made or
    does not start.
    """
    failing = tuple(list_failing(case))
    made = {FailureKind.NOT_STARTED, FailureKind.NO_ADDRESS, FailureKind.REFUSED}
    if made.isdisjoint(one.failure for one in failing):
        yield from (one.span for one in failing if one.failure in LOSSES)


def find_answered_beyond(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a try from the host to another machine that was answered, unless what fails came
    again.
    """
    own = {item.address for item in case.node.host.addresses.items}
    times = sum(message.times for message in list_quoted(case, finding))
    if times > 1 or is_said_to_recur(case):
        return
    for attempt in case.attempts:
        target = attempt.probe.dst
        beyond = not target.is_loopback and target not in own
        if attempt.result is Ending.OK and beyond and not attempt.good:
            yield attempt.span


def find_named_by_command(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the line that shows a device which the refused command names: it is its own, left
    over.
    """
    asked: set[str] = set()
    for span in finding.evidence:
        asked.update(re.split(r"[^\w.@-]+", span.source.command or ""))
    for link in case.node.host.links.items:
        if link.name in asked and link.span is not None:
            yield link.span
    for item in case.node.host.addresses.items:
        if item.link in asked and item.span is not None:
            yield item.span


def find_own_words(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what is about a network's agent beside the lines that say that it was not reached: its
    pod, a line of trouble that names it, one of its own log, or people who say that it fails.
    """
    quoted = {span.text for span in finding.evidence}
    files = {one.values["file"] for one in list_quoted(case, finding) if "file" in one.values}
    for span in _list_of_agents(case):
        if span.text not in quoted and not names_any(span.text, files):
            yield span


def _list_of_agents(case: Case) -> Iterator[Span]:
    """Yield what is about agents of networks: messages, pods, trouble, events, complaints."""
    for message in case.messages:
        own = _is_agent(message.speaker) or _is_of_agent(message.span)
        if own and message.kind not in _ABSENT:
            yield message.span
    yield from (pod.span for pod in see(case, "Pod") if _is_agent(pod.name))
    yield from (gap.span for gap in case.gaps if _is_trouble(gap.span))
    for event, stated in statements_of(case, WarningEvent):
        if _is_agent(event.subject) or _is_of_agent(stated.span):
            yield stated.span
    yield from (one.span for one in list_failing(case) if any(map(_is_agent, one.words)))


def _is_trouble(span: Span) -> bool:
    """Tell whether an unread line names an agent, or stands in its log, and speaks of trouble; or
    is its row in a list of pods.
    """
    command = span.source.command or ""
    log, listed = _is_agent(command), _LISTED.search(command)
    lines = span.text.splitlines()
    own = [line for line in lines if log or _is_agent(line)]
    return any(listed or _TROUBLE.search(line) for line in own)


def _is_of_agent(span: Span) -> bool:
    return _is_agent(span.text) or _is_agent(span.source.command or "")


def _is_agent(text: str) -> bool:
    return AGENTS.search(text.casefold()) is not None


def find_outside_range(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the first line that names what fails, where none of its addresses lies in both of the
    ranges that overlap.
    """
    named = list_failing_addresses(case)
    ranges = [Prefix.parse(mark) for mark in finding.marks if "/" in mark]
    both = max(ranges, key=lambda one: one.length, default=None)
    if named and both is not None and not any(both.covers(end) for end in named):
        yield from (one.span for one in list_failing(case) if one.addresses)
        yield from (one.span for one in case.attempts if one.is_bad)


def find_unowned(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the line that names a device in the way, unless an output shows it with an address of
    its own, and it is no bridge as engines make them.
    """
    host = case.node.host
    shown = {item.link for item in host.addresses.items if item.span is not None}
    bridges = {link.name for link in host.links.items if link.kind == "bridge"}
    for message in list_quoted(case, finding):
        device = message.values.get("device")
        inner = device is not None and (device in bridges or is_inner_bridge(device))
        if inner or (device is not None and device not in shown):
            yield message.span


def find_without_speed(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the line by which a card is said to have no speed, or its driver to know none."""
    for mode, stated in statements_of(case, LinkMode):
        source = stated.span.source
        for number, line in enumerate(source.lines, source.first_line):
            if mode.speed is None and _NO_SPEED.search(line):
                yield Span(source, number, number)
    yield from (gap.span for gap in case.gaps if _NO_SPEED.search(gap.span.text))


def find_tentative(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the row of an address that a quoted line says is not the host's, where it is listed as
    tentative.
    """
    named = {one.values.get("address", "").strip("[]") for one in list_quoted(case, finding)}
    wanted = {read_address(text) for text in named}
    for netns in case.node.namespaces.values():
        for item in netns.addresses.items:
            if item.tentative and item.address in wanted and item.span is not None:
                yield item.span


def find_xdp_queue(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the line by which a driver says that a queue of XDP's own hangs."""
    for message in case.messages:
        if message.kind is MessageKind.XDP_QUEUE_HANGS:
            yield message.span


def find_done(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the line by which the same log says, after the fault's last line, that something was
    done, or the fault's own that says that it is ignored; unless people say that it comes and goes.
    """
    if is_said_to_recur(case):
        return
    quoted = list_quoted(case, finding)
    if quoted and all(_IGNORED.search(message.span.text) for message in quoted):
        yield quoted[0].span
    listens = finding.check == port_taken.NAME
    for source in dict.fromkeys(message.span.source for message in quoted):
        of_log = [message for message in quoted if message.span.source == source]
        speakers = {message.speaker for message in of_log}
        last = _find_last_fault(case, source, quoted)
        ended = _find_last_end(case, source)
        for number, line in enumerate(source.lines, source.first_line):
            done = _DONE.search(line) is not None and _SCHEDULED.search(line) is None
            begins = _STARTED.search(line) or (listens and _LISTENS.search(line))
            started = number > ended and all(speakers) and begins
            if number > last and (done or started) and _is_said_by(line, speakers):
                yield Span(source, number, number)


def _is_said_by(line: str, speakers: Collection[str]) -> bool:
    """Tell whether a line names all of some programs, whatever their process numbers."""
    return all(speaker.partition("[")[0] in line for speaker in speakers)


def _find_last_fault(case: Case, source: Source, quoted: Collection[Message]) -> int:
    """Return the last line of a log that reads like a quoted one; where none does, the last that
    tells the same.
    """
    shapes = {shape(message.span.text) for message in quoted}
    numbered = enumerate(source.lines, source.first_line)
    alike = [number for number, line in numbered if shape(line) in shapes]
    if alike:
        return alike[-1]
    kinds = {message.kind for message in quoted}
    same = [message.span for message in case.messages if message.kind in kinds]
    return max(span.line for span in same if span.source == source)


def _find_last_end(case: Case, source: Source) -> int:
    """Return the last line of a log that says that a program ended; 0 where none does."""
    ends = (one.span for one in case.messages if one.kind is MessageKind.PROGRAM_ENDED)
    return max((span.line for span in ends if span.source == source), default=0)


def find_running(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the pods of the program that printed the quoted lines, where all of them are shown
    running and ready.
    """
    quoted = list_quoted(case, finding)
    yield from _find_restarted(case, quoted)
    if not quoted or not all(_OF_COREDNS.search(one.span.text) for one in quoted):
        return
    pods = [pod for pod in see(case, "Pod") if pod.name.startswith(_DNS_PODS)]
    if pods and all(is_ready(pod) for pod in pods):
        yield pods[0].span


def _find_restarted(case: Case, quoted: Sequence[Message]) -> Iterator[Span]:
    """Yield the pod whose log of before its last start holds all the quoted lines, where it is
    shown running and ready since.
    """
    commands = {message.span.source.command or "" for message in quoted}
    if len(commands) != 1 or not _BEFORE.search(command := commands.pop()):
        return
    words = set(command.replace("/", " ").split())
    yield from (pod.span for pod in see(case, "Pod") if pod.name in words and is_ready(pod))
