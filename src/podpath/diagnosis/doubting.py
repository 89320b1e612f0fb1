"""What makes a certain fault a possible one: a fact that is stated beside its lines, of a kind that
its check says would leave it open.

One line of a program convicts only while no other line of the ticket ends it, explains it, or says
that it means something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import itemgetter

from podpath.checks.category import Category
from podpath.checks.dns.resolver_cut_off import find_other_silence
from podpath.checks.dying import AGENTS
from podpath.checks.finding import WEIGHTY, Finding, FollowUp, Severity
from podpath.checks.ground import Unsettling
from podpath.checks.registry import find_check
from podpath.checks.said import find_said, is_of_container
from podpath.checks.stated import statements_of
from podpath.checks.told import WORKLOADS, find_told, list_failing
from podpath.diagnosis.beside import (
    find_answered_beyond,
    find_done,
    find_named_by_command,
    find_other_device,
    find_other_failure,
    find_outside_range,
    find_own_words,
    find_recovered,
    find_running,
    find_standing,
    find_tentative,
    find_unowned,
    find_without_speed,
    find_xdp_queue,
    is_said_to_recur,
    list_devices,
    list_quoted,
    names_any,
    shape,
)
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.dates import find_date
from podpath.net.failures import FailureKind
from podpath.net.introductions import is_supposed
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import ClockRead
from podpath.net.technologies import Technology
from podpath.node.case import Case

LONG = 300.0
"""Seconds of a log after which what was said at their beginning is over."""
DAYS = timedelta(days=1)
"""Age of an event, beside what else was printed, from which on it is over."""
HALF_YEAR = timedelta(days=180)
"""What two dates without a year must not be apart, since either may be of another year."""
_SOME_YEAR = datetime(1904, 12, 31, 23, 59, 59)  # noqa: DTZ001  # no evidence is of that year
_READ = 20_000
"""Lines of a log in which an event is looked for again."""
_SAME = 40
"""Characters at the end of a line, without numbers, that tell two events of one kind alike."""
SHORTEST = 3
"""Letters of a word that may name a program."""
_LOG_OF = re.compile(
    r"\b(?:kubectl|oc|k|docker|podman|crictl|nerdctl)\b.*?\blogs?\b"
    r"(?:\s+-\S+(?:[ =](?!\S*/)\S+)?)*?\s+(?P<name>(?!-)\S+)"
)
"""Commands that print one program's log."""
_GENERAL = frozenset({
    "pod", "pods", "app", "server", "service", "services", "agent", "controller", "manager",
    "node", "cluster", "client", "system", "default", "the", "and", "all", "not",
})  # fmt: skip
"""Words that name no program."""
_SERVES_ALL = re.compile(
    r"kube|k3s|etcd|dns|ingress|istio|envoy|linkerd|proxy|traefik|nginx|haproxy|gateway|webhook|"
    r"cert|registry|controller"
)
"""Names of programs on which others rest that people speak of."""
_EVENTS = frozenset({
    MessageKind.NEIGHBOUR_TABLE_FULL, MessageKind.CONNTRACK_TABLE_FULL, MessageKind.SYN_FLOOD,
    MessageKind.SOCKET_MEMORY_FULL, MessageKind.MARTIAN_SOURCE, MessageKind.NETFILTER_LOG,
    MessageKind.OWN_ADDRESS_RECEIVED, MessageKind.TRANSMIT_TIMEOUT, MessageKind.DEVICE_RESET,
    MessageKind.XDP_QUEUE_HANGS,
    MessageKind.CHECKSUM_FAILED, MessageKind.FRAME_TOO_LARGE, MessageKind.PROCESS_KILLED,
})  # fmt: skip
"""What happens at a moment and lasts no longer, where it does not happen again."""
DOUBTED = 0.6
"""The certainty of a fault that something stated leaves open."""
_UPTIME = re.compile(r"\[ *(\d{1,9}\.\d{3,9})\]")
_TAKEN = re.compile(
    r"\b(?:bridge|device|interface|link)\b.*\balready (?:exists|in use)\b|\bFile exists\b",
    re.IGNORECASE,
)
"""What tools say of a device that is there already, in words that no row of messages has."""
_STOPPING = frozenset({
    Category.HOST_FIREWALL, Category.FORWARD_POLICY, Category.NETWORK_POLICY, Category.RULE_ORDER,
})  # fmt: skip
"""Sorts of fault of which a rule that stops packets is one."""
_RESTORES = re.compile(r"\bip6?tables-(?:\w+-)?restore\b|\bnft\b.*-f\b")
"""Commands that load a file of rules."""
_WARNS = re.compile(r"\bwarn(?:ing)?\b.{0,40}\b(?:failed|cannot|could not)\b", re.IGNORECASE)
"""What programs call a warning: they go on."""
_CLOCK = re.compile(r"(?<!\d)(\d\d):(\d\d):(\d\d)(?!\d)")


def doubt_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, each possible that something stated beside its lines leaves open."""
    return tuple(_doubt(case, finding) for finding in findings)


def _doubt(case: Case, finding: Finding) -> Finding:
    """Return a finding, possible only, and not to be settled, where anything unsettles it; one
    that is no fault, or a possible one that the same log is done with, is only seen as well.
    """
    if finding.severity not in WEIGHTY:
        return finding
    settled = finding.settled_by or finding.proves or finding.needed_for or finding.doubted_by
    doubts = NO_FAULT
    if settled or finding.certainty == 1:
        doubts = NO_FAULT | finding.doubted_by | ALWAYS
    for doubt in sorted(doubts, key=lambda one: one.value):
        span = next(RULES[doubt](case, finding), None)
        if span is not None:
            done = doubt is Unsettling.DONE and (finding.certainty < 1 or _is_wait(case, finding))
            over = done or doubt in NO_FAULT or doubt in UNRELATED
            return replace(
                finding,
                severity=Severity.RISK if over else finding.severity,
                certainty=min(finding.certainty, DOUBTED),
                settled_by=frozenset(),
                proves=frozenset(),
                needed_for=frozenset(),
                asks=() if over else finding.asks or ASKS.get(doubt, ()),
                evidence=tuple(dict.fromkeys((*finding.evidence, span))),
                reasoning=(*finding.reasoning, doubt),
            )
    return finding


_WAITS = re.compile(r"\bwaiting (?:for|on|until)\b|\bnot yet\b|\bretry(?:ing)?\b", re.IGNORECASE)


def _is_wait(case: Case, finding: Finding) -> bool:
    """Tell whether all that a finding quotes is that somebody waits."""
    quoted = list_quoted(case, finding)
    return bool(quoted) and all(_WAITS.search(one.span.text) for one in quoted)


def _find_later(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a line of the same log about the same device, long after the last word of the fault."""
    quoted = list_quoted(case, finding)
    devices = list_devices(case, finding)
    shapes = {shape(message.span.text) for message in quoted}
    for source in {message.span.source for message in quoted}:
        numbered = enumerate(source.lines, source.first_line)
        spoken = [(number, line) for number, line in numbered if names_any(line, devices)]
        hangs = [number for number, line in spoken if shape(line) in shapes]
        ended = [read_time(line) for number, line in spoken if number == max(hangs, default=0)]
        for number, line in spoken:
            time = read_time(line)
            if number > max(hangs, default=number) and time is not None and ended[0] is not None:
                yield from (Span(source, number, number),) if time - ended[0] > LONG else ()


def read_time(line: str) -> float | None:
    """Return the seconds that a line of a log begins with: since the boot, or of the day."""
    uptime = _UPTIME.search(line)
    if uptime is not None:
        return float(uptime[1])
    clock = _CLOCK.search(line)
    if clock is None:
        return None
    hours, minutes, seconds = map(int, clock.groups())
    return hours * 3600.0 + minutes * 60.0 + seconds


def _find_unread(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield an output that was not read, whose command names one of the finding's devices."""
    devices = list_devices(case, finding)
    for gap in case.gaps:
        words = set(re.split(r"[^\w.@-]+", gap.span.source.command or ""))
        if devices & words and gap.span not in finding.evidence:
            yield gap.span


def _find_existing(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a refusal to make something that is there already, or the device that was asked for."""
    yield from find_named_by_command(case, finding)
    for gap in case.gaps:
        if _TAKEN.search(gap.span.text):
            yield gap.span
    for message in case.messages:
        exists = message.values.get("error", "").casefold() == "file exists"
        if message.kind is MessageKind.RTNETLINK_ANSWER and exists:
            yield message.span


def _find_long_ago(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what was printed days after the last event that the finding quotes, unless people say
    that it comes and goes.
    """
    quoted = list_quoted(case, finding)
    if not quoted or not _EVENTS.issuperset(one.kind for one in quoted) or is_said_to_recur(case):
        return
    clocks = [(clock.moment, stated.span) for clock, stated in statements_of(case, ClockRead)]
    other = [message.span for message in case.messages]
    other += [gap.span for gap in case.gaps]
    other += [attempt.span for attempt in case.attempts]
    other += [one.span for one in case.unplaced]
    moments = [(find_date(span.text), span) for span in other]
    dated = [*clocks, *((moment, span) for moment, span in moments if moment is not None)]
    if not dated:
        moments = [(find_date(span.text, _SOME_YEAR), span) for span in other]
        dated = [(moment, span) for moment, span in moments if moment is not None]
    newest, span = max(dated, key=itemgetter(0), default=(None, None))
    if newest is None or span is None:
        return
    events = [moment for moment in _list_moments(quoted, newest) if moment is not None]
    age = newest - max(events, default=newest)
    if age > DAYS and (newest.year != _SOME_YEAR.year or age < HALF_YEAR):
        yield span


def _list_moments(quoted: Sequence[Message], newest: datetime) -> Iterator[datetime | None]:
    """Yield when each quoted event was logged, those that the same log has again included."""
    for message in quoted:
        end = shape(message.span.text)[-_SAME:]
        for line in message.span.source.lines[-_READ:]:
            if shape(line).endswith(end):
                yield find_date(line, newest)


def _find_other_program(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted lines, where all are out of the logs of programs that people do not mention,
    while they say of others that they fail.
    """
    quoted = list_quoted(case, finding)
    check = find_check(finding.check)
    ours = check is not None and Category.NAME_OR_CERTIFICATE in check.categories
    failing = list(list_failing(case))
    told = {word for one in failing for word in (*one.words, *one.names, *one.spoken)}
    words = {word.partition(".")[0].casefold() for word in told}
    if not quoted or not ours or not failing:
        return
    for message in quoted:
        asked = _LOG_OF.search(message.span.source.command or "")
        if asked is None or _is_meant(asked["name"], words):
            return
        if any(str(address) in message.span.text for one in failing for address in one.addresses):
            return
    yield quoted[0].span


_TYPED = re.compile(r"(?:ip6?tables|nft|ipset|ebtables)\b(?!\S*-restore)")
_OF_ARGUMENTS = re.compile(r"\s*Error: Could not process rule: ")
"""What nft answers to a command that it was given as arguments: of a file it names the line."""


def _find_typed(_: Case, finding: Finding) -> Iterator[Span]:
    """Yield the lines that answer a command that somebody typed."""
    for span in finding.evidence:
        source = span.source
        prompted = source.prompt is not None and _TYPED.match(source.command or "") is not None
        if prompted or _OF_ARGUMENTS.match(span.text):
            yield span


def _find_by_hand(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentence that says that the same works later."""
    told = find_told(case, Circumstance.BY_HAND)
    if told is not None:
        yield told


def _is_meant(program: str, words: Collection[str]) -> bool:
    """Tell whether one of the words is part of a program's or pod's name, or others rest on it."""
    name = program.casefold().rpartition("/")[2]
    if AGENTS.search(name) or _SERVES_ALL.search(name):
        return True
    parts = {part for part in re.split(r"[^a-z]+", name) if len(part) >= SHORTEST} - _GENERAL
    told = {word for word in words if len(word) >= SHORTEST} - _GENERAL
    return any(one.startswith(other) or other.startswith(one) for one in parts for other in told)


def _find_cut_off(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what the log of a cluster's DNS gets no answer from, beside its upstream."""
    other = find_other_silence(case, find_said(case, MessageKind.UPSTREAM_SILENT))
    sources = {span.source for span in finding.evidence}
    if other is not None and other[1].source in sources:
        yield other[1]


_SOUGHT = re.compile(
    r"\bnot found in (?:directory|/lib/modules|modules\.dep)|^FATAL: Module \S+ not"
)
_BUILT_IN = re.compile(r"\bbuil[td][- ]?in\b|\bignore this\b", re.IGNORECASE)


def _find_perhaps_built_in(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what leaves open whether the kernel lacks a module that a folder does not hold: it is
    a container's folder, or the next line says so.
    """
    for message in list_quoted(case, finding):
        span, source = message.span, message.span.source
        if _SOUGHT.search(span.text) is None:
            continue
        if is_of_container(span):
            yield span
        following = span.last_line + 1
        beyond = source.lines[following - source.first_line : following - source.first_line + 1]
        if any(map(_BUILT_IN.search, beyond)):
            yield Span(source, following, following)


_PROBE = re.compile(r"\bRunning modprobe \S.* failed with message")
_IN_MODE = re.compile(r"\bUsing (?:iptables|nftables) [Pp]roxier\b")
_OF_IPVS = re.compile(r"\bip_?vs", re.IGNORECASE)


def _find_only_probed(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what says that a program goes on without what it looked for: a warning of its start, or
    that kube-proxy uses another mode than the one that needs IPVS.
    """
    for message in list_quoted(case, finding):
        source = message.span.source
        if _PROBE.search(message.span.text) or _WARNS.search(message.span.text):
            yield message.span
        elif message.kind is MessageKind.MODULE_NOT_FOUND and _OF_IPVS.search(message.span.text):
            numbered = enumerate(source.lines[:_READ], source.first_line)
            yield from (Span(source, at, at) for at, line in numbered if _IN_MODE.search(line))


_REMOVES = re.compile(
    r"\b(?:failed to (?:stop|kill|tear ?down|remove|delete|destroy)|tear ?down|"
    r"error (?:deleting|stopping|removing)|StopPodSandbox|KillPodSandbox|RemovePodSandbox|"
    r"terminated container)\b|\bfailed \(delete\)",
    re.IGNORECASE,
)


MISSING = "cni-plugin-missing"
"""A fault that the addition of a pod meets as its removal does."""
LONGER = 5
"""Letters of a word that a pod's name may begin with."""
_ADDS = re.compile(
    r"\bfailed to (?:set ?up|create)\b|\bfailed \(add\)|\berror adding\b", re.IGNORECASE
)


def _find_teardown(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a quoted line of a removal, where all that are quoted are of one."""
    quoted = list_quoted(case, finding)
    lines = {line for one in quoted for line in one.span.source.lines[:_READ]}
    adds = any(map(_ADDS.search, lines))
    if finding.check == MISSING and any(_is_of_failing(case, one) for one in quoted):
        return
    if quoted and not adds and all(_REMOVES.search(one.span.text) for one in quoted):
        yield quoted[0].span


def _is_of_failing(case: Case, message: Message) -> bool:
    """Tell whether a line is about a pod that people say fails, by a word of theirs."""
    text = message.span.text.casefold()
    words = {word for one in list_failing(case) for word in one.spoken if len(word) >= LONGER}
    return any(f"_{word}-" in text or f'"{word}-' in text for word in words)


_SERVICES = frozenset({EndKind.SERVICE, EndKind.NODE_PORT, EndKind.LOAD_BALANCER})


def _find_no_service(case: Case, _: Finding) -> Iterator[Span]:
    """Yield what fails instead, where no sentence says that a service does from elsewhere than a
    pod.
    """
    failing = list(list_failing(case))
    if not any(one.target in _SERVICES and one.source not in WORKLOADS for one in failing):
        yield from (one.span for one in failing)


UNRELATED = frozenset({Unsettling.NO_SERVICE, Unsettling.OTHER_FAMILY})
"""What leaves a fault no more than a thing that was seen as well."""


def _find_other_family(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted line about a link-local address of IPv6, or about one of IPv6 where what
    fails has an address of IPv4, unless a sentence speaks of IPv6 or of an address that is missing.
    """
    failing = list(list_failing(case))
    ends = {address.family for one in failing for address in one.addresses}
    spoken = any(Technology.IPV6 in one.mentions for one in failing)
    missing = any(one.failure is FailureKind.NO_ADDRESS for one in failing)
    if not failing or 6 in ends or spoken or missing:
        return
    quoted = list_quoted(case, finding)
    local = all(one.values.get("address", "").startswith("fe80:") for one in quoted)
    if quoted and (local or 4 in ends):
        yield quoted[0].span


def _find_again(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a line of a later run of the same command at the same prompt that does not say any of
    what the finding quotes; unless people say that it comes and goes.
    """
    quoted = list_quoted(case, finding)
    ran = {message.span.source for message in quoted if message.span.source.command}
    if not ran or len({one.command for one in ran}) > 1 or is_said_to_recur(case):
        return
    last = max(ran, key=lambda one: one.first_line)
    said = {message.span.source for message in case.messages}
    for gap in case.gaps:
        other = gap.span.source
        same = (other.name, other.command, other.prompt) == (last.name, last.command, last.prompt)
        if same and other.order > last.order and other not in said:
            yield gap.span


def _find_not_loaded(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the error by which a typed restore refuses a file, where the finding is about rules
    that no command listed: they are the file's.
    """
    check = find_check(finding.check)
    sorts = frozenset(check.categories if check is not None else ())
    listed = any(span.source.command for span in finding.evidence)
    if listed or not finding.evidence or sorts.isdisjoint(_STOPPING):
        return
    for message in find_said(case, MessageKind.IPTABLES_FAILED, MessageKind.RULESET_FILE_REFUSED):
        if _RESTORES.search(message.span.source.command or ""):
            yield message.span


def _find_supposed(_: Case, finding: Finding) -> Iterator[Span]:
    """Yield the first quoted line, where the prose above each of them says that it would be, or
    should be, printed.
    """
    if finding.evidence and all(is_supposed(one.source.label or "") for one in finding.evidence):
        yield finding.evidence[0]


def _find_rescue(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentence that says that what runs is a rescue system: its kernel and devices are
    not the host's own.
    """
    told = find_told(case, Circumstance.RESCUE)
    yield from () if told is None else (told,)


RULES: Mapping[Unsettling, Callable[[Case, Finding], Iterator[Span]]] = {
    Unsettling.OVER: _find_later,
    Unsettling.WORKS: find_answered_beyond,
    Unsettling.UNREAD_BESIDE: _find_unread,
    Unsettling.EXISTS: _find_existing,
    Unsettling.RECOVERED: find_recovered,
    Unsettling.STANDS: find_standing,
    Unsettling.OTHER_DEVICE: find_other_device,
    Unsettling.OTHER_FAILURE: find_other_failure,
    Unsettling.OWN_WORDS: find_own_words,
    Unsettling.OUTSIDE_RANGE: find_outside_range,
    Unsettling.ITS_OWN: find_unowned,
    Unsettling.NO_SPEED: find_without_speed,
    Unsettling.TENTATIVE: find_tentative,
    Unsettling.XDP_QUEUE: find_xdp_queue,
    Unsettling.CUT_OFF: _find_cut_off,
    Unsettling.PERHAPS_BUILT_IN: _find_perhaps_built_in,
    Unsettling.ONLY_PROBED: _find_only_probed,
    Unsettling.NO_SERVICE: _find_no_service,
    Unsettling.OTHER_FAMILY: _find_other_family,
    Unsettling.TEARDOWN: _find_teardown,
    Unsettling.DONE: find_done,
    Unsettling.LATER: _find_by_hand,
    Unsettling.TYPED: _find_typed,
    Unsettling.RUNS: find_running,
    Unsettling.LONG_AGO: _find_long_ago,
    Unsettling.OTHER_PROGRAM: _find_other_program,
    Unsettling.AGAIN: _find_again,
    Unsettling.NOT_LOADED: _find_not_loaded,
    Unsettling.SUPPOSED: _find_supposed,
    Unsettling.RESCUE: _find_rescue,
}
"""By what would leave a fault open, what looks for it."""
ALWAYS = frozenset({
    Unsettling.DONE, Unsettling.RUNS, Unsettling.LONG_AGO, Unsettling.OTHER_PROGRAM,
    Unsettling.AGAIN,
})  # fmt: skip
"""What leaves any fault open that messages tell."""
NO_FAULT = frozenset({Unsettling.NOT_LOADED, Unsettling.SUPPOSED})
"""What says of anything that it is no fault, or not there."""

_NOW = FollowUp(
    "what fails now: the logged fault is over, or the device works despite it",
    "ip -s link; ip neigh; ip route get ADDRESS; ping -c 3 ADDRESS; getent hosts NAME",
    "the device's error counters grow, or its next hop does not answer: this is the cause; "
    "otherwise look at the name, the route or the port that fails",
)
_SINCE = FollowUp(
    "whether the program has said it again since it went on",
    "the newest lines of the same log (kubectl logs --since=10m POD; journalctl -u UNIT -n 50)",
    "the line comes again: this is the cause; otherwise it is over, and something else fails",
)
_REFUSED = FollowUp(
    "why the kernel refuses that command",
    "nft list ruleset; iptables-save; lsmod | grep -e nf_ -e xt_ -e ipt_; uname -r",
    "a module of a match or target that is not loaded, a chain of another type or hook, or a "
    "device that is not there",
)
_EARLY = FollowUp(
    "what was not there yet when it was refused",
    "systemctl list-dependencies --after UNIT; journalctl -b -o short-monotonic",
    "a device or another service that came up later: order the unit behind it",
)
_LEFT_OVER = FollowUp(
    "whether what is in the way is left over from the same network",
    "ip -br addr; virsh net-list --all; docker network ls; podman network ls; "
    "ip -d link show DEVICE",
    "its own device, but no network of that name: delete the device; otherwise another network "
    "or route has the range",
)
_ON_NEW_PODS = FollowUp(
    "whether a new pod on the node gets a network",
    "kubectl run probe --image=busybox --restart=Never -- true; kubectl describe pod probe; "
    "ls /etc/cni/net.d /var/lib/cni/cache",
    "it does: what is left of the old pod alone is affected; it does not: this is the cause",
)
_ON_HOST = FollowUp(
    "whether the host's kernel has it",
    "modprobe -v NAME; lsmod; grep NAME /lib/modules/$(uname -r)/modules.builtin   # on the host",
    "it neither loads nor is built in: the kernel lacks it; otherwise the line says nothing",
)
ASKS: Mapping[Unsettling, tuple[FollowUp, ...]] = {
    Unsettling.OVER: (_NOW,),
    Unsettling.WORKS: (_NOW,),
    Unsettling.RECOVERED: (_NOW,),
    Unsettling.STANDS: (_NOW,),
    Unsettling.OTHER_DEVICE: (_NOW,),
    Unsettling.DONE: (_SINCE,),
    Unsettling.LATER: (_EARLY,),
    Unsettling.TYPED: (_REFUSED,),
    Unsettling.RUNS: (_SINCE,),
    Unsettling.LONG_AGO: (_SINCE,),
    Unsettling.OTHER_PROGRAM: (_SINCE,),
    Unsettling.AGAIN: (_SINCE,),
    Unsettling.EXISTS: (_LEFT_OVER,),
    Unsettling.PERHAPS_BUILT_IN: (_ON_HOST,),
    Unsettling.ONLY_PROBED: (_SINCE,),
    Unsettling.TEARDOWN: (_ON_NEW_PODS,),
    Unsettling.ITS_OWN: (_LEFT_OVER,),
}
"""What to ask where a doubt leaves a fault open whose check asks nothing."""
