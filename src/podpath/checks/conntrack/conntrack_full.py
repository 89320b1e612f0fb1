"""conntrack-full: the connection tracking table is full, or nearly full.

What it is
    net.netfilter.nf_conntrack_count is close to nf_conntrack_max.

Why it breaks
    When the table is full, the first packet of a new connection is dropped ("nf_conntrack: table
    full, dropping packet"), whatever the rules say. Existing connections keep working. The fault
    comes and goes with load, and hits DNS over UDP first.

How to confirm
    sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max
    conntrack -S | grep -o 'drop=[0-9]*'; dmesg | grep 'table full'

How to fix
    sysctl -w net.netfilter.nf_conntrack_max=N (about 300 bytes of memory for each entry; the hash
    table should grow with it: /sys/module/nf_conntrack/parameters/hashsize). Kube-proxy sets the
    limit when it starts: conntrack.maxPerCore and conntrack.min. Shorten the timeouts of the
    connections that fill the table, or exempt them with NOTRACK rules.

References
    __nf_conntrack_alloc, early_drop (net/netfilter/nf_conntrack_core.c);
    Documentation/networking/nf_conntrack-sysctl.rst
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.said import Meaning, find_said, tell
from podpath.checks.topology import known_sysctl
from podpath.datapath.conntrack.settings import NEARLY
from podpath.net.messages import MessageKind
from podpath.node.case import Case
from podpath.node.node import Netns

CATEGORIES = (Category.CONNTRACK_FULL,)
NAME = "conntrack-full"
COUNT, MAXIMUM = "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max"
NEAR = 0.9
"""The share of the table from which it is a risk: it fills within seconds when a burst comes."""
FAR = 0.5
"""The share of the table below which what the kernel logged is over, or comes in bursts."""
_ASK = FollowUp(
    "whether the table fills up while it fails",
    f"conntrack -S; sysctl {COUNT} {MAXIMUM} (while it fails); dmesg -T | grep 'table full' | tail",
    "the count comes near the maximum, or early_drop and drop grow: this is the cause",
)
SAID = Meaning(
    claim=(
        "The connection tracking table is full: the kernel drops the first packet of new "
        "connections."
    ),
    breaks="new connections, intermittently; existing ones go on",
    cure="enlarge the table, and find out what fills it",
    commands=(f"sysctl {COUNT} {MAXIMUM}", f"sysctl -w {MAXIMUM}=1048576"),
)


def check(case: Case) -> Iterator[Finding]:
    """Report a namespace whose table is at least nine tenths full, or that the kernel said so."""
    said = find_said(case, MessageKind.CONNTRACK_TABLE_FULL)
    if said:
        yield _doubt_by_count(case, tell(NAME, said, SAID))
    for namespace in case.node.namespaces.values():
        count, most = _number(namespace, COUNT), _number(namespace, MAXIMUM)
        if count is not None and most and count >= most * NEAR:
            yield _report(namespace, count, most)


def _doubt_by_count(case: Case, finding: Finding) -> Finding:
    """Return what the kernel once said as a possible cause where the table is far from full now."""
    for namespace in case.node.namespaces.values():
        count, most = _number(namespace, COUNT), _number(namespace, MAXIMUM)
        if count is not None and most and count < most * FAR:
            return replace(
                finding,
                certainty=0.6,
                reasoning=(
                    *finding.reasoning,
                    f"When it was counted, {count} of {most} entries were in use.",
                ),
                asks=(_ASK,),
            )
    return finding


def _number(namespace: Netns, key: str) -> int | None:
    fact = known_sysctl(namespace, key)
    return (
        int(fact.value)
        if fact is not None and fact.value.isdecimal() and fact.value.isascii()
        else None
    )


def _report(namespace: Netns, count: int, most: int) -> Finding:
    facts = [known_sysctl(namespace, key) for key in (COUNT, MAXIMUM)]
    return Finding(
        check=NAME,
        severity=Severity.FAULT if count >= most * NEARLY else Severity.RISK,
        claim=f"The connection tracking table of netns {namespace.name} is "
        f"{'full' if count >= most * NEARLY else 'nearly full'}: "
        f"{count} of {most} entries.",
        evidence=tuple(fact.span for fact in facts if fact is not None and fact.span is not None),
        reasoning=("A full table drops the first packet of every new connection.",),
        breaks=("new connections, intermittently; existing ones go on",),
        repairs=(Repair(title="enlarge the table", commands=(f"sysctl -w {MAXIMUM}={most * 2}",)),),
        prevention=(
            "Set conntrack.min or conntrack.maxPerCore in kube-proxy's configuration: it writes "
            "the limit at every start."
        ),
        marks=(str(count), str(most)),
    )
