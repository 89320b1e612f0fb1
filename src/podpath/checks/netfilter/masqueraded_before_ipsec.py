"""masqueraded-before-ipsec: a rule rewrites the source of packets that an IPsec policy should take.

What it is
    `ip xfrm policy` or `ipsec statusall` has an outgoing policy for a range of containers or pods,
    and POSTROUTING masquerades the same range, with nothing above that spares what goes to the
    policy's destination. Where no policy is shown, what people say of a network behind IPsec makes
    it possible.

Why it breaks
    Policies are looked up again after POSTROUTING has changed the source. With the host's own
    address a packet matches no policy for the range, and leaves in the clear by the default route.

How to confirm
    ip xfrm policy; iptables -t nat -vnL POSTROUTING; tcpdump -ni UPLINK net REMOTE-RANGE

How to fix
    Spare such packets above the MASQUERADE:
    iptables -t nat -I POSTROUTING -m policy --dir out --pol ipsec -j ACCEPT

References
    iptables-extensions(8), policy; net/netfilter/nf_nat_core.c:nf_xfrm_me_harder v6.12
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.coverage import chains_in, list_paths, roots
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import tables_named
from podpath.checks.told import WORKLOADS, list_failing, list_lost
from podpath.net.addresses import Prefix
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Rule
from podpath.node.node import XfrmPolicy
from podpath.xtables.legality import SOURCE_NAT

CATEGORIES = (Category.RULE_ORDER, Category.MASQUERADE_UNWANTED, Category.TUNNEL_CONFIGURATION)
NAME = "masqueraded-before-ipsec"
_SPARES = frozenset({"ACCEPT", "RETURN"})


def check(case: Case) -> Iterator[Finding]:
    """Report the first rule that rewrites what an outgoing policy is for."""
    outgoing = [
        policy
        for policy in case.node.host.policies
        if policy.direction == "out" and not policy.blocks and policy.span is not None
    ]
    told = [] if case.node.host.policies else list(_list_told(case))
    for table in tables_named(case.node.host, "nat"):
        chains = chains_in(table)
        base = [chain for chain in roots(chains) if chain.name == "POSTROUTING"]
        rules = [path.rule for chain in base for path in list_paths(chains, chain)]
        for policy in (*outgoing, *told):
            first = next((rule for rule in rules if _decides(rule, policy)), None)
            if first is not None and _name(first) in SOURCE_NAT:
                yield _report(case, first, policy)
                return


def _list_told(case: Case) -> Iterator[XfrmPolicy]:
    """Yield the policies that there have to be where people say that something inside the host
    gets no answer, and speak of IPsec and of ranges of both ends.
    """
    lost = [one for one in list_lost(case) if one.source in WORKLOADS]
    if Technology.IPSEC not in case.mentions or not lost:
        return
    joined = [one for one in case.told if one.circumstance is Circumstance.IPSEC_BETWEEN]
    near = {prefix for told in case.told for prefix in told.prefixes}
    far = {prefix: told.span for told in joined for prefix in told.prefixes}
    for one in lost:
        near |= set(one.prefixes)
        far |= dict.fromkeys(one.prefixes, one.span)
        asked = (address for address in one.addresses if address not in one.sources)
        far |= dict.fromkeys(map(Prefix.of, asked), one.span)
    for src in sorted(near):
        for dst, span in far.items():
            if not src.overlaps(dst):
                yield XfrmPolicy(src=src, dst=dst, direction="out", blocks=False, span=span)


def _name(rule: Rule) -> str:
    return rule.target.name if rule.target is not None else ""


def _decides(rule: Rule, policy: XfrmPolicy) -> bool:
    """Tell whether a rule ends the chain for what a policy is for, or may spare it."""
    if _name(rule) not in SOURCE_NAT | _SPARES:
        return False
    spares = _name(rule) in _SPARES
    if spares and any(match.name == "policy" for match in rule.matches):
        return True
    ranges = ((rule.src, policy.src), (rule.dst, policy.dst))
    for match, wanted in ranges:
        if match is None:
            continue
        apart = not match.prefix.overlaps(wanted)
        if match.negated != apart:
            return False
    tied = [match.name for match in rule.matches if match.name not in {"comment", "addrtype"}]
    return spares or (not tied and rule.src is not None and not rule.unread)


def _is_for_any(rule: Rule) -> bool:
    """Tell whether a rule is for every protocol, and for more than one named device."""
    return rule.protocol is None and (rule.out_link is None or rule.out_link.negated)


def _is_about(complaint: Complaint, remote: Prefix) -> bool:
    """Tell whether people name an address or a network behind the tunnel."""
    if any(remote.covers(one) for one in complaint.addresses):
        return True
    return any(map(remote.overlaps, complaint.prefixes))


def _report(case: Case, rule: Rule, policy: XfrmPolicy) -> Finding:
    told = (one for one in list_failing(case) if one.source is not EndKind.NODE)
    failing = [one for one in told if _is_about(one, policy.dst)]
    assert policy.span is not None  # noqa: S101  # `check` takes no other
    sure = bool(failing) and policy in case.node.host.policies and _is_for_any(rule)
    ask = FollowUp(
        f"whether packets to {policy.dst} leave in the clear",
        f"tcpdump -ni any net {policy.dst}; iptables -t nat -vnL POSTROUTING",
        "they leave by the uplink with the host's address: the rule takes them from the policy",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{_name(rule)} in {rule.chain} rewrites what comes from {policy.src}, so the IPsec "
            f"policy to {policy.dst} does not take it."
        ),
        evidence=(rule.span, policy.span),
        reasoning=("Policies are looked up with the source that POSTROUTING leaves.",),
        breaks=(f"connections from {policy.src} to {policy.dst}",),
        repairs=(
            Repair(
                title="spare what IPsec takes",
                commands=(
                    "iptables -t nat -I POSTROUTING -m policy --dir out --pol ipsec -j ACCEPT",
                ),
            ),
        ),
        prevention="Write the exception where the tunnel is configured.",
        certainty=1.0 if sure else 0.7,
        asks=() if sure else (ask,),
        marks=(_name(rule),),
    )
