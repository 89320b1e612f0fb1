"""What the quoted lines of a fault say themselves, or a refusal beside them, and leaves it open:
that something is there already, is only looked for, is being removed, or was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.dns.resolver_cut_off import find_other_silence
from podpath.checks.finding import Finding
from podpath.checks.registry import find_check
from podpath.checks.said import find_said, is_of_container
from podpath.checks.told import list_failing
from podpath.diagnosis.beside import READ, find_named_by_command, list_devices, list_quoted
from podpath.net.complaints import EndKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

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
_CALLED_WARNING = re.compile(r"\s*Warning:", re.IGNORECASE)
_ECHOED = re.compile(r"\s*\++ \S")
"""A command that a shell prints before it runs it (set -x)."""
_TYPED = re.compile(r"(?:sudo )?(?:ip6?tables|nft|ipset|ebtables)\b(?!\S*-restore)")
_OF_ARGUMENTS = re.compile(r"\s*Error: Could not process rule: ")
"""What nft answers to a command that it was given as arguments: of a file it names the line."""
_OF_VERSION = re.compile(r"\s*ip6?tables v\d")
"""How an error of iptables begins by itself: what runs it puts more words before."""
_SOUGHT = re.compile(
    r"\bnot found in (?:directory|/lib/modules|modules\.dep)|^FATAL: Module \S+ not"
)
_BUILT_IN = re.compile(r"\bbuil[td][- ]?in\b|\bignore this\b", re.IGNORECASE)
_PROBE = re.compile(r"\bRunning modprobe \S.* failed with message")
_IN_MODE = re.compile(r"\bUsing (?:iptables|nftables) [Pp]roxier\b")
_OF_IPVS = re.compile(r"\bip_?vs", re.IGNORECASE)
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
_REASONS = frozenset({"error", "file"})
"""Values of a message that say why."""
_WITH_REASON = (
    MessageKind.ADDRESS_ALLOCATED_TWICE, MessageKind.ADDRESSES_EXHAUSTED,
    MessageKind.ADDRESS_NOT_GIVEN, MessageKind.PLUGIN_FAILED, MessageKind.PLUGIN_NOT_FOUND,
    MessageKind.PLUGIN_CONFIGURATION_INVALID, MessageKind.MASTER_DEVICE_MISSING,
)  # fmt: skip
"""Why a plugin refuses a pod."""
_ADDS = re.compile(
    r"\bfailed to (?:set ?up|create)\b|\bfailed \(add\)|\berror adding\b", re.IGNORECASE
)


def find_unread(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield an output that was not read, whose command names one of the finding's devices."""
    devices = list_devices(case, finding)
    for gap in case.gaps:
        words = set(re.split(r"[^\w.@-]+", gap.span.source.command or ""))
        if devices & words and gap.span not in finding.evidence:
            yield gap.span


def find_existing(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a refusal to make something that is there already, or the device that was asked for."""
    yield from find_named_by_command(case, finding)
    for gap in case.gaps:
        if _TAKEN.search(gap.span.text):
            yield gap.span
    for message in case.messages:
        exists = message.values.get("error", "").casefold() == "file exists"
        if message.kind is MessageKind.RTNETLINK_ANSWER and exists:
            yield message.span


def find_typed(_: Case, finding: Finding) -> Iterator[Span]:
    """Yield the lines that answer a command that somebody typed."""
    for span in finding.evidence:
        source = span.source
        typed = _TYPED.match(source.command or "") is not None
        answers = source.prompt is not None or _OF_VERSION.match(span.text) is not None
        if (typed and answers) or _OF_ARGUMENTS.match(span.text):
            yield span


def find_cut_off(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what the log of a cluster's DNS gets no answer from, beside its upstream."""
    other = find_other_silence(case, find_said(case, MessageKind.UPSTREAM_SILENT))
    sources = {span.source for span in finding.evidence}
    if other is not None and other[1].source in sources:
        yield other[1]


def find_perhaps_built_in(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what leaves open whether the kernel lacks a module that a folder does not hold: it is
    a container's folder, or the next line says so.
    """
    for message in list_quoted(case, finding):
        span, source = message.span, message.span.source
        if _SOUGHT.search(span.text) is None:
            continue
        if is_of_container(span) or _fails_inside(case):
            yield span
        following = span.last_line + 1
        beyond = source.lines[following - source.first_line : following - source.first_line + 1]
        if any(map(_BUILT_IN.search, beyond)):
            yield Span(source, following, following)


def _fails_inside(case: Case) -> bool:
    """Tell whether people say that something fails in a container of LXC, in which programs run and
    log as on a host, but whose folder of modules need not be the host's.
    """
    failing = list(list_failing(case))
    inside = any(EndKind.CONTAINER in {one.source, one.target} for one in failing)
    return inside and any(Technology.LXC in one.mentions for one in failing)


def find_only_probed(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what says that a program goes on without what it looked for: a warning of its start,
    the next command that a shell echoes behind a warning (`set -x`), or that kube-proxy uses
    another mode than the one that needs IPVS.
    """
    for message in list_quoted(case, finding):
        source = message.span.source
        following = message.span.last_line + 1 - source.first_line
        after = "".join(source.lines[following : following + 1])
        if _CALLED_WARNING.match(message.span.text) and _ECHOED.match(after):
            yield message.span
        if _PROBE.search(message.span.text) or _WARNS.search(message.span.text):
            yield message.span
        elif message.kind is MessageKind.MODULE_NOT_FOUND and _OF_IPVS.search(message.span.text):
            numbered = enumerate(source.lines[:READ], source.first_line)
            yield from (Span(source, at, at) for at, line in numbered if _IN_MODE.search(line))


def find_teardown(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a quoted line of a removal, where all that are quoted are of one."""
    quoted = list_quoted(case, finding)
    lines = {line for one in quoted for line in one.span.source.lines[:READ]}
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


def find_reason_beside(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the failure with a reason that the same output holds, where no quoted line gives
    one.
    """
    quoted = list_quoted(case, finding)
    sources = {message.span.source for message in quoted}
    if not any(_REASONS & message.values.keys() for message in quoted):
        for message in find_said(case, *_WITH_REASON):
            if message.span.source in sources:
                yield message.span


def find_not_loaded(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the error by which a typed restore refuses a file, where the finding is about rules
    that no command listed: they may be the file's, if they are spelled as the restore's are.
    """
    check = find_check(finding.check)
    sorts = frozenset(check.categories if check is not None else ())
    listed = any(span.source.command for span in finding.evidence)
    if listed or not finding.evidence or sorts.isdisjoint(_STOPPING):
        return
    native = any(span.source.format.startswith("nft") for span in finding.evidence)
    for message in find_said(case, MessageKind.IPTABLES_FAILED, MessageKind.RULESET_FILE_REFUSED):
        restore = _RESTORES.search(message.span.source.command or "")
        if restore is not None and restore[0].startswith("nft") is native:
            yield message.span
