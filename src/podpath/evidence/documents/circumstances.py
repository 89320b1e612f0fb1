"""What the prose of a ticket tells beside the failure itself, taken from its sentences: when it
begins, what helps, and what the host is for.

No sentence is known as a whole. A circumstance is a row of words: who, what is done or is so, and
how these stand to each other; each of them is a set of words that people use for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.evidence.documents.sentences import list_sentences, list_taken
from podpath.net.addresses import Prefix
from podpath.net.complaints import Circumstance, Told
from podpath.net.provenance import Source, Span

_WORKLOAD = (
    r"(?:(?:docker |podman |compose |lx[cd] )?"
    r"(?:containers?|pods?|stacks?|projects?|guests?|vms?|compose|sandbox(?:es)?))"
)
_MACHINE = (
    r"(?:machines?|hosts?|nodes?|vms?|guests?|clients?|computers?|devices?|networks?|lan|subnets?|"
    r"servers?|phones?|laptops?|workstations?|boxes|boards?|containers?|printers?|cameras?)"
)
_GATEWAY = (
    r"(?:router|gateway|firewall|bastion|jump ?(?:host|box)|nat (?:box|host|instance)|"
    r"vpn (?:server|host))"
)
_WHEN = (
    r"(?:when(?:ever)?|(?:each|every) time|as soon as|after|once|upon|the moment|until|while|by|on|"
    r"if)"
)
_MADE = (
    r"(?:(?:re)?(?:start|creat|launch|deploy|spawn|boot)\w*|stop\w*|remov\w*|delet\w*|exit\w*|"
    r"brought up|com(?:es?|ing) up|(?:goes|going) (?:up|down))"
)
_ANY = r"(?:(?:an?|any|another|the|some|one|new|other|each|every|first|second|of|my|our|its) ){0,3}"
_HELPS = (
    r"(?:works?|worked|helps?|helped|cures?|cured|fix(?:es|ed)|mends?|succeeds?|succeeded|"
    r"goes through|loads? (?:fine|cleanly|without)|(?:is|are|was) fine|no (?:error|problem)s?)"
)
_SAME = r"(?:the same|it|this|that|the (?:script|command|rules?|file|restore|ruleset))"
_BY_HAND = r"(?:by hand|manually|afterwards|later(?: on)?|once more)"
_TRANSLATES = (
    r"(?:dnat\w*|redirect\w*|translat\w*|rewrit\w*|nat(?:s|ted|ting)?|nat rules?|forward\w*|map\w*)"
)
_LOOPBACK = r"(?:127\.\d+\.\d+\.\d+|localhost|loopback)(?::\d+)?"
_OFFERED = r"(?:ports?|sites?|web ?sites?|services?|apps?|containers?)"
_SEVERAL = r"(?:two|both|second|2nd|several|multiple)"
_UPLINK = r"(?:uplinks?|default (?:routes?|gateways?)|gateways?|providers?|network cards?|nics?)"
_COMES, _LEAVES = (
    r"(?:comes?|came|arrives?|enters?)",
    r"(?:leaves?|goes?|answers?|repl(?:y|ies)|returns?)",
)
_VPN = r"(?:wireguard|openvpn|vpn|ipsec|strongswan|tailscale|headscale|l2tp|pptp|ikev2)"
_BACK = r"(?:route|way|path)s?(?: back)? (?:to|for|towards)"
_OWN_HOST = (
    r"(?:its|their|the|my|our|this)(?: own| docker| very| same)? (?:host|node|machine|server|"
    r"hypervisor)(?: itself| machine)?"
)
_CANNOT = r"(?:can(?:not|'t| not)|could(?: not|n't)|is unable to|are unable to|fails? to|nor can)"
_REACH = r"(?:ping|reach|connect to|access|curl|contact|talk to|see|open)"
_ITS_OWN = (
    r"(?:it|them|(?:its|the|their|those|these|any|my|our)(?: own| of its)? (?:docker )?"
    r"(?:containers?|pods?|guests?|vms?))"
)
_CAPTURE = r"(?:tcpdump|captur(?:e|es|ing)|wireshark|sniff(?:er|ing|s)?|promiscuous)"
_BALANCER = r"(?:balancer|vip|elb|nlb|slb|clb|f5)(?:'s)?"
_SENT = r"(?:come|sent|arrive|originate|made|source)s?"
_GAP, _FAR = r"[^.;:]{0,40}?", r"[^.;:]{0,80}?"

_ROWS: tuple[tuple[Circumstance, str], ...] = (
    (Circumstance.AT_CONTAINER_START, rf"{_WHEN}\b{_GAP}\b{_WORKLOAD}\b{_GAP}\b{_MADE}"),
    (Circumstance.AT_CONTAINER_START, rf"{_MADE} {_ANY}{_WORKLOAD}"),
    (
        Circumstance.AT_CONTAINER_START,
        r"(?:docker|podman|nerdctl)(?:[- ]compose)? (?:up|down|run|start|stop|restart)",
    ),
    (Circumstance.BY_HAND, rf"{_SAME}\b{_GAP}\b{_BY_HAND}\b{_GAP}\b{_HELPS}"),
    (Circumstance.BY_HAND, rf"{_BY_HAND}\b{_GAP}\b{_SAME}\b{_GAP}\b{_HELPS}"),
    (Circumstance.BY_HAND, rf"{_SAME}\b{_GAP}\b{_HELPS}\b{_GAP}\b{_BY_HAND}"),
    (Circumstance.ROUTES_FOR_OTHERS, rf"{_MACHINE}\b{_GAP}\bbehind (?:it|this|that|the|my|our|a)"),
    (
        Circumstance.ROUTES_FOR_OTHERS,
        rf"(?:is|as|be|being) (?:the |a |an |our |their |its |my )?(?:\w+ )?{_GATEWAY}",
    ),
    (Circumstance.ROUTES_FOR_OTHERS, rf"{_GATEWAY} (?:for|of) (?:\w+ ){{0,3}}{_MACHINE}"),
    (
        Circumstance.ROUTES_FOR_OTHERS,
        (
            rf"{_MACHINE}\b{_GAP}\b(?:through|via|over) (?:it|th(?:is|e) (?:host|box|machine|"
            rf"server|{_GATEWAY}))"
        ),
    ),
    (
        Circumstance.ROUTES_FOR_OTHERS,
        r"shar(?:es?|ing) (?:its|the|an?|my|our) (?:\w+ ){0,2}(?:connection|internet|uplink)",
    ),
    (Circumstance.ROUTES_FOR_OTHERS, r"nat (?:instance|gateway|box|router|host)"),
    (
        Circumstance.SOURCE_CHANGED,
        (
            r"(?:sees?|saw|with|from|has|have|shows?) (?:only )?(?:the |our |its )?(?:node|host|"
            r"gateway|router|firewall|server|bridge)'s (?:own )?(?:address|ip)"
        ),
    ),
    (
        Circumstance.SOURCE_CHANGED,
        (
            r"(?:sources?|source address(?:es)?|they) (?:is|are|gets?) (?:rewritten|changed|"
            r"replaced|translated|natted|masqueraded)"
        ),
    ),
    (Circumstance.OUTGOING, r"outgoing|outbound|out-?going|egress"),
    (
        Circumstance.OUTGOING,
        (
            rf"(?:host|server|machine|box|node|it)\b (?:can(?:not|'t)|could not|is unable to|"
            rf"fails? to|does not) (?:\w+ )?(?:reach|connect|open|send|contact|talk)\b{_GAP}"
            rf"\bports?\b{_GAP}\b"
            r"(?:of|on|at) (?!it\b|the (?:host|server|node|machine)\b)"
        ),
    ),
    (
        Circumstance.SERVES_VPN,
        rf"{_VPN} (?:\w+ )?(?:server|hub|gateway|exit node|concentrator|router)",
    ),
    (Circumstance.SERVES_VPN, rf"(?:subnet router|exit node)\b{_GAP}\b{_VPN}"),
    (Circumstance.PUBLISHES, rf"(?:published|exposed|mapped)\b{_GAP}\b(?:{_OFFERED}|on the host)"),
    (Circumstance.PUBLISHES, rf"{_OFFERED}\b{_GAP}\b(?:publish(?:es|ed)|exposed|mapped)"),
    (Circumstance.PUBLISHES, r"host ?ports?|port mappings?|publish(?:es|ed)? (?:\w+ ){0,3}ports?"),
    (Circumstance.PUBLISHES, r"p (?:[\d.]+:)?\d+:\d+"),
    (Circumstance.TO_LOOPBACK, rf"{_TRANSLATES}\b{_FAR}\b{_LOOPBACK}"),
    (Circumstance.TO_LOOPBACK, rf"{_LOOPBACK}\b{_GAP}\b(?:dnat|redirect\w*|nat rules?|prerouting)"),
    (Circumstance.FORWARD_DROPS, rf"forward\b{_GAP}\b(?:drop|deny|denied|reject)(?:s|ped|ping)?"),
    (
        Circumstance.FORWARD_DROPS,
        rf"(?:drop|deny|reject)(?:s|ped|ping)?\b{_GAP}\b(?:forward(?:ed|ing)?|routed)",
    ),
    (Circumstance.SEVERAL_WAYS, rf"{_SEVERAL} (?:\w+ ){{0,2}}{_UPLINK}"),
    (
        Circumstance.SEVERAL_WAYS,
        r"policy[- ](?:based )?rout\w+|multi-?homed|fwmark\w*",
    ),
    (
        Circumstance.RETURNS_ELSEWHERE,
        rf"{_COMES}\b{_GAP}\b{_LEAVES}\b{_GAP}\b(?:other|another|different|through|by)",
    ),
    (
        Circumstance.RETURNS_ELSEWHERE,
        (
            rf"{_BACK}\b{_GAP}\b(?:is|goes|leads?|points?|leaves?|runs?)\b{_GAP}\b(?:other|another|"
            r"different|by|via|through|out)"
        ),
    ),
    (Circumstance.RETURNS_ELSEWHERE, r"asymmetric\w*"),
    (Circumstance.SEVERAL_WAYS, r"vpn|wireguard|wg\d|tun\d|direct server return"),
    (Circumstance.MARTIANS, r"martians?"),
    (Circumstance.BRIDGED, rf"{_MACHINE}\b{_GAP}\b(?:are|is|were|was|being) bridged"),
    (Circumstance.BRIDGED, rf"bridged (?:\w+ ){{0,2}}{_MACHINE}"),
    (Circumstance.BRIDGED, rf"{_MACHINE}\b{_GAP}\b(?:on|by|over|through) (?:the |a )?bridge"),
    (Circumstance.BRIDGED, rf"{_MACHINE}\b{_GAP}\b(?:on|by|over|through) (?:the )?br\d\b"),
    (
        Circumstance.ON_ONE_BRIDGE,
        r"(?:same|one|single|shared) (?:\w+ )?(?:bridge|docker network|compose network|network)",
    ),
    (Circumstance.ON_ONE_BRIDGE, r"(?:on|of|to) (?:the )?(?:docker0|cni0|br0|virbr0)"),
    (
        Circumstance.TO_ITSELF,
        (
            r"(?:reach|connect to|ping|call|ask|access|contact|talk to|curl|use) (?:\w+ ){0,2}?"
            r"(?:itself|themselves|(?:its|their) own (?:\w+ ){0,2}(?:service|address|name|ip|"
            r"cluster ?ip|published port))"
        ),
    ),
    (
        Circumstance.AT_RECEIVER,
        (
            r"(?:arrives?|comes? in|is received|shows up) (?:\w+ ){0,3}(?:at|on|by) (?:the |that "
            r"|its )?(?:other|second|far|receiving|remote|target|pod'?s|server'?s)"
        ),
    ),
    (
        Circumstance.AT_RECEIVER,
        r"(?:at|on) (?:the |its )?(?:receiv(?:er|ing \w+)|destination(?: node| host)?|far end)",
    ),
    (
        Circumstance.WITH_OWN_HOST,
        rf"{_OWN_HOST}\b{_GAP}\b{_CANNOT} (?:\w+ )?{_REACH} {_ITS_OWN}",
    ),
    (
        Circumstance.WITH_OWN_HOST,
        rf"(?:{_WORKLOAD}|it|they)\b{_GAP}\b{_CANNOT} (?:\w+ )?{_REACH} {_OWN_HOST}",
    ),
    (
        Circumstance.WITH_OWN_HOST,
        rf"(?:not|un|in|except)(?: be)? ?(?:reachable|reached|accessible|pinged)? from {_OWN_HOST}",
    ),
    (
        Circumstance.WITH_OWN_HOST,
        rf"between {_OWN_HOST} and (?:its|the|their|those|these|any|my|our) (?:own )?{_WORKLOAD}",
    ),
    (
        Circumstance.RUNS_HERE,
        (
            rf"(?:worker|node|host|machine)s? (?:that|which|where|on which)\b{_GAP}\b(?:runs?|"
            r"has|hosts?|holds?|running) (?:(?:a|an|the|its|one|all|any) ){0,2}(?:\w+ )?"
            r"(?:pods?|replicas?|endpoints?)"
        ),
    ),
    (
        Circumstance.RUNS_HERE,
        (
            r"(?:worker|node|host|machine) (?:with|of) (?:(?:a|an|the|its|one|only) ){1,2}(?:\w+ )?"
            r"(?:pods?|replica|endpoint)"
        ),
    ),
    (
        Circumstance.RUNS_HERE,
        (
            r"(?:pod|replica|endpoint)s?(?: of (?:it|the service))? (?:runs?|is|are|"
            r"does run)(?: (?:up|running|scheduled|placed))? on "
            r"(?:this|that|the same|the very|exactly this|it\b)"
        ),
    ),
    (
        Circumstance.EXTERNAL_NAMES,
        (
            r"(?:external|public|internet|outside|upstream) (?:dns |host |domain )?"
            r"(?:names?|domains?|hostnames?|records?)"
        ),
    ),
    (
        Circumstance.EXTERNAL_NAMES,
        (
            rf"(?:names?|domains?|lookups?|hosts?)\b{_GAP}\b(?:outside|beyond|not of|other than) "
            r"(?:of )?(?:the |our |my )?(?:cluster|kubernetes)"
        ),
    ),
    (
        Circumstance.INTERMITTENT,
        (
            r"sometimes|now and then|intermittent(?:ly)?|occasional(?:ly)?|randomly|at times|"
            r"from time to time|often(?! helps)|once in a while|sporadic(?:ally)?|not always|"
            r"every few (?:seconds|minutes|hours)"
        ),
    ),
    (
        Circumstance.PROBED_BY_BALANCER,
        (
            rf"{_BALANCER}\b(?:[^.;:]|\.(?=\d)){{0,80}}?\b(?:probes?|checks?)\b{_GAP}\b"
            rf"{_SENT}\b{_GAP}\b(?:that|this|the same|its own|very|vip)"
        ),
    ),
    (
        Circumstance.PROBED_BY_BALANCER,
        (
            rf"(?:probes?|checks?)\b{_GAP}\b{_SENT}\b{_GAP}\b{_BALANCER}(?:'s)?(?: own)? "
            r"(?:address|ip)"
        ),
    ),
    (
        Circumstance.DURING_CAPTURE,
        (
            rf"{_CAPTURE}\b{_GAP}\b(?:works?|worked|succeeds?|helps?|cures?|heals?|goes through|"
            r"gets? through|is fine|are fine)"
        ),
    ),
    (
        Circumstance.DURING_CAPTURE,
        (
            rf"(?:works?|worked|succeeds?|fine|reachable|heals?|reach\w*)\b{_GAP}\b"
            rf"(?:while|when|during|as long as|as soon as|once)\b{_GAP}\b{_CAPTURE}"
        ),
    ),
    (
        Circumstance.FORWARDING_WARNED,
        (
            rf"(?:warns?|warned|warnings?:?|complains?|reports?|says?|logs?) {_GAP}\b"
            r"(?:ip(?:v?[46])?[ _-]?)?forwarding (?:is|being|was) "
            r"(?:off|disabled|switched off|not enabled)"
        ),
    ),
    (
        Circumstance.SEEN_AT_NODE,
        (
            r"(?:node|host|machine|server)(?:'s|s)? (?:own |network |physical |public ){0,2}"
            r"(?:card|nic|interface|uplink|wire|eth\d|ens\w+|enp\w+)"
        ),
    ),
    (
        Circumstance.SEEN_AT_NODE,
        (
            r"(?:eth\d|ens\w+|enp\w+|uplink|physical (?:card|nic|interface)) (?:of|on) (?:the )?"
            r"(?:node|host|machine|server)"
        ),
    ),
)
"""Who and what stand near each other within one clause."""
_PREFIX = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}(?![\w/])")
_TABLE = tuple((one, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for one, pattern in _ROWS)


def read_circumstances(
    name: str, lines: Sequence[str], sources: Iterable[Source]
) -> tuple[Told, ...]:
    """Return what the prose of a document tells, each circumstance by the first sentence that does.
    Never raises.
    """
    document = Source(name=name, lines=tuple(lines))
    found: dict[Circumstance, Told] = {}
    for text, first, last in list_sentences(lines, list_taken(sources)):
        for one in find_circumstances(text):
            prefixes = tuple(find_prefixes(text))
            found.setdefault(one, Told(one, Span(document, first, last), prefixes))
    return tuple(found.values())


def find_circumstances(text: str) -> Iterator[Circumstance]:
    """Yield what a sentence tells."""
    return (one for one, pattern in _TABLE if pattern.search(text) is not None)


def find_prefixes(text: str) -> Iterator[Prefix]:
    """Yield the networks that a text names."""
    for found in _PREFIX.finditer(text):
        try:
            yield Prefix.parse(found.group())
        except ValueError:
            continue
