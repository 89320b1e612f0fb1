"""snat-source: SNAT rewrites to an address that the host does not have.

What it is
    `-j SNAT --to-source ADDRESS` where no device of the host has the address: it moved, was the old
    node's, is an Elastic IP or a floating address that is elsewhere, or is a typo.

Why it breaks
    The packets go out with a source to which replies do not come back to this host: the router has
    no route, or sends them to the address's new owner. MASQUERADE takes the address of the device
    instead and does not go stale.

How to confirm
    iptables -t nat -S | grep to-source; ip -br addr

How to fix
    iptables -t nat -R POSTROUTING N ... -j SNAT --to-source OWN-ADDRESS, or -j MASQUERADE; then
    conntrack -F.

References
    iptables-extensions(8), SNAT and MASQUERADE
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import chains_of
from podpath.checks.told import BEHIND, LOSSES, list_failing
from podpath.net.addresses import Address, Prefix
from podpath.net.complaints import EndKind
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule
from podpath.node.node import Netns

CATEGORIES = (Category.MASQUERADE_UNWANTED, Category.SOURCE_ADDRESS)
NAME = "snat-source"


def check(case: Case) -> Iterator[Finding]:
    """Report each SNAT rule to an address that a whole listing of the host's addresses does not
    show.
    """
    addresses = case.node.host.addresses
    if not addresses.complete:
        return
    own = {item.address for item in addresses.items}
    families = {address.family for address in own}
    for _, chain in chains_of(case.node.host, "nat"):
        for rule in chain.rules:
            source = _find_source(rule)
            if source is not None and source not in own and source.family in families:
                found = _report(rule, source)
                near = _is_on_link(case.node.host, rule, source) and _goes_out(case)
                near = near and _is_first(chain, rule)
                yield replace(found, proves=LOSSES) if near else found


def _is_on_link(host: Netns, rule: Rule, source: Address) -> bool:
    """Tell whether the rule is for what leaves by a device on whose own network the source is: a
    router there asks for it by ARP, and only who has it answers.
    """
    wide = rule.dst is None and rule.protocol is None and not rule.unread
    plain = wide and all(match.name == "comment" for match in rule.matches)
    link = rule.out_link
    return plain and any(
        (link is None or (link.name == own.link and not link.negated))
        and Prefix.of(own.address, own.length).covers(source)
        for own in host.addresses.items
        if own.span is not None and not own.address.is_loopback
    )


def _is_first(chain: Chain, rule: Rule) -> bool:
    """Tell whether no rule above may take what a rule of POSTROUTING is for."""
    above = [one for one in chain.rules if one.position < rule.position]
    return chain.name == "POSTROUTING" and all(_is_apart(one, rule) for one in above)


def _is_apart(rule: Rule, other: Rule) -> bool:
    """Tell whether two rules are for sources of which neither holds any of the other's."""
    one, two = rule.src, other.src
    if one is None or two is None or one.negated or two.negated:
        return False
    return not one.prefix.overlaps(two.prefix)


def _goes_out(case: Case) -> bool:
    """Tell whether people say that what this host forwards gets no answers from outside."""
    return any(
        one.target is EndKind.OUTSIDE and one.source in BEHIND - {EndKind.OUTSIDE}
        for one in list_failing(case)
    )


def _find_source(rule: Rule) -> Address | None:
    """Return the one address that the rule rewrites to; None for a range, and for what is no
    SNAT.
    """
    if rule.target is None or rule.target.name != "SNAT":
        return None
    for option in rule.target.options:
        if option.name == "to-source" and option.values:
            text = option.values[0]
            host = text.partition(":")[0] if text.count(":") == 1 else text
            try:
                return Address.parse(host)
            except ValueError:
                return None
    return None


def _report(rule: Rule, source: Address) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule of {rule.chain} sets the source to {source}, which no device of the host has."
        ),
        evidence=(rule.span,),
        reasoning=("Replies to that address go to whichever host has it.",),
        breaks=("connections that the rule translates",),
        prevention="Use MASQUERADE where the address may change.",
        certainty=0.6,
        marks=(str(source),),
        asks=(
            FollowUp(
                fact=f"whether replies to {source} are sent to this host",
                command=f"tcpdump -ni any host {source}",
                decides=(
                    "replies come in: the address is routed here; none do: the rule is at fault"
                ),
            ),
        ),
    )
