"""rule-bloat: the same rule is repeated many times in a chain, or there are far too many rules.

What it is
    A program appends its rules at each start, reload or sync without checking whether they exist
    (-A without -C), so hundreds or a hundred thousand copies pile up.

Why it breaks
    Rules are tried one after the other, in table nat for the first packet of a connection and in
    table filter for every packet: some ten thousand rules cost milliseconds each, throughput falls,
    latency and CPU (softirq, ksoftirqd) rise. Each change with iptables reads and writes the whole
    table and holds the xtables lock for seconds.

How to confirm
    iptables-save | wc -l; iptables-save | sort | uniq -c | sort -rn | head

How to fix
    Stop what appends them, then reload the rules without the duplicates:
        iptables-save | awk '!/^-A/ || !seen[$0]++' | iptables-restore
    Fix the script: iptables -C RULE || iptables -A RULE.

References
    iptables(8), "-C"; ipt_do_table (net/ipv4/netfilter/ip_tables.c)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_of
from podpath.checks.stated import statements_of
from podpath.net.failures import FailureKind
from podpath.net.firewall import CopyCount, RuleCount
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule

CATEGORIES = (Category.RULE_BLOAT,)
NAME = "rule-bloat"
SOME, MANY = 10, 100
"""Copies of one rule from which something appends without looking, and from which it slows packets
down.
"""
FEW = 4
"""Copies that show it in a listing of which somebody left out a part."""
MOST = 20_000
"""Rules that no host needs but one with thousands of services."""
_SLOW = frozenset(
    {FailureKind.SLOW, FailureKind.SOMETIMES, FailureKind.TIMEOUT, FailureKind.NOT_STARTED}
)
TABLES = ("filter", "nat", "mangle", "raw")


def check(case: Case) -> Iterator[Finding]:
    """Report the rule of each chain that has the most copies, and a count of rules beyond
    reason.
    """
    counts = [(counted.rules, stated.span) for counted, stated in statements_of(case, RuleCount)]
    slow = any(one.failure in _SLOW and not one.works for one in case.complaints)
    beyond = tuple(span for rules, span in counts if rules >= SOME * MANY)
    for name in TABLES:
        for _, chain in chains_of(case.node.host, name):
            found = _find_copies(chain)
            if found is not None:
                abridged = not chain.complete and found[1] >= FEW and (slow or bool(beyond))
                yield _report(*found, counted=beyond, sure=found[1] >= MANY or abridged)
    yield from _check_piped(case, slow=slow)
    for rules, span in counts:
        if rules >= MOST:
            yield _report_count(rules, span)


def _check_piped(case: Case, *, slow: bool) -> Iterator[Finding]:
    """Report the rule that a pipe counted most often."""
    piped = [
        (one.times, one.rule, stated.span)
        for one, stated in statements_of(case, CopyCount)
        if one.times >= SOME
    ]
    if piped:
        times, rule, span = max(piped, key=lambda each: each[0])
        yield _report_copies(
            f"The rule `{rule[:120]}` appears {times} times", span, sure=times >= MANY or slow
        )


def _report_count(count: int, span: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The host has {count} rules, which packets may have to traverse one by one.",
        evidence=(span,),
        breaks=(
            (
                "throughput and latency of all traffic through the host, and the time each change "
                "of its rules takes"
            ),
        ),
        prevention="Check with iptables -C before appending a rule.",
        certainty=0.8,
        proves=frozenset({FailureKind.SLOW}),
        asks=(
            FollowUp(
                fact="which rules are copies of others",
                command="iptables-save | sort | uniq -c | sort -rn | head",
                decides="one appears thousands of times: something appends it without checking",
            ),
        ),
    )


def _find_copies(chain: Chain) -> tuple[Rule, int] | None:
    least = SOME if chain.complete else FEW
    if len(chain.rules) < least:
        return None
    first: dict[tuple[object, ...], Rule] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for rule in chain.rules:
        key: tuple[object, ...] = (
            rule.target,
            rule.src,
            rule.dst,
            rule.protocol,
            rule.in_link,
            rule.out_link,
            rule.matches,
            rule.unread,
        )
        first.setdefault(key, rule)
        counts[key] += 1
    ((most, count),) = counts.most_common(1)
    return (first[most], count) if count >= least and not _is_hidden(first[most]) else None


def _is_hidden(rule: Rule) -> bool:
    """Tell whether rules may differ in what the output hides: devices of plain accepts, masked
    addresses.
    """
    devices = bool({"in-interface", "out-interface"} & set(rule.hidden))
    plain = rule.src is None and rule.dst is None and not rule.matches
    return (
        bool({"source", "destination"} & set(rule.hidden))
        or (devices and plain)
        or (bool(rule.unread) and not rule.hidden)
    )


def _report(rule: Rule, count: int, *, counted: tuple[Span, ...], sure: bool) -> Finding:
    claim = f"The same rule appears {count} times in {rule.chain} of {rule.table}"
    return _report_copies(claim, rule.span, *counted, sure=sure)


def _report_copies(claim: str, *spans: Span, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT if sure else Severity.RISK,
        claim=f"{claim}.",
        evidence=spans,
        reasoning=("Something appends it without checking whether it is there already.",),
        breaks=("throughput, latency, and the time each change of the rules takes",),
        repairs=(
            Repair(
                title="reload the rules without the duplicates",
                commands=("iptables-save | awk '!/^-A/ || !seen[$0]++' | iptables-restore",),
            ),
        ),
        prevention="Check with iptables -C before appending a rule.",
    )
