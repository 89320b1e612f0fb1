"""Sentences of a ticket's prose that say what fails or works, between which ends, and how.

Prose is never evidence of a node's state. It tells which connection is in question: the failing ones become probes where the
evidence shows their ends, and how they fail says which causes fit. English, by the words that such sentences are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.evidence.attempts.failures import parse_host
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint, End
from podpath.net.failures import FailureKind
from podpath.net.provenance import Source, Span

WIDTH = 2000
"""Characters of a sentence that are looked at."""

_SENTENCE_END = re.compile(r"(?<=[a-z0-9)`'\"][.!?;])\s+(?=[A-Z`\"'(])")
_MARKUP = re.compile(r"`+|\*\*|^\s*(?:[-*+]|\d+[.)])\s+")
_DENIED = (
    r"(?:can(?:not|'t| not)|could(?:n't| not)|(?:is|are|was|were)(?:n't| not)? (?:un)?able to|unable to|"
    r"(?:does|do|did|will|would)(?:n't| not)|fail(?:s|ed|ing)? to|no longer|never|stop(?:s|ped)?|refuses? to|not)"
)
_REACH = (
    r"(?:connect|reach|ping|access|resolve|curl|talk|communicate|get|open|contact|work|respond|answer|arrive|come|"
    r"load|join|see|look up|pass|go|speak|use|send|receive|find|forward)"
)
_FAILS = re.compile(
    rf"\b{_DENIED} (?:\w+ ){{0,2}}{_REACH}\w*\b|\btim(?:es?|ed|ing)[- ]?out\b|\btimeouts?\b|\brefused?\b|\bno route to host\b|"
    r"\bunreachable\b|\binaccessible\b|\bnot reachable\b|\bresets?\b|\bhangs?\b|\bhanging\b|\bstuck\b|\bfail(?:s|ed|ing|ures?)?\b|"
    r"\blost\b|\bpacket loss\b|\bdropped\b|\bno (?:connection|connectivity|response|reply|answer|internet|network)\b|"
    r"\bnothing (?:comes|arrives|gets|answers)\b|\bdoes not work\b|\bnot working\b|\bwithout (?:internet|network|answer)\b|"
    r"\bbroken\b|\bvanish(?:es|ed)?\b|\bsilent\b|\bno \w+ (?:comes?|arrives?)\b",
    re.IGNORECASE,
)
_WORKS = re.compile(
    r"\bworks?\b|\bworked\b|\bworking\b|\bfine\b|\bis reachable\b|\bare reachable\b|\bsucceeds?\b|\bcan (?:ping|reach|connect|"
    r"resolve|access|talk)\b|\banswers?\b|\bno problem\b|\bis ok\b|\bsuccessful(?:ly)?\b",
    re.IGNORECASE,
)


class _Words(NamedTuple):
    """A meaning and the words for it."""

    meaning: str
    pattern: re.Pattern[str]


def _words(meaning: str, pattern: str) -> _Words:
    return _Words(meaning, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE))


_FAILURES: tuple[_Words, ...] = (
    _words(FailureKind.NAME_NOT_RESOLVED, r"resolv(?:e|es|ed|ing)|name resolution|nxdomain|servfail|no such host|dns|look(?:s)? up|"
                                          r"unknown host|lookups?"),
    _words(FailureKind.REFUSED, r"refus(?:es?|ed|al)|econnrefused"),
    _words(FailureKind.NO_ROUTE_TO_HOST, r"no route to host|host (?:is )?unreachable|ehostunreach|host prohibited"),
    _words(FailureKind.NETWORK_UNREACHABLE, r"network (?:is )?unreachable|enetunreach"),
    _words(FailureKind.NOT_PERMITTED, r"not permitted|eperm"),
    _words(FailureKind.HANGS, r"hangs?|hanging|stall(?:s|ed)?|handshake|client hello|freez\w*|large (?:answers?|packets?|files?|"
                              r"responses?|transfers?|requests?)"),
    _words(FailureKind.RESET, r"resets?|rst|broken pipe|closed by"),
    _words(FailureKind.SOMETIMES, r"sometimes|now and then|intermittent(?:ly)?|random(?:ly)?|occasional(?:ly)?|at times|"
                                  r"some of the|every (?:second|third|other)|packet loss|\d+ ?% (?:of|loss)|slow(?:ly)?|delay\w*|"
                                  r"latency|seconds? late"),
    _words(FailureKind.TIMEOUT, r"tim(?:es?|ed|ing)[- ]?out|timeouts?|no (?:answer|response|reply)|nothing (?:comes|arrives|"
                                r"answers|gets)|never (?:arrives?|answers?|comes?)|not answered|lost|dropped|without answer"),
    _words(FailureKind.UNREACHABLE, r"unreachable|not reachable|inaccessible"),
)  # fmt: skip
"""The more telling first: of a sentence that says several the first counts."""

_ENDS: tuple[_Words, ...] = (
    _words(End.NAME_SERVER, r"coredns|kube-?dns|node-?local-?dns|name ?servers?|dns(?: servers?| service)?|resolver"),
    _words(End.API_SERVER, r"api[- ]?server|kube-?apiserver|kubernetes (?:service|api)|control[- ]plane|10\.96\.0\.1"),
    _words(End.NODE_PORT, r"node ?ports?|host ?ports?|published ports?|port mappings?"),
    _words(End.LOAD_BALANCER, r"load ?balancers?|external[- ]?ips?|metallb|ingress|virtual ip|vip"),
    _words(End.SERVICE, r"services?|cluster[- ]?ips?|service (?:ip|address)(?:es)?|svc"),
    _words(End.POD, r"pods?|daemon ?sets?|deployments?|sidecars?|replicas?"),
    _words(End.CONTAINER, r"containers?|docker0"),
    _words(End.GUEST, r"vms?|virtual machines?|guests?|instances?|droplets?"),
    _words(End.OUTSIDE, r"internet|outside(?: world)?|external(?:ly)?|public (?:address|ip|internet|sites?)|world|lan|"
                        r"local network|home network|(?:web ?)?sites?|clients?|browsers?|other machines?|github|google"),
    _words(End.NODE, r"nodes?|hosts?|machines?|servers?|workers?|masters?|laptop|computer|notebook"),
)  # fmt: skip
_SAME_NODE = re.compile(r"\b(?:(?:on|of) the same|same) (?:node|host|worker|machine|bridge|vm)\b|\blocal pods?\b", re.IGNORECASE)
_OTHER_NODE = re.compile(
    r"\b(?:an)?other (?:node|host|worker|machine|vm)s?\b|\bdifferent (?:node|host|worker|machine|vm)s?\b|\bcross[- ]node\b|"
    r"\bacross (?:the )?(?:node|host)s\b|\bbetween (?:the )?(?:two )?(?:node|host|worker)s\b|\b(?:second|third) (?:node|worker|host|vm)\b",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom(?: (?:inside|within))? ", re.IGNORECASE)
_TO = re.compile(r"\b(?:to|on|at|of|into|towards|via|through) ", re.IGNORECASE)
_PORT = re.compile(
    r"\bports? (\d{1,5})(?:(?:,| and| or)? (\d{1,5}))?|(?<=[\d\w\]]):(\d{2,5})\b|\b(\d{2,5})/(?:tcp|udp)\b", re.IGNORECASE
)
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d*/)|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,7}[0-9a-fA-F:]*")
_NAME = re.compile(
    r"\b[a-z0-9](?:[a-z0-9-]*\.)+(?:svc|cluster\.local|local|com|org|net|io|default|kube-system)\b[\w.-]*", re.IGNORECASE
)
_PROTOCOLS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (protocols.ICMP, re.compile(r"\bping(?:s|ed|ing)?\b|\bicmp\b", re.IGNORECASE)),
    (protocols.UDP, re.compile(r"\budp\b|\bquic\b|\bdatagrams?\b", re.IGNORECASE)),
    (protocols.TCP, re.compile(r"\btcp\b|\bhttps?\b|\bcurl\b|\bssh\b|\btelnet\b|\btls\b", re.IGNORECASE)),
)


def read_complaints(name: str, lines: Sequence[str], sources: Iterable[Source]) -> tuple[Complaint, ...]:
    """Return what the prose of a document says; `lines` are all of it, `sources` what was taken as outputs. Never raises."""
    taken: set[int] = set()
    for source in sources:
        taken.update(range(source.first_line, source.first_line + len(source.lines)))
    document = Source(name=name, lines=tuple(lines))
    complaints = (_read_sentence(text, Span(document, first, last)) for text, first, last in _sentences(lines, taken))
    return tuple(complaint for complaint in complaints if complaint is not None)


def _sentences(lines: Sequence[str], taken: set[int]) -> Iterator[tuple[str, int, int]]:
    """Yield the sentences of the lines that no output took, each with the numbers of its first and last line."""
    paragraph: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        text = _MARKUP.sub("", line).strip()
        if number in taken or not text or text.startswith(("#", "|", "```", "~~~")):
            yield from _split(paragraph)
            paragraph = []
        else:
            paragraph.append((number, text))
    yield from _split(paragraph)


def _split(paragraph: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int, int]]:
    """Split a paragraph where a sentence ends, keeping the lines that each stands on."""
    words: list[str] = []
    first = 0
    for number, text in paragraph:
        for place, part in enumerate(_SENTENCE_END.split(text)):
            if place and words:
                yield " ".join(words)[:WIDTH], first, number
                words = []
            if not words:
                first = number
            words.append(part)
    if words:
        yield " ".join(words)[:WIDTH], first, paragraph[-1][0]


def _read_sentence(text: str, span: Span) -> Complaint | None:
    fails = _FAILS.search(text)
    works = _WORKS.search(text)
    if fails is None and works is None:
        return None
    verb = fails if fails is not None else works
    assert verb is not None  # one of the two was found
    source, target = _find_ends(text, verb)
    return Complaint(
        span=span,
        works=fails is None,
        failure=_find_failure(text) if fails is not None else None,
        source=source,
        target=target,
        same_node=True if _SAME_NODE.search(text) else False if _OTHER_NODE.search(text) else None,
        protocol=next((number for number, pattern in _PROTOCOLS if pattern.search(text)), None),
        ports=tuple(_find_ports(text)),
        addresses=tuple(_find_addresses(text)),
        names=tuple(dict.fromkeys(found.group() for found in _NAME.finditer(text))),
    )


def _find_failure(text: str) -> FailureKind | None:
    found = next((words for words in _FAILURES if words.pattern.search(text)), None)
    return FailureKind(found.meaning) if found is not None else None


def _find_ends(text: str, verb: re.Match[str]) -> tuple[End | None, End | None]:
    """Return who connects and whom to: what stands behind `from`, else before the verb; what stands behind `to` and the verb."""
    mentions = sorted(_mentions(text))
    start = _FROM.search(text)
    source = next((end for place, end in mentions if start is not None and place >= start.end()), None)
    left = [(place, end) for place, end in mentions if start is None or place < start.start() or end is not source]
    if source is None:
        before = [end for place, end in left if place < verb.start()]
        source = before[-1] if before and _has_target(left, verb) else before[0] if before else None
    after = [
        end for place, end in left if place >= verb.start() and (start is None or place < start.start() or end is not source)
    ]
    if after:
        return source, after[0]
    before = [end for place, end in left if place < verb.start() and end is not source]
    return source, before[0] if before and start is not None else None


def _has_target(mentions: Sequence[tuple[int, End]], verb: re.Match[str]) -> bool:
    return any(place >= verb.start() for place, _ in mentions)


def _mentions(text: str) -> Iterator[tuple[int, End]]:
    """Yield each end that is mentioned with its place; of words that overlap the more telling ones count."""
    taken: list[tuple[int, int]] = []
    for words in _ENDS:
        for found in words.pattern.finditer(text):
            if not any(first < found.end() and found.start() < last for first, last in taken):
                taken.append(found.span())
                yield found.start(), End(words.meaning)


def _find_ports(text: str) -> Iterator[int]:
    for found in _PORT.finditer(text):
        for group in found.groups():
            if group is not None and 0 < int(group) < 65536:
                yield int(group)


def _find_addresses(text: str) -> Iterator[Address]:
    seen: set[Address] = set()
    for found in _ADDRESS.finditer(text):
        address = parse_host(found.group())
        if address is not None and address not in seen:
            seen.add(address)
            yield address
