"""Sentences of a ticket's prose that say what fails or works, between which ends, and how.

Prose is never evidence of a node's state. It tells which connection is in question: the failing
ones become probes where the evidence shows their ends, and how they fail says which causes fit.
English, by the words that such sentences are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from podpath.evidence.attempts.failures import parse_host
from podpath.evidence.documents.circumstances import find_circumstances, find_prefixes
from podpath.evidence.documents.clauses import Clause, find_elision, split_clauses
from podpath.evidence.documents.ends import (
    HOME,
    Ends,
    find_ends,
    find_ends_elsewhere,
    find_subject,
    has_pronoun,
)
from podpath.evidence.documents.mentions import find_mentions
from podpath.evidence.documents.sentences import list_sentences, list_taken
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Source, Span
from podpath.net.word_file import read_word_file

MOST = 400
"""Sentences that say something: who complains has said it by then."""

SHORTEST = 3
"""Words of which a sentence has more than a label: `Broken interface:` says nothing yet."""
_VERB = (
    r"(?:connect|reach|ping|access|resolve|curl|call|dial|quer|fetch|"
    r"talk|communicat|get|open|contact|work|respond|"
    r"answer|arriv|come|came|load|join|see|look|pass|go|speak|use|send|receiv|find|forward|become|"
    r"became|be used|be reached|be resolved|be opened|"
    r"be established|establish|leave|start|attach|take|show|come up|stay|learn|renew|admit|scrape|"
    r"pull|download|mount|deliver|return|"
    r"finish|end|complete|register|schedule|sync|initiali[sz]e|negotiate|time|stand|ready|able|"
    r"available|visible|make it|makes it)"
)
_NOT = (
    r"(?:can(?:not|'t| not)|could(?:n't| not)|(?:is|are|was|were)(?:n't| not)|unable to|"
    r"(?:does|do|did|will|would|has|have|had)(?:n't| not)|fail(?:s|ed|ing)? to|no longer|never|"
    r"stop(?:s|ped)?|refuses? to|without being able to|hardly|not)"
)
_FAILS = re.compile(
    rf"\b{_NOT} (?:[\w-]+ ){{0,3}}{_VERB}\w*\b|"
    rf"\b(?:no|none|nobody|nothing|neither|hardly any|not one|no one)\b(?: [\w'/-]+){{0,5}} "
    rf"(?:can |could |is |are |has |have |will )?(?:be )?(?:{_VERB}\w*|through|out|back|reached|"
    r"resolved|seen|answered|opened|left|there|in)\b|"
    r"\bonly (?:sometimes|occasionally|at times|now and then|rarely|intermittently)\b|"
    r"\btim(?:es?|ed|ing)[- ]?outs?\b|\btimeouts?\b|\brefus(?:es?|ed|al)\b|\bno route to host\b|"
    r"\bunreachable\b|\binaccessible\b|\bunavailable\b|\bnot reachable\b|\bresets?\b|\bhangs?\b|"
    r"\bhanging\b|\bhung\b|\bstalls?\b|"
    r"\bstuck\b|\bfail(?:s|ed|ing|ures?)?\b|\bl(?:ost|oses?|osing)\b|\bpacket loss\b|"
    r"\bdrop(?:s|ped|ping)\b|\bno (?:longer |such |usable |valid |more )?(?:connection|"
    r"connectivity|response|reply|repl(?:y|ies)|answers?|"
    r"internet|network|"
    r"ssh|access|traffic|lease|address|arp|handshake|packets?|route|carrier|dns)\b|"
    r"\b(?:does|do) not work\b|\bnot working\b|\bwithout (?:internet|network|answers?|"
    r"connectivity)\b|\bbroken\b|\bbreaks?\b|\bbroke\b|"
    r"\bvanish(?:es|ed)?\b|\bdisappear(?:s|ed)?\b|\bsilent\b|\bdead\b|\bdown\b|\bcut off\b|"
    r"\bout of (?:its |their )?reach\b|\bfell off\b|\bgone\b|\bexpires?\b|\bno (?:\w+ ){1,2}"
    r"(?:comes?|arrives?|leaves?|gets?|works?)\b|\bnot permitted\b|\bnot ?ready\b|"
    r"\bcontainercreating\b|\bcrash-?loop\w*|\bcreatecontainererror\b|\bimagepullbackoff\b|"
    r"\bstands? still\b|\boffline\b|\bgoes nowhere\b|\bworked (?:\w+ ){0,2}until\b|"
    r"\bha(?:s|ve) none\b|\binstead[.;,]|\bnothing (?:beyond|else|happens)\b|\bfreez\w+\b|"
    r"\bfroze\b|\bcrash(?:es|ed|ing)?\b|\bpanics?\b|"
    r"\b(?:does|do|did|will|would)(?:n't| not) (?:stream|start|boot|survive|persist|appear|"
    r"show up)\b|\bonly \d+ ?[kmg]b(?:it)?\b|"
    r"\bkeeps? (?:re)?(?:starting|trying|waiting|crashing|asking)\b|\bwaits? for ever\b|"
    r"\bwaits? forever\b|\bstays? (?:in|pending|not|down)\b|"
    r"\bends? after\b|\bquits?\b|\bexits?\b|\bdies?\b|\berrors?\b|\bwrong(?:ly)?\b|\bunstable\b|"
    r"\bflaps?\b|\bflapping\b|\b(?:sessions?|peerings?) (?:[\w-]+ ){0,5}(?:falls?|closes?)\b|"
    r"\bdisturb\w*|\bintermittent(?:ly)?\b|\bslow(?:er|ly)?\b|\bdelay(?:s|ed)\b|"
    r"\bthen (?:no longer|not any ?more|not any longer|never again)\b|"
    r"\b(?:leads?|resolves?|points?) to (?:our|another|the wrong|somebody)\b|"
    r"\b(?:stops?|ends?) after the \w+|\bdownloads? stops?\b|"
    r"\bno more than\b|\bonly \d+ ?%|\bclosed from\b|\bcounts as closed\b|"
    r"\b(?:answers?|answered|returns?|returned|gets?|got|with) (?:a |an |http )*(?:4\d\d|50\d)\b|"
    r"\bhttp 50\d\b|\b50[0234]s?\b|\bbut (?:not|nothing|never|nobody)\b|\b(?:find|resolve|"
    r"reach|open|load|ping|get|see|receive|admit|answer|serve)s? no(?:thing|ne|body)?\b|"
    r"\bno more(?=[.,;:]|$| (?:since|after|when|from)\b)|\bworks? (?:\w+ ){0,2}until\b|"
    r"\binstead of\b|\bin place of\b|\bother addresses\b|\banother address\b|\bstrangers?\b|"
    r"\blands? on\b|"
    r"\bduplicate\w*|\bdecline[sd]?\b|\bunhealthy\b|\bdegraded\b|\bproblems?\b|\bwarns?\b|"
    r"\bincomplete\b|\bunknown\b|\bunresponsive\b|"
    r"\b(?:is|are|was|were|does|do|did|can) not[.;]?$|\bblock(?:s|ed|ing)\b|\bdenied\b|"
    r"\bdisconnect(?:s|ed)?\b|"
    r"\btak(?:es?|ing) (?:[\w-]+ ){0,3}(?:seconds?|minutes?)\b|"
    r"\bonly after (?:[\w-]+ ){0,2}(?:seconds?|minutes?)\b|"
    r"\brestarts? (?:for ?ever|again and again|endlessly|constantly|in a loop|all the time)\b|"
    r"\bfrom (?:another|the other|others?|all others?)\b[^.;,]{0,50} not[.;]?$|"
    r"\b(?:stays?|is|remains?) empty\b|\b(?:sees?|gets?|receives?|shows?) nothing\b|"
    r"\b(?:can |could )?only (?:reach|ping|see|connect|talk|resolve)\w*\b",
    re.IGNORECASE,
)
_WORKS = re.compile(
    r"\bworks?\b|\bworked\b|\bworking\b|\bfine\b|\b(?:is|are) (?:all )?(?:reachable|well|healthy|"
    r"ok)\b|\bsucceeds?\b|\bable to\b|"
    r"\bcan (?:ping|reach|connect|resolve|access|talk|be (?:reached|opened))\b|"
    r"\b(?:pods?|nodes?|hosts?|machines?|containers?|vms?|lan) (?:[\w`-]+ ){0,4}"
    r"resolves? (?:(?:the same |all |any |every |other |both )?names?|it|them|fine|"
    r"with (?:that|the same|this))\b|"
    r"\banswers?\b|\b(?:is|are|was|were) (?:still |all |both |always )?answered\b|"
    r"\bno (?:problem|trouble|failure)s?\b|"
    r"^(?:(?:all|the) )?(?:others?|other \w+|rest) (?:can|do|does)(?=[.,;!]|$)|"
    r"^(?:but )?(?:from|by|over|inside) [^;,]{1,50} (?:it|they) (?:can|do|does|is|are)(?=[.,;!]|$)|"
    r"\bsuccessful(?:ly)?\b|\bgets? through\b|\b(?:reach|ping|see)(?:es|s)? (?:one another|"
    r"each other|the|its|their|it|them)\b",
    re.IGNORECASE,
)


_ONLY = re.compile(r"\b(?:can |could )?only (?:reach|ping|see|connect|talk)\w*\b", re.IGNORECASE)
"""Says that whatever else there is cannot be reached."""
_REACHED = (
    r"(?:accessible|reachable|available|access(?:ed)?|reached|respond\w*|repl(?:y|ies)|work(?:s|ing)?|"
    r"answer(?:s|ing)?|succeed\w*)"
)
_PLACED = r"(?:to (?:requests?|connections?) )?(?:on|from|at|via|inside|within|if|when|to)\b"
_ONLY_THERE = re.compile(
    rf"\b(?:only (?:be )?(?:\w+ ){{0,2}}?{_REACHED}|{_REACHED} (?:\w+ ){{0,2}}?only) {_PLACED}|"
    rf"\bonly {_PLACED} (?:[\w'-]+ ){{1,5}}(?:can|could|does|do|it|i|we)\b(?! (?:not|n't))",
    re.IGNORECASE,
)
"""Says of one place that it works there, and so of all others that it does not."""
_ELLIPSIS = re.compile(
    r"^(?:not|never|no longer)(?: \w+)? (?:from|in|inside|via|through|within|on|for|with)\b",
    re.IGNORECASE,
)
"""A clause that leaves out what the one before it says."""
_OTHERS = re.compile(r"^(?:(?:all|the) )?(?:others?|other \w+|rest) ", re.IGNORECASE)
"""A clause about whoever else does what the one before it speaks of."""
_REACHES = re.compile(
    r"\b(?:reach|get|see|ping|open|resolve|access|connect)(?:e?s)?\b", re.IGNORECASE
)
"""What a clause says of which the next one says that somebody else does not."""
_IS = re.compile(r"is|are", re.IGNORECASE)
"""What says nothing where no clause before it has a verb: `The pods are:`."""
_SUBJECT = re.compile(
    r"[`'\"]?,? (?:(?:itself|then|always|still) )?"
    r"(?:answers?|repl(?:y|ies)|responds?|is|works?|can)\b"
)
"""What follows an address of which a clause says something."""
_DENIAL = re.compile(r"\b(?:no|not|nothing|nobody|none|neither|never)\b", re.IGNORECASE)


class _MeaningWords(NamedTuple):
    """A meaning and the words for it."""

    meaning: str
    pattern: re.Pattern[str]


_FILE = read_word_file("podpath.evidence.documents", "complaints.toml")
_FAILURES: tuple[_MeaningWords, ...] = tuple(
    _MeaningWords(FailureKind[name], re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for name, words in _FILE["rows"]
)
"""The more telling first: of a sentence that says several the first counts."""

_SAME_NODE = re.compile(
    r"\b(?:(?:on|of) the same|same|(?:on|of|from) (?:its|their|the) (?:very )?own) "
    r"(?:node|host|worker|machine|bridge|vm)\b|"
    rf"\blocal pods?\b|{HOME}|"
    r"\b(?:on|of) one (?:node|host|worker|machine)\b[^.;]* (?:each other|one another)\b|"
    r"\b(?:readiness|liveness|startup) (?:probe|check)s?\b|\bprobes? \((?:readiness|liveness)\b",
    re.IGNORECASE,
)
"""The kubelet probes from the node of the pod itself."""
_EVEN_SAME = re.compile(
    r"\beven (?:on|of|from|within) the same (?:node|host|worker|machine)\b", re.IGNORECASE
)
_OTHER_NODE = re.compile(
    r"\b(?:an)?other (?:node|host|worker|machine|vm)s?\b|\bdifferent (?:node|host|worker|machine|"
    r"vm)s?\b|\b(?:cross|inter|multi)[- ]?(?:node|host)\b|\b(?:across|between) "
    r"(?:(?:the|our|my|all|any|both) )?(?:(?:two|three|several|multiple) )?"
    r"(?:node|host|worker|machine)s\b|\b(?:second|third) (?:node|worker|host|vm)\b|"
    r"\b(?:pod|container|vm|replica)s? (?:\w+ ){0,2}?(?:on|of|from|in) "
    r"(?:two|three|several|both|multiple|separate|distinct) (?:\w+ )?"
    r"(?:node|host|worker|machine)s\b|\bnot (?:from |on |to )?(?:the|any) others?"
    r"(?: (?:one|two|three|four|\d+)s?)?$",
    re.IGNORECASE,
)
_NAMED_NODE = re.compile(
    r"\b(?:node|host|worker|machine) [`*\"']*(?P<name>(?=[a-z0-9.-]*[0-9-])[a-z][a-z0-9.-]*"
    r"[a-z0-9])",
    re.IGNORECASE,
)
"""A machine by its name, which holds a digit or a hyphen."""
_PORT = re.compile(
    r"(?:\b|node|host)ports? (\d{1,5})(?:(?:,| and| or)? (\d{1,5}))?|(?:(?:\d{1,3}\.){3}\d{1,3}|\]|"
    r"\b(?!(?:mtu|metric|mask|packets|errors|dropped|overruns|frame|carrier|collisions|txqueuelen|"
    r"bytes):)[a-z][\w.-]*):(\d{2,5})\b(?![:\w]|\.\d)|\b(\d{2,5})/(?:tcp|udp)\b",
    re.IGNORECASE,
)
_URL = re.compile(r"\bhttp(?P<tls>s)?://(?:\d{1,3}\.){3}\d{1,3}(?![\w.:])", re.IGNORECASE)
"""An address without a port behind a scheme, which has one."""
_ADDRESS = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d*/(?=\d))|(?<![\w:])"
    r"(?:[0-9a-fA-F]{1,4}:){2,7}[0-9a-fA-F:]*"
)
_NAME = re.compile(
    (
        r"\b[a-z0-9](?:[a-z0-9-]*\.)+(?:svc|cluster\.local|local|com|org|net|io|default|"
        r"kube-system)\b[\w.-]*"
    ),
    re.IGNORECASE,
)
_WAY = re.compile(
    r"\b(?P<way>(?:answers?|reply|replies|responses?|lease) (?:back )?from|"
    r"from|to|reach|reaches|ping|curl|at|on|into|towards|connect)\b",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"(?<![\w./-])(?P<word>(?=[a-z0-9-]*[0-9-])[a-z][a-z0-9-]*[a-z0-9](?:\.[a-z][a-z0-9-]*)?|"
    r"(?<=pod )[a-z]\w+|(?<=service )[a-z]\w+|(?<=svc )[a-z]\w+|(?<=node )[a-z]\w+)(?![\w/-])"
)
_STARTS = re.compile(r"\bfrom (?:the|my|our|an?|this|that|its?) (?!same\b)[a-z]", re.IGNORECASE)
"""Says of itself who connects, in whatever word for it."""
_GETS_OUT = re.compile(
    r"\b(?:to|reach(?:es)?) (?:the )?(?:internet|outside|world)\b", re.IGNORECASE
)
"""Says of itself what does not work: addresses of another clause are of what does."""
_SPACE = re.compile(
    r"\b(?:in|of|from) (?:the )?(?:namespace|ns) [`'\"]?"
    r"(?P<name>(?!is\b|in\b|of\b|and\b)[a-z][a-z0-9-]+)"
)
_SPOKEN = re.compile(r"[A-Za-z][\w.@-]{2,}\w")
_PROTOCOLS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (protocols.ICMP, re.compile(r"\bping(?:s|ed|ing)?\b|\bicmp\b", re.IGNORECASE)),
    (protocols.UDP, re.compile(r"\budp\b|\bquic\b|\bdatagrams?\b", re.IGNORECASE)),
    (
        protocols.TCP,
        re.compile(r"\btcp\b|\bhttps?\b|\bcurl\b|\bssh\b|\btelnet\b|\btls\b", re.IGNORECASE),
    ),
)


def read_complaints(
    name: str, lines: Sequence[str], sources: Iterable[Source]
) -> tuple[Complaint, ...]:
    """Return what the prose of a document says; `lines` are all of it, `sources` what was taken as
    outputs. Never raises.
    """
    document = Source(name=name, lines=tuple(lines))
    return tuple(
        islice(_read_sentences(document, list_sentences(lines, list_taken(sources))), MOST)
    )


def _read_sentences(
    document: Source, sentences: Iterable[tuple[str, int, int]]
) -> Iterator[Complaint]:
    """Yield what each sentence says, a pronoun being whom the one before it speaks of."""
    subject: EndKind | None = None
    for text, first, last in sentences:
        carried = subject if has_pronoun(text) else None
        yield from _read_sentence(text, Span(document, first, last), carried)
        subject = carried or find_subject(text)


def _read_sentence(text: str, span: Span, carried: EndKind | None) -> Iterator[Complaint]:
    if len(text.split()) < SHORTEST:
        return
    clauses = split_clauses(text, _judge)
    if not clauses:
        complaint = _read_clause(Clause(text, works=not find_fault(text)), text, span, carried)
        yield from () if complaint is None else (complaint,)
        return
    before: Complaint | None = None
    for clause in clauses:
        complaint = _read_clause(clause, text, span, carried)
        if complaint is not None:
            complaint = _take_ends(complaint, before, clause.text)
            carried, before = complaint.source or carried, complaint
            yield complaint


def _take_ends(complaint: Complaint, before: Complaint | None, text: str) -> Complaint:
    """Return what a clause says of the same ends as the one before it, where one is about two nodes
    and the other about one; where it names but the place, it is about the same target.
    """
    if before is not None and complaint.works != before.works and find_elision(text):
        target = before.target if before.source is not None else None
        return replace(complaint, source=complaint.source or complaint.target, target=target)
    if before is None or complaint.target is not None or before.target is None:
        return complaint
    if {before.same_node, complaint.same_node} == {True, False}:
        return replace(complaint, source=before.source, target=before.target)
    if complaint.works and not before.works and _OTHERS.match(text):
        return replace(complaint, source=complaint.source or before.source, target=before.target)
    fault = _FAILS.search(text)
    bare = _ELLIPSIS.match(text) is not None or (fault is not None and not fault.start())
    if bare and complaint.source is not before.target:
        apart = complaint.source is EndKind.NODE and before.works and before.same_node
        same_node = False if apart else complaint.same_node
        return replace(complaint, target=before.target, same_node=same_node)
    return complaint


def find_fault(text: str) -> re.Match[str] | None:
    """Return what says that something fails: in words for it, or by saying where alone it works."""
    return _FAILS.search(text) or _ONLY_THERE.search(text)


def _judge(text: str) -> bool | None:
    """Tell whether a text says that something works, or fails; None where it says neither."""
    if find_fault(text):
        return False
    return True if _WORKS.search(text) else None


def _read_clause(
    clause: Clause, sentence: str, span: Span, carried: EndKind | None
) -> Complaint | None:
    """Return what a clause says. What fails may have its addresses and ports in another clause of
    its sentence.
    """
    text, works = clause
    fails = find_fault(text)
    elided = find_elision(text)
    verb = fails or _WORKS.search(text)
    if text != sentence:
        verb = verb or elided or (_REACHES if works else _DENIAL).search(text)
    elif elided is not None and not _IS.match(elided[0]):
        verb = verb or elided
    if verb is None:
        return None
    ends = find_ends(text, verb, None if _STARTS.search(text) else carried)
    same_node = _find_same_node(text)
    only = None if works else _ONLY.search(text)
    there = None if works or only is not None else _ONLY_THERE.search(text)
    if only is not None:
        ends = Ends(ends.source, ends.source if same_node else EndKind.OUTSIDE)
        same_node = False if same_node else None
    elif there is not None:
        ends = find_ends_elsewhere(text, there)
        same_node = False if same_node else None
    telling = text if fails is not None and elided is None else sentence
    failure = None if works else _find_failure(telling)
    whole = text if works or (clause.text != sentence and _GETS_OUT.search(text)) else sentence
    return Complaint(
        span=span,
        works=works,
        failure=FailureKind.UNREACHABLE if only is not None and failure is None else failure,
        source=ends.source,
        target=ends.target,
        same_node=same_node,
        protocol=_find_protocol(text) or _find_protocol(whole),
        ports=tuple(_find_ports(text)) or tuple(_find_ports(whole)),
        addresses=tuple(_find_addresses(whole)),
        prefixes=tuple(find_prefixes(whole)),
        names=tuple(dict.fromkeys(found.group() for found in _NAME.finditer(whole))),
        sources=tuple(_find_sources(whole, verb)),
        words=frozenset(found["word"] for found in _WORD.finditer(whole)),
        spoken=frozenset(word.lower() for word in _SPOKEN.findall(whole)),
        spaces=frozenset(found["name"] for found in _SPACE.finditer(sentence)),
        mentions=frozenset() if works else find_mentions(sentence),
        circumstances=frozenset(find_circumstances(sentence)),
    )


def _find_same_node(text: str) -> bool | None:
    """Return whether both ends are said to be on one node, or on two; None where nothing is. What
    fails even on one node fails on two.
    """
    if _EVEN_SAME.search(text):
        return False
    if _SAME_NODE.search(text):
        return True
    if _OTHER_NODE.search(text):
        return False
    named = {found["name"] for found in _NAMED_NODE.finditer(text)}
    return False if len(named) > 1 else None


def _find_protocol(text: str) -> int | None:
    return next((number for number, pattern in _PROTOCOLS if pattern.search(text)), None)


def _find_failure(text: str) -> FailureKind | None:
    found = next((words for words in _FAILURES if words.pattern.search(text)), None)
    return FailureKind(found.meaning) if found is not None else None


def _find_ports(text: str) -> Iterator[int]:
    for found in _PORT.finditer(text):
        for group in found.groups():
            if group is not None and 0 < int(group) < 65536:
                yield int(group)
    yield from (443 if found["tls"] else 80 for found in _URL.finditer(text))


def _find_sources(text: str, verb: re.Match[str]) -> Iterator[Address]:
    """Yield the addresses of who connects: behind `from`, or before the verb where others stand
    behind it. A URL's is whom somebody connects to.
    """
    found = [
        (match.start(), address)
        for match in _ADDRESS.finditer(text)
        if (address := parse_host(match.group())) is not None
        and not text.endswith("://", 0, match.start())
    ]
    behind: list[Address] = []
    before: list[Address] = []
    for place, address in found:
        ways = [way["way"].lower() for way in _WAY.finditer(text, 0, place)]
        if ways[-1:] == ["from"]:
            behind += [] if _SUBJECT.match(text, place + len(str(address))) else [address]
        elif not ways and place < verb.start():
            before.append(address)
    later = any(place > verb.start() for place, _ in found)
    yield from behind or (before if later else ())


def _find_addresses(text: str) -> Iterator[Address]:
    """Yield the addresses that a text names; 0.0.0.0 and :: stand for any, and nobody connects to
    them.
    """
    seen: set[Address] = set()
    for found in _ADDRESS.finditer(text):
        address = parse_host(found.group())
        if address is not None and address.value and address not in seen:
            seen.add(address)
            yield address
