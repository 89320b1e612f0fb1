"""rpfilter-rule: a firewall's own reverse-path rule (rpfilter, `fib saddr . iif`) drops the packet.

What it is
    The log of a rule such as firewalld's rpfilter_DROP, or of `-m rpfilter --invert -j DROP`, shows
    the packet. firewalld sets the rule for IPv6 by default (IPv6_rpfilter=yes in firewalld.conf).
    Or such a rule is shown, and packets of pods or a VPN are lost on a host whose own firewall has
    it (NixOS, nixos-fw-rpfilter); or containers and guests get no lease from this host.

Why it breaks
    In the raw or mangle hook, the rule looks up the route back to the sender without the marks and
    policy rules that apply to the real reply: with wg-quick (fwmark), policy routing or several
    NICs, it finds another device or none, and drops packets whose replies would take the right
    path. With --validmark, the packet's own mark counts, but the reply may not carry that mark. A
    DHCP request has the source 0.0.0.0: kernels before 4.11 look up a route back to that, too, find
    the default route at best, and drop the request on every other device; newer kernels let it
    pass.

How to confirm
    uname -r
    nft list ruleset | grep -n 'fib saddr'; ip6tables-save -t mangle | grep rpfilter
    grep rpfilter /etc/firewalld/firewalld.conf

How to fix
    Set IPv6_rpfilter=loose (firewalld 2.0: loose, strict-forward, loose-forward) or no and reload
    firewalld (NixOS: networking.firewall.checkReversePath = "loose"); or remove the rule.

References
    nft_fib6_eval (net/ipv6/netfilter/nft_fib_ipv6.c v6.12); firewalld.conf(5); wg-quick(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.coverage import chains_in
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import DROPS, tables_named
from podpath.checks.said import find_said
from podpath.checks.told import WORKLOADS, list_failing, list_lost
from podpath.datapath.routing.reasons import kernel_version
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule, Table

CATEGORIES = (
    Category.REVERSE_PATH_FILTER,
    Category.IPV6,
    Category.HOST_FIREWALL,
)
NAME = "rpfilter-rule"
POSSIBLE = 0.5
ASK_WHAT = FollowUp(
    "whether packets of the connection that fails are dropped, too",
    "journalctl -k -g rpfilter --since -1h | grep ADDRESS; tcpdump -ni DEVICE host ADDRESS",
    "lines with its addresses: this is the cause; only announcements to multicast addresses: it is "
    "not",
)
_TO_MANY = re.compile(r"\bDST=(?:ff0|22[4-9]\.|23\d\.)", re.IGNORECASE)
"""A packet to a multicast address: an announcement that no connection needs."""
_EXEMPTS_LEASES = (4, 11)
"""The kernel from which on a packet from 0.0.0.0 to a broadcast address passes unasked."""
_OTHER_WAYS = frozenset({
    Technology.CILIUM, Technology.WIREGUARD, Technology.SECOND_INTERFACE, Technology.OPENVPN,
})  # fmt: skip
"""What sends packets in by devices that the main table's routes do not use."""


def check(case: Case) -> Iterator[Finding]:
    """Report each device on which such a rule was seen to drop."""
    told: set[str] = set()
    said = find_said(case, MessageKind.REVERSE_PATH_LOG)
    for message in sorted(said, key=lambda one: _TO_MANY.search(one.span.text) is not None):
        device = message.values.get("device", "")
        many = _TO_MANY.search(message.span.text) is not None
        if device in told:
            continue
        told.add(device)
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                "A reverse-path rule in the host's firewall drops packets that come in on "
                f"{device or 'a device'}."
            ),
            evidence=(message.span,),
            reasoning=(
                (
                    "The rule's own log shows the packet. The rule looks up the route back "
                    "without marks and policy rules."
                ),
            ),
            breaks=(
                (
                    f"replies and requests that come in on {device or 'that device'} and whose "
                    "route back depends on a rule or mark"
                ),
            ),
            prevention=(
                "Set IPv6_rpfilter=loose in firewalld.conf on hosts with VPNs or policy routing."
            ),
            certainty=POSSIBLE if many else 1.0,
            asks=(ASK_WHAT,) if many else (),
            marks=("rpfilter",),
        )
    if not told:
        yield from _find_shown(case)


def _find_shown(case: Case) -> Iterator[Finding]:
    """Report the first such rule that is shown, where what is lost may meet it."""
    lost = list_lost(case) and case.mentions & _OTHER_WAYS
    unleased = _is_lease_looked_up(case)
    if not lost and not unleased:
        return
    for table in _list_tables(case, 0 if lost else 4):
        for chain in chains_in(table).values():
            rules = _find_rule(chain)
            if rules and rules[0].packets != 0:
                spans = tuple(rule.span for rule in rules)
                yield _report_lease(spans) if unleased else _report_shown(spans)
                return


def _list_tables(case: Case, family: int) -> Iterator[Table]:
    """Yield the tables that may hold such rules, of a family or of both (0)."""
    for name in ("raw", "mangle"):
        for table in tables_named(case.node.host, name):
            if family in {0, table.family}:
                yield table


def _is_lease_looked_up(case: Case) -> bool:
    """Tell whether what runs on the host gets no lease, and its kernel may look up a way back to
    0.0.0.0.
    """
    unleased = any(
        one.failure is FailureKind.NO_ADDRESS and {one.source, one.target} & WORKLOADS
        for one in list_failing(case)
    )
    named = case.node.kernel is not None
    return unleased and not (named and kernel_version(case.node.kernel) >= _EXEMPTS_LEASES)


def _find_rule(chain: Chain) -> tuple[Rule, ...]:
    """Return the rules of a chain that drop what has no way back by its device."""
    returning: Rule | None = None
    for rule in chain.rules:
        target = rule.target.name if rule.target is not None else ""
        strict, inverted = _read_match(rule)
        if strict and inverted and target in DROPS:
            return (rule,)
        if strict and not inverted and target in {"RETURN", "ACCEPT"}:
            returning = rule
        elif returning is not None and target in DROPS and not rule.matches and rule.src is None:
            return (rule, returning)
    return ()


def _read_match(rule: Rule) -> tuple[bool, bool]:
    """Tell whether a rule asks for nothing but a strict way back, and whether for its absence."""
    if [match.name for match in rule.matches if match.name != "comment"] != ["rpfilter"]:
        return False, False
    names = {option.name for match in rule.matches for option in match.options}
    return "loose" not in names, "invert" in names


def _report_lease(spans: tuple[Span, ...]) -> Finding:
    """Report the rule; what it counts may be other packets than requests for a lease."""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "A reverse-path rule in the host's firewall may drop requests for a lease: they come "
            "from 0.0.0.0, to which no route leads back through their device."
        ),
        evidence=spans,
        reasoning=(
            "The route back to 0.0.0.0 is at best the default route, through another device.",
        ),
        breaks=("leases from a server on this host",),
        prevention="Let the rule return for UDP from port 68 to port 67.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                "the kernel's version, and whether the rule counts requests for a lease",
                "uname -r; iptables -t raw -nvL; iptables -t mangle -nvL",
                "4.11 or later lets them pass; before, its counter grows with each request",
            ),
        ),
        marks=("rpfilter",),
    )


def _report_shown(spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "A reverse-path rule in the host's firewall may drop packets for which it finds no "
            "route back through their device."
        ),
        evidence=spans,
        reasoning=("It looks up the route back without the marks and rules of the reply.",),
        breaks=("what comes in on a device that the route back does not use",),
        prevention="Make such rules loose on hosts with containers, VPNs or policy routing.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                "whether the rule counts what fails",
                "iptables -t raw -nvL; iptables -t mangle -nvL",
                "its counter grows with each try: it drops the packets",
            ),
        ),
        marks=("rpfilter",),
    )
