"""Who stands at the ends of what a sentence says, in the words that people have for them.

In `X cannot reach Y` the subject connects; in `Y cannot be reached from X` and `Y is unreachable`
it is who is connected to. A subject that is a pronoun is that of the sentence before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.net.complaints import EndKind


class _EndWords(NamedTuple):
    """A sort of end and the words for it."""

    kind: EndKind
    pattern: re.Pattern[str]


class _Mention(NamedTuple):
    """An end where it is mentioned."""

    place: int
    kind: EndKind


class Ends(NamedTuple):
    """Who connects, and whom to, as far as a text says."""

    source: EndKind | None
    target: EndKind | None


def _words(kind: EndKind, pattern: str) -> _EndWords:
    return _EndWords(kind, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE))


_ENDS: tuple[_EndWords, ...] = (
    _words(EndKind.OUTSIDE, r"(?:hosts?|machines?|computers?|clients?|devices?|boxes|servers?|"
                            r"everything|networks?|subnets?|pcs?) behind (?:it|this|that|the|my|"
                            r"our)|(?:machines?|hosts?|servers?|instances?|computers?) (?:of|in|"
                            r"on) (?:the|our|a|my) (?:\w+ )?(?:subnets?|networks?|lab|office)|"
                            r"(?:hosts?|servers?|machines?|address(?:es)?) (?:on|in|of) the "
                            r"(?:internet|outside|world)|"
                            r"other (?:computers?|pcs?|laptops?|devices?)|"
                            r"(?<=from )(?:an|any |all |the )?other (?:hosts?|machines?|servers?)|"
                            r"(?:nothing|anything|anywhere|hosts?|everything) (?:outside|beyond)|"
                            r"(?:no|any)where else|^nothing else(?=[.,; ]*$)|"
                            r"beyond (?:it|that|them|"
                            r"(?:the|this|its|their|my|our) (?:own )?\w+)|rest of the (?:world|"
                            r"network|internet)|8\.8\.[84]\.[84]|1\.1\.1\.1|9\.9\.9\.9"),
    _words(EndKind.NODE_PORT, r"(?:published|exposed|forwarded|mapped) (?:\w+ )?(?:ports?|"
                              r"(?:web ?)?sites?|services?|apps?|applications?|containers?)|"
                              r"node ?ports?|host ?ports?|port mappings?"),
    _words(EndKind.NAME_SERVER, r"coredns|kube-?dns|node-?local-?dns|name ?servers?|"
                                r"dns(?: servers?| service)?|resolver"),
    _words(EndKind.API_SERVER, r"api[- ]?server|kube-?apiserver|kubernetes (?:service|api)|"
                               r"control[- ]plane|10\.96\.0\.1"),
    _words(EndKind.LOAD_BALANCER, r"load ?balancers?|external[- ]?ips?|metallb|ingress|virtual ip|"
                                  r"vip"),
    _words(EndKind.SERVICE, r"services?|cluster[- ]?ips?|service (?:ip|address)(?:es)?|svc"),
    _words(EndKind.POD, r"pods?|daemon ?sets?|deployments?|sidecars?|replicas?"),
    _words(EndKind.CONTAINER, r"containers?|docker0|jails?"),
    _words(EndKind.GUEST, r"vms?|virtual machines?|guests?|instances?|droplets?"),
    _words(EndKind.OUTSIDE, r"internet|outside(?: world)?|external(?:ly)?|public (?:address|ip|"
                            r"internet|sites?)|world|lan|local network|home network|"
                            r"web ?pages?|the web(?! \w)|(?:web ?)?sites?|clients?|browsers?|"
                            r"other machines?|github|google|computers|laptops|phones?|pcs|"
                            r"workstations|desktops|tablets?|peers?|visitors?|"
                            r"users|colleagues"),
    _words(EndKind.NODE, r"nodes?|hosts?|machines?|servers?|workers?|masters?|laptop|computer|"
                         r"notebook|box"),
)  # fmt: skip
_ERRORS = re.compile(
    r"no route to (?:the )?host|\bhost (?:unreachable|prohibited|down)|no such host|unknown host|"
    r"name or service not known|service unavailable|\bservice not known",
    re.IGNORECASE,
)
"""What programs say of errors: it mentions no end."""
_FROM = re.compile(
    r"\b(?:from(?: (?:inside|within))?|inside|within|only (?:in|on|for)) ", re.IGNORECASE
)
_AT = re.compile(
    r"^(?:in|on) (?:the|an?|any|all|my|our|every|each|some|one|other|both) ", re.IGNORECASE
)
"""Where a sentence places itself: who connects, where nobody else does."""
_GETS = re.compile(
    r"\b(?:(?:no|an|any|get|gets|got|the|receives?|without) (?:\w+ ){0,2}(?:answers?|responses?|"
    r"repl(?:y|ies)|leases?|address(?:es)?|offers?)|pull\w*|download\w*|fetch\w*|hears?)"
    r"(?: [\w]+){0,2} $",
    re.IGNORECASE,
)
"""What one gets from somebody: whom the word `from` names then is connected to."""
_BESIDE = re.compile(r"\b(?:on|of|at|behind|under)(?: [\w-]+){0,3} $", re.IGNORECASE)
_ANEW = re.compile(
    r"(?<!\bon)(?<!\bof)(?<!\bat)(?<!\bin)(?<!\bwith)(?<!\band)(?<!\bor)(?<!\bbehind)"
    r"(?<!\bthrough)(?<!\bwithin)(?<!\binside)(?<!\bunder) (?:the|our|my|this|any|every|each) $",
    re.IGNORECASE,
)
_FROM_ENDS = re.compile(
    r"[,:;)]|(?<=outside) (?=(?:the|an?|my|our|this) )|"
    r"\b(?:to|i|we|you|they|it|can|cannot|could|is|are|was|were|does|do|no|nothing|nobody)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\b(?:un|not |no longer |never )reachable\b|\binaccessible\b|\bout of reach\b|"
    r"\b(?:can(?:not|'t| not)?|could(?:n't| not)?|no longer|never|not) (?:\w+ ){0,3}?be (?:\w+ )?"
    r"(?:reached|opened|pinged|accessed|contacted|used|seen|loaded|connected)\b|"
    r"\b(?:can|could) (?:hardly )?be (?:reached|opened|pinged|accessed|contacted|seen|loaded)\b|"
    r"\b(?:does|do|did)(?:n't| not) (?:answer|respond|reply|load)\b|\bnever (?:answers?|responds?|"
    r"repl(?:y|ies)|loads?)\b|\b(?:everything|anything|nothing|all|any)\b[^.,;]*\btimes? out\b|"
    r"\b(?:services?|(?:web ?)?sites?|pages?|ports?|address(?:es)?|servers?|interface|endpoints?) "
    r"(?:\w+ ){0,2}times? out\b",
    re.IGNORECASE,
)
_CONNECTING = frozenset({EndKind.POD, EndKind.CONTAINER, EndKind.GUEST, EndKind.NODE})
_DENIED = re.compile(
    r"\b(?:no|none of (?:the|my|our|its|these|those)|not one|not a single)(?: [\w-]+)? $",
    re.IGNORECASE,
)
_MUTUAL = re.compile(r"\b(?:each other|one another)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:(?:yet|now|then|still|since then|today|all|some|most|none|both|neither|nor)\b,? "
    r"(?:of )?)*(?:they|these|those|them|it|itself|(?:nothing|everything|anything) "
    r"(?:else|(?:on|in) (?:the )?other))\b",
    re.IGNORECASE,
)


def find_ends(text: str, verb: re.Match[str], carried: EndKind | None = None) -> Ends:
    """Return who connects and whom to; `carried` is who connects where the text leaves it out."""
    mentions = sorted(_mentions(text))
    giving, start = _find_starts(text, verb)
    given = _list_within(text, mentions, giving)
    named = _list_within(text, mentions, start)
    left = [one for one in mentions if one not in (*named, *given)]
    source = named[0].kind if named else None
    passive = _PASSIVE.search(text)
    if passive is not None and passive.start() <= verb.start():
        return _find_passive(text, left, passive, source or carried)
    placed = _list_within(text, left, _AT.match(text))[:1]
    before = [one for one in left if one.place < verb.start() and one not in placed]
    if source is None and placed and not before:
        source, left = placed[0].kind, [one for one in left if one not in placed]
    elif before:
        left = [one for one in left if one not in placed]
    if given:
        before = [one for one in before if one.place < given[0].place]
        source = source or (before[0].kind if before else carried)
        return Ends(source, given[0].kind)
    return _find_active(text, left, verb, source, carried, from_named=start is not None)


def _find_starts(
    text: str, verb: re.Match[str]
) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return the word for `from` behind which stands whom one is to get something from, and that
    behind which stands who connects: the last before the verb, else the first behind it.
    """
    found = list(_FROM.finditer(text))
    giving = [one for one in found if _GETS.search(text, 0, one.start()) is not None]
    others = [one for one in found if one not in giving]
    before = [one for one in others if one.start() < verb.start()]
    start = before[-1] if before else next(iter(others), None)
    return next(iter(giving), None), start


def _list_within(
    text: str, mentions: Sequence[_Mention], start: re.Match[str] | None
) -> list[_Mention]:
    """Return the ends of the phrase that a word begins."""
    if start is None:
        return []
    stop = _FROM_ENDS.search(text, start.end())
    end = stop.start() if stop is not None else len(text)
    within = [one for one in mentions if start.end() <= one.place < end]
    apart = [place for place, one in enumerate(within) if place and _is_apart(text, one)]
    return within[: apart[0]] if apart else within


def _is_apart(text: str, mention: _Mention) -> bool:
    """Tell whether an end begins a thought of its own: `from a pod the service`."""
    return _ANEW.search(text, 0, mention.place) is not None


def _find_passive(
    text: str, left: Sequence[_Mention], verb: re.Match[str], source: EndKind | None
) -> Ends:
    """Return the ends of a sentence whose subject is connected to."""
    placed = _list_within(text, left, _AT.match(text))[:1]
    if source is None and placed:
        source = placed[0].kind
    others = [one for one in left if one not in placed]
    before = [one.kind for one in others if one.place < verb.end()]
    after = [one.kind for one in others if one.place >= verb.end()]
    if source is None and before and EndKind.OUTSIDE in after:
        source = EndKind.OUTSIDE
    return Ends(source, next(iter((*before, *after)), None))


def _is_attribute(text: str, mention: _Mention) -> bool:
    """Tell whether it says where another one is: `the guests on our host`."""
    return _BESIDE.search(text, 0, mention.place) is not None


def _is_denied(text: str, mention: _Mention, verb: re.Match[str]) -> bool:
    """Tell whether it is the subject of a denial: `no container gets out`."""
    return (
        mention.kind in _CONNECTING
        and verb.start() <= mention.place < verb.end()
        and " " in text[mention.place : verb.end()]
        and _DENIED.search(text, 0, mention.place) is not None
    )


def _find_active(
    text: str,
    left: Sequence[_Mention],
    verb: re.Match[str],
    source: EndKind | None,
    carried: EndKind | None,
    *,
    from_named: bool,
) -> Ends:
    """Return the ends of a sentence whose subject connects: what stands behind `from`, else before
    the verb; and what stands behind the verb.
    """
    first = [one for one in left if one.place < verb.start() or _is_denied(text, one, verb)]
    before = [one.kind for one in first]
    after = [one.kind for one in left if one.place >= verb.start() and one not in first]
    if source is None and before:
        near = text.rfind(";", 0, verb.start())
        heads = [
            one.kind for one in first if one.place > near and not _is_attribute(text, one)
        ] or before
        source = heads[-1] if after else heads[0]
    source = source or carried
    if after:
        return Ends(source, after[0])
    if source is not None and _MUTUAL.search(text, verb.start()) is not None:
        return Ends(source, source)
    others = [kind for kind in before if kind is not source]
    return Ends(source, others[0] if others and from_named else None)


def find_subject(text: str) -> EndKind | None:
    """Return whom a sentence speaks of: the first that it mentions."""
    mentions = sorted(_mentions(text))
    return mentions[0].kind if mentions else None


def has_pronoun(text: str) -> bool:
    """Tell whether a sentence begins with a word for whom the one before speaks of."""
    return _PRONOUN.match(text) is not None


def _mentions(text: str) -> Iterator[_Mention]:
    """Yield each end that is mentioned with its place; of words that overlap the more telling ones
    count.
    """
    taken: list[tuple[int, int]] = [found.span() for found in _ERRORS.finditer(text)]
    for words in _ENDS:
        for found in words.pattern.finditer(text):
            if not any(first < found.end() and found.start() < last for first, last in taken):
                taken.append(found.span())
                yield _Mention(found.start(), words.kind)
