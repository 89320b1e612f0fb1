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
from podpath.xtables.legality import SOURCE_NAT

CATEGORIES = (Category.MASQUERADE_MISSING, Category.MASQUERADE_UNWANTED)
NAME = "masquerade-coverage"
_TRANSLATES = SOURCE_NAT | {"NETMAP"}
_ENDS = frozenset({"RETURN", "ACCEPT"})
EXCEPTED = 0.6
"""Where hosts in a wide exception may have routes to the pods, as in a cloud's own network."""
NAMED = 0.8
"""Where what fails lies in it: a router there may still know the pods' range."""
WIDER = 8
"""Bits by which a cluster's network is wider than a node's: /16 and /24."""
_INSIDE = frozenset({EndKind.POD, EndKind.CONTAINER, EndKind.GUEST})
_NOT_TRANSLATED = frozenset({EndKind.OUTSIDE, EndKind.SERVICE})
"""Who connects without this host translating its source."""
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
        postrouting = chains.get("POSTROUTING")
        if postrouting is None or table.family != 4:
            continue
        paths = list_paths(chains, postrouting, ("KUBE-S",))
        translating = list(filter(_translates, paths))
        whole = _is_whole(paths, chains)
        yield from _find_void(case, translating)
        yield from _find_missing(case, postrouting, paths, translating, whole=whole)
        yield from _find_unwanted(case, paths, translating)


def _is_whole(paths: Sequence[Path], chains: Mapping[str, Chain]) -> bool:
    """Tell whether every chain that the paths lead through is shown in full."""
    if any(_is_unseen(path, chains) for path in paths):
        return False
    met = {rule.chain for path in paths for rule in path.rules}
    return all(chains[name].complete for name in met & chains.keys())


def _find_too_wide(case: Case, chains: Mapping[str, Chain]) -> Iterator[Finding]:
    """Report the first rule that leaves out far more than its own sources' network, where something
    is lost that may be among what it leaves out; else the first that leaves out the very machines
    that are said not to answer.
    """
    lost = any(one.source not in _NOT_TRANSLATED for one in list_lost(case))
    if not lost or case.mentions.isdisjoint(ROUTERS):
        return
    found: list[Path] = []
    for root in roots(chains):
        found += list_paths(chains, root, ("KUBE-S",))
    translating = [path.rule for path in found if _translates(path)]
    for rule in translating:
        covered = any(_is_wider(one, rule) for one in translating if one is not rule)
        missed = _find_missed(case, rule)
        if not covered and (missed or _leaves_out_much(rule)):
            yield _report_too_wide(rule, missed)
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


def _find_missed(case: Case, rule: Rule) -> str:
    """Return the address or network that workloads are said not to reach, and that a rule leaves
    out beside its own sources; empty where none is.
    """
    if rule.dst is None or not rule.dst.negated or _leaves_by_one(rule):
        return ""
    far = rule.dst.prefix
    own = [one for told in case.told if _tells_workloads(told) for one in told.prefixes]
    if rule.src is not None:
        own.append(rule.src.prefix)
    for one in list_lost(case):
        if one.source not in _INSIDE:
            continue
        asked = [Prefix.of(address) for address in one.addresses if address not in one.sources]
        for prefix in (*one.prefixes, *asked):
            if far.covers(prefix) and own and not any(map(prefix.overlaps, own)):
                return str(prefix)
    return ""


def _leaves_by_one(rule: Rule) -> bool:
    """Tell whether a rule is for what leaves by a device that it names."""
    return rule.out_link is not None and not rule.out_link.negated


def _tells_workloads(told: Told) -> bool:
    return told.circumstance is Circumstance.WORKLOAD_RANGE


def _report_too_wide(rule: Rule, missed: str) -> Finding:
    far = str(rule.dst.prefix) if rule.dst is not None else ""
    source = str(rule.src.prefix) if rule.src is not None else "their sender"
    reason = f"{far} is far wider than the network of the sources, {source}."
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {rule.chain} leaves all of {far} untranslated: machines there that have no "
            f"route to {source} cannot answer."
        ),
        evidence=(rule.span,),
        reasoning=(f"{missed}, which is not reached, lies in {far}." if missed else reason,),
        breaks=(f"connections from {source} to machines in {far} that do not know the way back",),
        prevention="Exclude from translation only what routes the pods' addresses.",
        certainty=NAMED if missed else EXCEPTED,
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
        below = [other.rule for other in translating[place + 1 :]]
        found = next((other for other in below if _is_same_but_for(one, other)), None)
        if found is not None:
            failing = any(not complaint.works for complaint in case.complaints)
            yield _report_unwanted((found.span, one.span), str(one.dst.prefix), found, sure=failing)


def _is_same_but_for(one: Rule, other: Rule) -> bool:
    """Tell whether a rule takes the same sources without the exception for a destination."""
    if other.dst is not None or "destination" in other.hidden or other.matches:
        return False
    if other.out_link != one.out_link or other.src is None or one.src is None:
        return False
    return not other.src.negated and other.src.prefix.covers(one.src.prefix)


def _find_missing(
    case: Case, chain: Chain, paths: Sequence[Path], translating: Sequence[Path], *, whole: bool
) -> Iterator[Finding]:
    if not chain.complete or any(_is_unknown(path) for path in paths):
        return
    ranges = dict.fromkeys(_list_needing(case))
    if not ranges and not translating and chain.span is not None and chain.policy == "ACCEPT":
        yield from _find_none(case, chain.span)
    away = _list_away(case, translating)
    others = [path for path in translating if path not in away]
    for prefix in ranges:
        if not any(_may_take(path, prefix) for path in others):
            yield _report_missing(chain, prefix, away or others, _list_ways_out(case), sure=whole)


def _find_none(case: Case, span: Span) -> Iterator[Finding]:
    """Report that nothing is translated at all, where containers, or machines behind the host, are
    said to have no way out. What an engine gives its containers is private, unless its options say
    otherwise; of others the range is not known.
    """
    said = _find_without_way_out(case)
    if said is None:
        return
    command = span.source.command or ""
    others = bool(case.node.host.nftables.items) or "legacy" in command
    docker = said.source is EndKind.CONTAINER and Technology.DOCKER in case.mentions
    seen = _find_untranslated(case)
    sure = (docker and not others) or seen is not None
    shown = (seen,) if seen is not None else ()
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "POSTROUTING has no rule at all: nothing translates the source of packets that leave."
        ),
        evidence=(span, *shown, said.span),
        reasoning=("The chain is shown in full, and is empty.",),
        breaks=("connections from private ranges to hosts that have no route back to them",),
        prevention="Let the engine write its rules (no --iptables=false), or write them by hand.",
        certainty=1.0 if sure else 0.8,
        asks=() if sure else (_WHICH_SOURCE,),
        marks=("POSTROUTING",),
    )


_WHICH_SOURCE = FollowUp(
    fact="which source address packets leave the host with",
    command="tcpdump -ni any host DESTINATION; nft list ruleset | grep masquerade",
    decides="a private one: nothing translates it",
)


def _find_without_way_out(case: Case) -> Complaint | None:
    """Return what people say has no way out to the world: something inside the host, else what is
    behind it.
    """
    lost = [one for one in list_lost(case) if _is_about_world(one)]
    inside = [one for one in lost if one.source in _INSIDE]
    behind = [one for one in lost if one.source is EndKind.OUTSIDE and _list_behind(case)]
    return next(iter((*inside, *behind)), None)


def _is_about_world(complaint: Complaint) -> bool:
    """Tell whether it is the world, by IPv4, that is not reached."""
    return complaint.target is EndKind.OUTSIDE and Technology.IPV6 not in complaint.mentions


def _find_untranslated(case: Case) -> Span | None:
    """Return a captured packet that leaves the host by a card with a source of a tunnel's or a
    bridge's network, and that nothing answers.
    """
    shown = [item for item in case.node.host.addresses.items if item.span is not None]
    behind = [item for item in shown if _leads_inside(item.link)]
    answered = {(one.packet.dst, one.packet.src) for one in case.sightings}
    for seen in case.sightings:
        if seen.netns != HOST or seen.link in {None, "", "any"} or _leads_inside(seen.link or ""):
            continue
        source, ends = seen.packet.src, (seen.packet.src, seen.packet.dst)
        inner = any(one.prefix.covers(source) and one.address != source for one in behind)
        if inner and ends not in answered:
            return seen.span
    return None


def _leads_inside(device: str) -> bool:
    """Tell whether a device leads to a tunnel's far side or to what runs on the host."""
    return is_tunnel(device) or is_inner_bridge(device)


def _list_needing(case: Case) -> Iterator[Prefix]:
    """Yield the ranges of pods and containers that are said to have no way to the outside world."""
    behind = _list_behind(case)
    for one in case.complaints:
        if one.works or not _is_about_world(one):
            continue
        if one.source not in _INSIDE and not (behind and one.source is EndKind.OUTSIDE):
            continue
        named = _list_named(case, one, behind)
        if not named and one.source in _INSIDE:
            named = _list_told(case)
        yield from named or _list_bridged(case)


def _list_named(case: Case, complaint: Complaint, behind: Sequence[Told]) -> list[Prefix]:
    """Return the ranges that a sentence names, else those of whoever is behind the host; of a
    tunnel's clients those of the host's own cards are where they want to go.
    """
    told = list(complaint.prefixes)
    if not told:
        for road in behind:
            told += road.prefixes
    if {one.circumstance for one in behind} == {Circumstance.SERVES_VPN}:
        return [prefix for prefix in told if not _is_of_card(case, prefix)]
    return told


def _list_bridged(case: Case) -> list[Prefix]:
    """Return the ranges of the host's inner bridges."""
    shown = [item for item in case.node.host.addresses.items if item.span is not None]
    bridged = [item for item in shown if is_inner_bridge(item.link)]
    return [item.prefix for item in bridged if item.address.family == 4]


def _is_of_card(case: Case, prefix: Prefix) -> bool:
    """Tell whether a range is that of a card of the host."""
    shown = [item for item in case.node.host.addresses.items if item.span is not None]
    return any(item.prefix == prefix and not _leads_inside(item.link) for item in shown)


def _list_behind(case: Case) -> tuple[Told, ...]:
    """Return the sentences that say that others reach the world through this host."""
    roads = (Circumstance.ROUTES_FOR_OTHERS, Circumstance.SERVES_VPN)
    return tuple(told for told in case.told if told.circumstance in roads)


def _list_told(case: Case) -> list[Prefix]:
    """Return the ranges that people say their pods or containers have: private ones, since others
    need no translation.
    """
    told: list[Prefix] = []
    for one in case.told:
        if one.circumstance is Circumstance.WORKLOAD_RANGE:
            told += one.prefixes
    return [prefix for prefix in told if _is_private(prefix)]


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
    said = next((one for one in list_failing(case) if _is_source_changed(one)), None)
    if said is None:
        return
    for path in translating:
        far = [prefix for prefix in said.prefixes if not _is_own(path.rule, prefix)]
        taken = [prefix for prefix in far if _takes(path, prefix)]
        left = [prefix for prefix in taken if not _is_excepted(paths, path, prefix)]
        if left and _is_of(path.rule, said):
            yield _report_unwanted((path.rule.span,), str(left[0]), path.rule, sure=True)
            return


def _is_source_changed(complaint: Complaint) -> bool:
    """Tell whether people say that the other side sees another address than the sender's."""
    changed = Circumstance.SOURCE_CHANGED in complaint.circumstances
    return changed or complaint.failure is FailureKind.WRONG_PEER


def _is_own(rule: Rule, prefix: Prefix) -> bool:
    return rule.src is not None and rule.src.prefix.overlaps(prefix)


def _is_of(rule: Rule, complaint: Complaint) -> bool:
    """Tell whether a rule is for the sources of which people speak: those that they name, or any
    that it names itself.
    """
    named = any(_is_own(rule, prefix) for prefix in complaint.prefixes)
    return named or (rule.src is not None and not rule.src.negated)


def _takes(path: Path, prefix: Prefix) -> bool:
    for rule in path.rules:
        match = rule.dst
        if "destination" in rule.hidden or (rule.unread and not rule.hidden):
            return False
        if match is not None and match.prefix.covers(prefix) == match.negated:
            return False
    return not any(_is_conditional(rule) for rule in path.rules)


def _is_conditional(rule: Rule) -> bool:
    """Tell whether a rule asks for more than its addresses and devices."""
    return any(match.name != "comment" for match in rule.matches)


def _is_excepted(paths: Sequence[Path], path: Path, prefix: Prefix) -> bool:
    """Tell whether a rule above may let packets to the far side leave untranslated."""
    above = [one.rule for one in paths[: paths.index(path)]]
    ending = [rule for rule in above if rule.target is not None and rule.target.name in _ENDS]
    return any(_may_hold(rule, prefix) for rule in ending)


def _may_hold(rule: Rule, prefix: Prefix) -> bool:
    """Tell whether packets to a range may match a rule, as far as its destination says."""
    return rule.dst is None or rule.dst.prefix.covers(prefix) != rule.dst.negated


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
    rules = [path.rule for path in translating]
    devices = [str(rule.out_link.name) for rule in rules if rule.out_link is not None]
    sources = [str(rule.src.prefix) for rule in rules if rule.src is not None]
    others = f": its rules are for {_join(sources)}" if sources else ""
    prevention = "Update the plugin's masquerading when the range changes."
    if devices and any(_may_take(path, prefix) for path in translating):
        others = f" by the device that they leave on: those for it are for {_join(devices)}"
        prevention = "Name no device in the rule, or the one of the default route."
    quoted = tuple(rule.span for rule in rules)
    if devices:
        quoted = (*quoted, *ways_out)
    declared = (chain.span,) if chain.span is not None else ()
    unseen = FollowUp(
        fact=f"whether a rule that is not shown translates sources in {prefix}",
        command="iptables-save -c -t nat",
        decides="none does: packets leave with the pods' own addresses",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No rule of POSTROUTING translates sources in {prefix}{others}.",
        evidence=quoted or declared,
        reasoning=(f"{prefix} is reported to have no way out, and the chain is shown in full.",),
        breaks=(f"connections from {prefix} to hosts that have no route back to it",),
        prevention=prevention,
        certainty=1.0 if sure else 0.8,
        asks=() if sure else (unseen,),
        marks=("MASQUERADE",),
    )


def _join(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _report_unwanted(spans: tuple[Span, ...], far: str, rule: Rule, *, sure: bool) -> Finding:
    source = rule.src.prefix if rule.src is not None else "everything"
    arriving = FollowUp(
        fact=f"which source address packets arrive with in {far}",
        command=f"tcpdump -ni any net {far}",
        decides="the node's: the rule translates them",
    )
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
        asks=() if sure else (arriving,),
    )
