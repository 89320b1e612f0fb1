"""Who stands at the ends of what a sentence says, in the words that people have for them.

In `X cannot reach Y` the subject connects; in `Y cannot be reached from X` and `Y is unreachable`
it is who is connected to. A subject that is a pronoun is that of the sentence before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from podpath.net.complaints import EndKind

NEAR = 24
"""Characters behind `to` in which the first end is the one that is meant."""


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
                            r"(?:remote|external|outside) (?:hosts?|servers?|machines?|sites?)|"
                            r"(?<=from )(?:an|any |all |the )?other (?:hosts?|machines?|servers?)|"
                            r"(?:nothing|anything|anywhere|hosts?|everything) "
                            r"(?:outside|beyond|off)|"
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
                            r"workstations|desktops|tablets?|peers?|visitors?|data ?cent(?:er|re)|"
                            r"on[- ]prem(?:ises?)?|(?:corporate|company|office) networks?|"
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
_COMPOUND = re.compile(
    r"\b(?:pod|service|svc|node|host|worker|container)(?='?s? (?:node ?ports?|external[- ]?ips?|"
    r"(?:host|published|exposed) ?ports?)\b)",
    re.IGNORECASE,
)
"""A noun before the one that counts: `the pod NodePort`."""
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
    r"(?:\bun|\bnot |n't |\bno longer |\bnever )(?:reachable|accessible|available|responding|"
    r"responsive)\b|\binaccessible\b|\bout of reach\b|"
    r"\b(?:can(?:not|'t| not)?|could(?:n't| not)?|no longer|never|not) (?:\w+ ){0,3}?be (?:\w+ )?"
    r"(?:reached|opened|pinged|accessed|contacted|used|seen|loaded|connected|scraped|fetched|queried|"
    r"polled|probed|called|resolved|mounted|joined)\b|"
    r"\b(?:can|could) (?:hardly )?be (?:reached|opened|pinged|accessed|contacted|seen|loaded)\b|"
    r"\b(?:does|do|did)(?:n't| not) (?:answer|respond|reply|load)\b|\bnever (?:answers?|responds?|"
    r"repl(?:y|ies)|loads?)\b|\b(?:everything|anything|nothing|all|any)\b[^.,;]*\btimes? out\b|"
    r"\b(?:services?|(?:web ?)?sites?|pages?|ports?|address(?:es)?|servers?|interface|endpoints?) "
    r"(?:\w+ ){0,2}times? out\b",
    re.IGNORECASE,
)
_CONNECTING = frozenset({EndKind.POD, EndKind.CONTAINER, EndKind.GUEST, EndKind.NODE})
_RUN = frozenset({EndKind.POD, EndKind.CONTAINER, EndKind.SERVICE})
_DENIED = re.compile(
    r"\b(?:no|none of (?:the|my|our|its|these|those)|not one|not a single)(?: [\w-]+)? $",
    re.IGNORECASE,
)
_MUTUAL = re.compile(
    r"\b(?:each other|one another)\b|\b(?:communicate|talk)(?! (?:[\w-]+ ){0,2}?(?:with|to)\b)",
    re.IGNORECASE,
)
_BY_MEANS = re.compile(r"\s+(?:by|through|via|using|over)\b", re.IGNORECASE)
"""Whom they reach each other by: `each other by the host's address`."""
_TOWARDS = re.compile(
    r"\b(?:requests?|connections?|traffic|packets?|access|quer(?:y|ies)|calls?|pings?|lookups?|"
    r"connectivity|attempts?|curls?) (?:(?!from\b|to\b)[\w-]+ ){0,2}(?:to|towards|into|against) ",
    re.IGNORECASE,
)
"""Nouns of a connection: `requests to the service fail`."""
_BETWEEN = re.compile(r"\bbetween ", re.IGNORECASE)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_LOCATED = re.compile(
    r"\b(?:in|inside|within|for|via|through|with)(?: (?:the|an?|all|any|some|every|each|most|our|"
    r"my|new|these|those|other|certain))*(?: [\w-]+)? $",
    re.IGNORECASE,
)
"""Where something is tried, in a word for a place: `no Internet in the container`."""
_ON_NODE = re.compile(
    r"\b(?:on|at)(?: (?:the|a|this|that|its|my|our))*(?: [\w-]+)? $", re.IGNORECASE
)
_EVENT = re.compile(r"^(?:after|since|once|following|upon)\b[^,]*,", re.IGNORECASE)
"""A clause that tells when it began: `After I updated the host, ...`."""
_LEFT_OUT = re.compile(
    r"^(?:not|never|no longer)(?: \w+)? (?:from|in|inside|via|through|within|on|for|with) ",
    re.IGNORECASE,
)
"""A clause that says but where it fails: `not from a pod`."""
_RELATION = re.compile(
    r"\b(?P<source>pod|container|node|host|vm)s?[- ]to[- ]"
    r"(?P<target>pod|container|node|host|vm|service)s?\b(?![- ]to\b)",
    re.IGNORECASE,
)
"""Both ends in one word: `pod-to-pod traffic fails`."""
_ELSEWHERE = re.compile(
    r"^(?:(?:an)?other|different|separate|one|two|the same) (?:\w+ )?"
    r"(?:node|host|worker|machine|server|vm)s?\b",
    re.IGNORECASE,
)
_WORKLOAD_BEFORE = re.compile(r"\b(?:pod|container|vm|guest|replica)s? $", re.IGNORECASE)
HOME = (
    r"\b(?:node|host|worker|machine|master)s?,? (?:(?:that|which|where|on which) )?(?:(?:is|are) )?"
    r"(?:(?:the |its |their |a |my )?(?:\w+ )?(?:pods?|containers?|it|they) )?(?:(?:is|are) )?"
    r"(?:running|runs?|hosting|hosts?|scheduled|deployed|located|lives?)\b"
    r"(?! (?:no|not|none|out|on)\b)"
)
"""The node of what is connected to: `the worker where the container runs`."""
_HOME = re.compile(rf"{HOME}(?: (?:the |its |a )?(?:\w+ )?(?:pods?|containers?)\b)?", re.IGNORECASE)
_INSIDE = re.compile(r"\b(?:within|inside|in) (?:the |our |my )?(?:\w+ )?cluster\b", re.IGNORECASE)
_PROBES = re.compile(
    r"\b(?:readiness|liveness|startup) (?:probe|check)s?\b|"
    r"\bprobes? \((?:readiness|liveness|startup)\b",
    re.IGNORECASE,
)
"""What the kubelet asks of the pods of its node."""
_PRONOUN = re.compile(
    r"^(?:(?:yet|now|then|still|since then|today|all|some|most|none|both|neither|nor)\b,? "
    r"(?:of )?)*(?:they|these|those|them|it|itself|(?:nothing|everything|anything) "
    r"(?:else|(?:on|in) (?:the )?other))\b",
    re.IGNORECASE,
)


def find_ends(text: str, verb: re.Match[str], carried: EndKind | None = None) -> Ends:
    """Return who connects and whom to; `carried` is who connects where the text leaves it out."""
    if _PROBES.search(text) is not None:
        return Ends(EndKind.NODE, EndKind.POD)
    related = _RELATION.search(text)
    if related is not None:
        return Ends(find_subject(related["source"]), find_subject(related["target"]))
    mentions = sorted(_mentions(text))
    giving, start = _find_starts(text, verb)
    given = _list_within(text, mentions, giving)
    named = _list_within(text, mentions, start or _LEFT_OUT.match(text))
    left = _drop_event(text, _without(mentions, (*named, *given)), verb)
    source = _first(named)
    aim = _find_aim(text, left, start)
    if named and aim is not None:
        return Ends(source, aim)
    placed = _find_placed(text, verb, left) if not (named or given) else None
    if placed is not None:
        return placed
    passive = _PASSIVE.search(text)
    if passive is not None and passive.start() < verb.end():
        return _find_passive(text, left, passive, source or carried)
    if given:
        return _find_given(text, left, verb, given[0], source or carried)
    source, left = _take_place(text, left, verb, source)
    return _find_active(text, left, verb, source, carried, from_named=start is not None)


def _find_given(
    text: str,
    left: Sequence[_Mention],
    verb: re.Match[str],
    giver: _Mention,
    source: EndKind | None,
) -> Ends:
    """Return the ends of a sentence that says from whom something is to come."""
    placed = _find_beginning(text, left)
    before = _before(_without(left, placed), verb.start())
    if source is None and not before:
        source = _first(placed)
    return Ends(source or _first(_before(before, giver.place)), giver.kind)


def _take_place(
    text: str, left: list[_Mention], verb: re.Match[str], source: EndKind | None
) -> tuple[EndKind | None, list[_Mention]]:
    """Return who connects and the other ends, where a sentence begins with a place: who is there
    connects if nobody else does.
    """
    placed = _find_beginning(text, left)
    others = _without(left, placed)
    before = _before(others, verb.start())
    if source is None and placed and not before:
        return placed[0].kind, others
    return source, others if before else left


def _find_placed(text: str, verb: re.Match[str], left: Sequence[_Mention]) -> Ends | None:
    """Return the ends where a text says on which node it was tried, and nothing else of who
    connects.
    """
    home = _HOME.search(text)
    if home is not None:
        inner = _from(_before(left, home.end()), home.start())
        outer = _without(left, inner)
        held = [one for one in (*outer, *inner) if one.kind is not EndKind.NODE]
        return Ends(EndKind.NODE, _first(held))
    return Ends(left[0].kind, None) if _is_bare(text, verb, left) else None


def _find_starts(
    text: str, verb: re.Match[str]
) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return the word for `from` behind which stands whom one is to get something from, and that
    behind which stands who connects: the last before the verb, else the first behind it.
    """
    found = [one for one in _FROM.finditer(text) if not _is_origin(text, one)]
    giving = [one for one in found if _GETS.search(text, 0, one.start()) is not None]
    others = [one for one in found if one not in giving]
    before = [one for one in others if one.start() < verb.start()]
    start = before[-1] if before else next(iter(others), None)
    return next(iter(giving), None), start


def _is_origin(text: str, start: re.Match[str]) -> bool:
    """Tell whether it says only where somebody runs: `pods from different hosts`."""
    return (
        _WORKLOAD_BEFORE.search(text, 0, start.start()) is not None
        and _ELSEWHERE.match(text[start.end() :]) is not None
    )


def _find_aim(text: str, left: Sequence[_Mention], start: re.Match[str] | None) -> EndKind | None:
    """Return whom `from a pod to a service` is connected to."""
    stop = _FROM_ENDS.search(text, start.end()) if start is not None else None
    if stop is None or stop.group().lower() != "to":
        return None
    return _first(_from(_before(left, stop.end() + NEAR), stop.end()))


def _list_within(
    text: str, mentions: Sequence[_Mention], start: re.Match[str] | None
) -> list[_Mention]:
    """Return the ends of the phrase that a word begins."""
    if start is None:
        return []
    stop = _FROM_ENDS.search(text, start.end())
    end = stop.start() if stop is not None else len(text)
    within = _from(_before(mentions, end), start.end())
    return [*within[:1], *takewhile(lambda one: not _is_apart(text, one), within[1:])]


def _find_beginning(text: str, mentions: Sequence[_Mention]) -> list[_Mention]:
    """Return the place that a sentence begins with: `On the node, ...`; none where it has none."""
    return _list_within(text, mentions, _AT.match(text))[:1]


def _before(mentions: Iterable[_Mention], place: int) -> list[_Mention]:
    return [one for one in mentions if one.place < place]


def _from(mentions: Iterable[_Mention], place: int) -> list[_Mention]:
    return [one for one in mentions if one.place >= place]


def _without(mentions: Iterable[_Mention], others: Collection[_Mention]) -> list[_Mention]:
    return [one for one in mentions if one not in others]


def _first(mentions: Sequence[_Mention]) -> EndKind | None:
    return mentions[0].kind if mentions else None


def _is_apart(text: str, mention: _Mention) -> bool:
    """Tell whether an end begins a thought of its own: `from a pod the service`."""
    return _ANEW.search(text, 0, mention.place) is not None


def _find_passive(
    text: str, left: Sequence[_Mention], verb: re.Match[str], source: EndKind | None
) -> Ends:
    """Return the ends of a sentence whose subject is connected to."""
    placed = _find_beginning(text, left)
    others = _without(left, placed)
    before, after = _before(others, verb.end()), _from(others, verb.end())
    if source is None:
        source = _first(placed)
    if source is None and before and any(one.kind is EndKind.OUTSIDE for one in after):
        source = EndKind.OUTSIDE
    if source is None and _first(before) in _RUN:
        source = _first([one for one in others if _is_at_node(text, one, verb)])
    return Ends(source, _first([*before, *after]))


def _is_at_node(text: str, mention: _Mention, verb: re.Match[str]) -> bool:
    """Tell whether it is the node on which something was tried: `not available on the node`."""
    return (
        mention.kind is EndKind.NODE
        and mention.place >= verb.end()
        and _ON_NODE.search(text, 0, mention.place) is not None
    )


def _is_bare(text: str, verb: re.Match[str], left: Sequence[_Mention]) -> bool:
    """Tell whether a clause names but the place: `hangs on the master`."""
    placed = text[verb.end() :].startswith((" on ", " at "))
    return (
        placed
        and not verb.start()
        and bool(left)
        and left[0].place >= verb.end()
        and left[0].kind in _CONNECTING
    )


def _drop_event(text: str, mentions: Sequence[_Mention], verb: re.Match[str]) -> list[_Mention]:
    """Return the ends without those of a clause that tells when it began, where others follow."""
    event = _EVENT.match(text)
    if event is None or event.end() > verb.start():
        return list(mentions)
    return _from(mentions, event.end()) or list(mentions)


def _find_between(text: str, mentions: Sequence[_Mention]) -> Ends | None:
    """Return both ends of `between pods and services`, or of `between nodes`."""
    found = _BETWEEN.search(text)
    if found is None or _before(mentions, found.start()):
        return None
    within = _list_within(text, mentions, found)
    if not within:
        return None
    one, other = within[0], within[min(1, len(within) - 1)]
    joined = _AND.search(text, one.place, other.place) is not None
    return Ends(one.kind, other.kind if joined else one.kind)


def _is_located(text: str, mention: _Mention) -> bool:
    """Tell whether it says in what something is tried: `no Internet in the container`."""
    return mention.kind in _CONNECTING and _LOCATED.search(text, 0, mention.place) is not None


def find_ends_elsewhere(text: str, there: re.Match[str]) -> Ends:
    """Return the ends of what fails where a sentence says of one place alone that it works: `the
    port answers only from inside the cluster`.
    """
    target = _first(_before(sorted(_mentions(text)), there.end()))
    inside = _INSIDE.search(text, there.start()) is not None
    return Ends(EndKind.OUTSIDE if inside else None, target)


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
    nominal = _find_nominal(text, left, first, verb, source, carried)
    if nominal is not None:
        return nominal
    after = _without(left, first)
    if source is None:
        located = _find_located(text, left, first, after)
        if located is not None:
            return located
        source = _find_head(text, first, verb, after) if first else carried
    mutual = _MUTUAL.search(text, verb.start()) if source is not None else None
    if mutual is not None and (not after or mutual.start() <= verb.end() + NEAR):
        means = _BY_MEANS.match(text, mutual.end())
        return Ends(source, after[0].kind if after and means is not None else source)
    if after:
        return Ends(source, after[0].kind)
    others = [one for one in first if one.kind is not source]
    return Ends(source, _first(others) if from_named else None)


def _find_nominal(
    text: str,
    left: Sequence[_Mention],
    first: Sequence[_Mention],
    verb: re.Match[str],
    source: EndKind | None,
    carried: EndKind | None,
) -> Ends | None:
    """Return the ends where a noun has both: `between pods and services`, `requests to the
    service`.
    """
    between = _find_between(text, left)
    if between is not None and source is None:
        return between
    aims = _list_within(text, first, _TOWARDS.search(text, 0, verb.start()))
    if not aims:
        return None
    senders = [one for one in _without(first, aims) if one.kind in _CONNECTING]
    return Ends(source or _first(senders) or carried, aims[0].kind)


def _find_head(
    text: str, first: Sequence[_Mention], verb: re.Match[str], after: Sequence[_Mention]
) -> EndKind:
    """Return the subject among the ends before the verb."""
    near = text.rfind(";", 0, verb.start())
    heads = [one for one in first if one.place > near and not _is_attribute(text, one)] or first
    return heads[-1].kind if after else heads[0].kind


def _find_located(
    text: str, left: Sequence[_Mention], first: Sequence[_Mention], after: Sequence[_Mention]
) -> Ends | None:
    """Return the ends where a word for a place says who connects: `DNS lookups in pods`, `no
    Internet in the container`.
    """
    inner = [one for one in (first or left) if _is_located(text, one)]
    if not inner:
        return None
    heads = [one for one in (first or left) if not _is_attribute(text, one)]
    if first:
        subject = _first(heads or _without(first, inner))
        apart = not after and subject is not None and subject not in _CONNECTING
        return Ends(inner[0].kind, subject) if apart else None
    return Ends(inner[0].kind, _first(_without(heads, inner)))


def find_subject(text: str) -> EndKind | None:
    """Return whom a sentence speaks of: the first that it mentions."""
    return _first(sorted(_mentions(text)))


def has_pronoun(text: str) -> bool:
    """Tell whether a sentence begins with a word for whom the one before speaks of."""
    return _PRONOUN.match(text) is not None


def _mentions(text: str) -> Iterator[_Mention]:
    """Yield each end that is mentioned with its place; of words that overlap the more telling ones
    count.
    """
    taken: list[tuple[int, int]] = [
        found.span() for one in (_ERRORS, _COMPOUND) for found in one.finditer(text)
    ]
    for words in _ENDS:
        for found in words.pattern.finditer(text):
            if not any(first < found.end() and found.start() < last for first, last in taken):
                taken.append(found.span())
                yield _Mention(found.start(), words.kind)
