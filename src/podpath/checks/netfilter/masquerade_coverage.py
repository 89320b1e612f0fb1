"""masquerade-coverage: the rules that translate sources do not cover a range that needs it, or
cover one that must not be translated.

What it is
    POSTROUTING is shown in full. No MASQUERADE or SNAT covers the range that is reported to have no
    way out; or, if the other side is reported to see the node's address, a rule also matches
    packets to that side; or one rule excludes a destination (`! -d RANGE`) and a second one below
    it for the same sources does not, so the exclusion has no effect; or a rule excludes a range far
    wider than the pods' own.

Why it breaks
    A packet that leaves with a pod's own address gets no reply from hosts that have no route back
    to it. A packet that is translated on the way to other pods, a VPN's far side or a corporate
    network hides its sender, and policies, allow lists and return routes there know only the pod's
    address.

How to confirm
    iptables -t nat -nvL POSTROUTING
    tcpdump -ni UPLINK net RANGE      # with which source the packets leave

How to fix
    Missing: iptables -t nat -A POSTROUTING -s RANGE ! -d RANGE -o UPLINK -j MASQUERADE. Unwanted:
    iptables -t nat -I POSTROUTING -s RANGE -d FAR_RANGE -j RETURN. Make either permanent in the
    configuration of the program that writes the rules (ipMasq, nonMasqueradeCIDRs of ip-masq-agent,
    natOutgoing, the pool's range).

References
    iptables-extensions(8), MASQUERADE; kubernetes-sigs/ip-masq-agent
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from podpath.checks.category import Category
from podpath.checks.coverage import Path, chains_in, list_paths, roots
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import tables_named
from podpath.checks.stated import is_inner_bridge, is_tunnel, spans_of, uplinks
from podpath.checks.told import ROUTERS, list_failing, list_lost
from podpath.net.addresses import Prefix
from podpath.net.complaints import Circumstance, Complaint, EndKind, Told
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule
from podpath.node.node import HOST

CATEGORIES = (Category.MASQUERADE_MISSING, Category.MASQUERADE_UNWANTED)
NAME = "masquerade-coverage"
_TRANSLATES = frozenset({"MASQUERADE", "SNAT", "NETMAP"})
_ENDS = frozenset({"RETURN", "ACCEPT"})
EXCEPTED = 0.6
"""Where hosts in a wide exception may have routes to the pods, as in a cloud's own network."""
WIDER = 8
"""Bits by which a cluster's network is wider than a node's: /16 and /24."""
_INSIDE = frozenset({EndKind.POD, EndKind.CONTAINER, EndKind.GUEST})
PRIVATE = tuple(
    Prefix.parse(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
_KNOWN = ("KUBE-POSTROUTING", "DOCKER", "LIBVIRT_PRT")
"""Beginnings of the names of chains that translate only what their owner marked, or what is its
own.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report a range without translation, one that is translated though it must not be, and an
    exception that is none.
    """
    for table in tables_named(case.node.host, "nat"):
        chains = chains_in(table)
        if table.family == 4:
            yield from _find_too_wide(case, chains)
        chain = chains.get("POSTROUTING")
        if chain is None or table.family != 4:
            continue
        paths = list_paths(chains, chain, ("KUBE-S",))
        translating = [
            path
            for path in paths
            if path.rule.target is not None and path.rule.target.name in _TRANSLATES
        ]
        yield from _find_void(case, translating)
        met = {rule.chain for path in paths for rule in path.rules}
        whole = all(chains[name].complete for name in met & chains.keys())
        whole = whole and not any(_is_unseen(path, chains) for path in paths)
        yield from _find_missing(case, chain, paths, translating, whole=whole)
        yield from _find_unwanted(case, paths, translating)


def _find_too_wide(case: Case, chains: Mapping[str, Chain]) -> Iterator[Finding]:
    """Report the first rule that leaves out far more than its own sources' network, where something
    is lost that may be among what it leaves out.
    """
    lost = [one for one in list_lost(case) if one.source not in {EndKind.OUTSIDE, EndKind.SERVICE}]
    found = [path for root in roots(chains) for path in list_paths(chains, root, ("KUBE-S",))]
    translating = [path.rule for path in found if _translates(path)]
    for rule in translating if lost and case.mentions & ROUTERS else ():
        others = [one for one in translating if one is not rule and _is_wider(one, rule)]
        if _leaves_out_much(rule) and not others:
            yield _report_too_wide(rule)
            return


def _translates(path: Path) -> bool:
    return path.rule.target is not None and path.rule.target.name in _TRANSLATES


def _is_wider(one: Rule, other: Rule) -> bool:
    """Tell whether a rule may translate what another leaves out."""
    same = one.src is None or other.src is None or one.src.prefix.covers(other.src.prefix)
    return same and one.dst is None


def _leaves_out_much(rule: Rule) -> bool:
    """Tell whether a rule leaves out a network that holds public addresses, too, or one far wider
    than its sources' own.
    """
    src, dst = rule.src, rule.dst
    if src is None or dst is None or src.negated or not dst.negated or rule.hidden:
        return False
    public = not _is_private(dst.prefix) and dst.prefix.length > 0
    wider = dst.prefix.covers(src.prefix)
    return wider and (public or src.prefix.length - dst.prefix.length > WIDER)


def _report_too_wide(rule: Rule) -> Finding:
    far = str(rule.dst.prefix) if rule.dst is not None else ""
    source = str(rule.src.prefix) if rule.src is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {rule.chain} leaves all of {far} untranslated: machines there that have no "
            f"route to {source} cannot answer."
        ),
        evidence=(rule.span,),
        reasoning=(f"{far} is far wider than the network of the sources, {source}.",),
        breaks=(f"connections from {source} to machines in {far} that do not know the way back",),
        prevention="Exclude from translation only what routes the pods' addresses.",
        certainty=EXCEPTED,
        asks=(
            FollowUp(
                f"whether what fails lies in {far}, and which source address its packets have",
                f"tcpdump -ni any net {far}; ip route get ADDRESS (on the machine there)",
                f"a source in {source}, and no route back to it: the exception is too wide",
            ),
        ),
        marks=(far,),
    )


def _find_void(case: Case, translating: Sequence[Path]) -> Iterator[Finding]:
    for place, path in enumerate(translating):
        one = path.rule
        if one.src is None or one.dst is None or not one.dst.negated or one.hidden:
            continue
        later = (
            other.rule for other in translating[place + 1 :] if _is_same_but_for(one, other.rule)
        )
        found = next(later, None)
        if found is not None:
            failing = any(not complaint.works for complaint in case.complaints)
            yield _report_unwanted((found.span, one.span), str(one.dst.prefix), found, sure=failing)


def _is_same_but_for(one: Rule, other: Rule) -> bool:
    """Tell whether a rule takes the same sources without the exception for a destination."""
    plain = (
        other.dst is None
        and "destination" not in other.hidden
        and not other.matches
        and other.out_link == one.out_link
    )
    return (
        plain
        and other.src is not None
        and one.src is not None
        and not other.src.negated
        and (other.src.prefix.covers(one.src.prefix))
    )


def _find_missing(
    case: Case, chain: Chain, paths: Sequence[Path], translating: Sequence[Path], *, whole: bool
) -> Iterator[Finding]:
    if not chain.complete or any(_is_unknown(path) for path in paths):
        return
    ranges = dict.fromkeys(_list_needing(case))
    if not ranges and not translating and chain.span is not None and chain.policy == "ACCEPT":
        yield from _find_none(case, chain.span)
    for prefix in ranges:
        away = _list_away(case, translating)
        if not any(_may_take(path, prefix) for path in translating if path not in away):
            others = [path for path in translating if path not in away]
            yield _report_missing(chain, prefix, away or others, _list_ways_out(case), sure=whole)


def _find_none(case: Case, span: Span) -> Iterator[Finding]:
    """Report that nothing is translated at all, where containers, or machines behind the host, are
    said to have no way out. What an engine gives its containers is private, unless its options say
    otherwise; of others the range is not known.
    """
    lost = [
        one
        for one in list_lost(case)
        if one.target is EndKind.OUTSIDE and Technology.IPV6 not in one.mentions
    ]
    inside = [one for one in lost if one.source in _INSIDE]
    behind = [one for one in lost if one.source is EndKind.OUTSIDE and _list_behind(case)]
    if not inside and not behind:
        return
    said = (inside or behind)[0]
    command = span.source.command or ""
    others = bool(case.node.host.nftables.items) or "legacy" in command
    docker = said.source is EndKind.CONTAINER and Technology.DOCKER in case.mentions
    seen = _find_untranslated(case)
    sure = (docker and not others) or seen is not None
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "POSTROUTING has no rule at all: nothing translates the source of packets that leave."
        ),
        evidence=(span, *((seen,) if seen is not None else ()), said.span),
        reasoning=("The chain is shown in full, and is empty.",),
        breaks=("connections from private ranges to hosts that have no route back to them",),
        prevention="Let the engine write its rules (no --iptables=false), or write them by hand.",
        certainty=1.0 if sure else 0.8,
        asks=()
        if sure
        else (
            FollowUp(
                fact="which source address packets leave the host with",
                command="tcpdump -ni any host DESTINATION; nft list ruleset | grep masquerade",
                decides="a private one: nothing translates it",
            ),
        ),
        marks=("POSTROUTING",),
    )


def _find_untranslated(case: Case) -> Span | None:
    """Return a captured packet that leaves the host by a card with a source of a tunnel's or a
    bridge's network, and that nothing answers.
    """
    host = case.node.host
    behind = [
        item
        for item in host.addresses.items
        if item.span is not None and (is_tunnel(item.link) or is_inner_bridge(item.link))
    ]
    answered = {(one.packet.dst, one.packet.src) for one in case.sightings}
    for seen in case.sightings:
        source, link = seen.packet.src, seen.link or ""
        ends = (source, seen.packet.dst)
        card = seen.netns == HOST and link and not (is_tunnel(link) or is_inner_bridge(link))
        inner = any(one.prefix.covers(source) and one.address != source for one in behind)
        if card and inner and ends not in answered and link != "any":
            return seen.span
    return None


def _list_needing(case: Case) -> Iterator[Prefix]:
    """Yield the ranges of pods and containers that are said to have no way to the outside world."""
    for one in case.complaints:
        if one.works or one.target is not EndKind.OUTSIDE or Technology.IPV6 in one.mentions:
            continue
        behind = _list_behind(case)
        if one.source not in _INSIDE and not (behind and one.source is EndKind.OUTSIDE):
            continue
        told = one.prefixes or tuple(prefix for road in behind for prefix in road.prefixes)
        tunnels = {one.circumstance for one in behind} == {Circumstance.SERVES_VPN}
        named = tuple(one for one in told if not (tunnels and _is_of_card(case, one)))
        if not named and one.source in _INSIDE:
            named = _list_told(case)
        if named:
            yield from named
        else:
            bridges = [
                item
                for item in case.node.host.addresses.items
                if is_inner_bridge(item.link) and item.span is not None
            ]
            yield from (item.prefix for item in bridges if item.address.family == 4)


def _is_of_card(case: Case, prefix: Prefix) -> bool:
    """Tell whether a range is that of a card of the host: clients of a tunnel are not there, but
    may want to go there.
    """
    return any(
        item.prefix == prefix and not (is_inner_bridge(item.link) or is_tunnel(item.link))
        for item in case.node.host.addresses.items
        if item.span is not None
    )


def _list_behind(case: Case) -> tuple[Told, ...]:
    """Return the sentences that say that others reach the world through this host."""
    roads = (Circumstance.ROUTES_FOR_OTHERS, Circumstance.SERVES_VPN)
    return tuple(told for told in case.told if told.circumstance in roads)


def _list_told(case: Case) -> tuple[Prefix, ...]:
    """Return the ranges that people say their pods or containers have: private ones, since others
    need no translation.
    """
    told = (one for one in case.told if one.circumstance is Circumstance.WORKLOAD_RANGE)
    return tuple(prefix for one in told for prefix in one.prefixes if _is_private(prefix))


def _is_private(prefix: Prefix) -> bool:
    return any(one.covers(prefix) for one in PRIVATE)


def _is_unknown(path: Path) -> bool:
    """Tell whether a rule leads to a chain that is not shown, or is not read."""
    target = path.rule.target
    if target is None or target.name in _TRANSLATES | _ENDS | {"LOG", "MARK"}:
        return bool(path.rule.unread) and not path.rule.hidden
    return not target.name.startswith(_KNOWN)


def _is_unseen(path: Path, chains: Mapping[str, Chain]) -> bool:
    """Tell whether a rule leads to a chain whose own rules no output shows: its owner may have
    put a rule for the range there.
    """
    target = path.rule.target
    return target is not None and target.name.startswith(_KNOWN) and target.name not in chains


def _may_take(path: Path, prefix: Prefix) -> bool:
    for rule in path.rules:
        if rule.src is not None and not rule.src.negated:
            return rule.src.prefix.overlaps(prefix)
    return True


def _find_unwanted(
    case: Case, paths: Sequence[Path], translating: Sequence[Path]
) -> Iterator[Finding]:
    said = [
        one
        for one in list_failing(case)
        if one.failure is FailureKind.WRONG_PEER or Circumstance.SOURCE_CHANGED in one.circumstances
    ]
    for complaint in said[:1]:
        for path in translating:
            far = [prefix for prefix in complaint.prefixes if not _is_own(path.rule, prefix)]
            taken = [
                prefix
                for prefix in far
                if _takes(path, prefix) and not _is_excepted(paths, path, prefix)
            ]
            if taken and _is_of(path.rule, complaint):
                yield _report_unwanted((path.rule.span,), str(taken[0]), path.rule, sure=True)
                return


def _is_own(rule: Rule, prefix: Prefix) -> bool:
    return rule.src is not None and (rule.src.prefix.overlaps(prefix))


def _is_of(rule: Rule, complaint: Complaint) -> bool:
    """Tell whether a rule is for the sources of which people speak: those that they name, or any
    that it names itself.
    """
    named = [prefix for prefix in complaint.prefixes if _is_own(rule, prefix)]
    return bool(named) or (rule.src is not None and not rule.src.negated)


def _takes(path: Path, prefix: Prefix) -> bool:
    for rule in path.rules:
        match = rule.dst
        if "destination" in rule.hidden or (rule.unread and not rule.hidden):
            return False
        if match is not None and match.prefix.covers(prefix) == match.negated:
            return False
    return not any(match.name != "comment" for rule in path.rules for match in rule.matches)


def _is_excepted(paths: Sequence[Path], path: Path, prefix: Prefix) -> bool:
    """Tell whether a rule above may let packets to the far side leave untranslated."""
    above = paths[: paths.index(path)]
    ending = [
        one.rule for one in above if one.rule.target is not None and one.rule.target.name in _ENDS
    ]
    return any(
        rule.dst is None or rule.dst.prefix.covers(prefix) != rule.dst.negated for rule in ending
    )


def _list_away(case: Case, translating: Sequence[Path]) -> list[Path]:
    """Return the rules for a device by which nothing leaves for the world: no default route that is
    shown is by it.
    """
    leaving = uplinks(case.node.host)
    return [path for path in translating if leaving and _is_for_others(path, leaving)]


def _is_for_others(path: Path, leaving: Container[str]) -> bool:
    """Tell whether a rule is for one device, which is none of these."""
    links = (rule.out_link for rule in path.rules if rule.out_link is not None)
    return any(not (link.negated or link.wildcard) and link.name not in leaving for link in links)


def _list_ways_out(case: Case) -> tuple[Span, ...]:
    defaults = (route for route in case.node.host.routes.items if route.prefix.length == 0)
    return spans_of(route for route in defaults if not route.inferred)


def _report_missing(
    chain: Chain,
    prefix: Prefix,
    translating: Sequence[Path],
    ways_out: Sequence[Span],
    *,
    sure: bool,
) -> Finding:
    devices = [
        str(path.rule.out_link.name) for path in translating if path.rule.out_link is not None
    ]
    of_range = any(_may_take(path, prefix) for path in translating)
    prevention = "Update the plugin's masquerading when the range changes."
    if of_range and devices:
        prevention = "Name no device in the rule, or the one of the default route."
        others = f" by the device that they leave on: those for it are for {_join(devices)}"
    else:
        sources = [str(path.rule.src.prefix) for path in translating if path.rule.src is not None]
        others = f": its rules are for {_join(sources)}" if sources else ""
    rules = tuple(path.rule.span for path in translating)
    rules = (*rules, *ways_out) if rules and devices else rules
    declared = (chain.span,) if chain.span is not None else ()
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No rule of POSTROUTING translates sources in {prefix}{others}.",
        evidence=rules or declared,
        reasoning=(f"{prefix} is reported to have no way out, and the chain is shown in full.",),
        breaks=(f"connections from {prefix} to hosts that have no route back to it",),
        prevention=prevention,
        certainty=1.0 if sure else 0.8,
        asks=()
        if sure
        else (
            FollowUp(
                fact=f"whether a rule that is not shown translates sources in {prefix}",
                command="iptables-save -c -t nat",
                decides="none does: packets leave with the pods' own addresses",
            ),
        ),
        marks=("MASQUERADE",),
    )


def _join(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _report_unwanted(spans: tuple[Span, ...], far: str, rule: Rule, *, sure: bool) -> Finding:
    source = rule.src.prefix if rule.src is not None else "everything"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {rule.chain} also translates the source of {source} on the way to {far}: "
            "it has no exception for that."
        ),
        evidence=spans,
        reasoning=("Hosts there see the node's address in place of the sender's.",),
        breaks=(f"whatever tells senders apart in {far}: policies, allow lists, return routes",),
        prevention=(
            "Exclude the far range in the configuration of the program that writes the rule."
        ),
        certainty=1.0 if sure else 0.8,
        marks=("MASQUERADE",),
        asks=()
        if sure
        else (
            FollowUp(
                fact=f"which source address packets arrive with in {far}",
                command=f"tcpdump -ni any net {far}",
                decides="the node's: the rule translates them",
            ),
        ),
    )
