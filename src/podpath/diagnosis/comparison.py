"""What a good node has otherwise: the facts that a finding rests on, held against the same facts there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.finding import Finding
from podpath.diagnosis.differences import compare_chains
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Table
from podpath.node.node import HOST, Netns


def compare_with_good(finding: Finding, bad: Case, good: Case) -> Finding:
    """Add to a finding what its facts are on the good node, with the lines that say so."""
    told = tuple(_compare(finding, bad.node.namespaces[HOST], good.node.namespaces[HOST]))
    return replace(
        finding,
        reasoning=(*finding.reasoning, *(sentence for sentence, _ in told)),
        evidence=tuple(dict.fromkeys((*finding.evidence, *(span for _, spans in told for span in spans)))),
    )


def _compare(finding: Finding, bad: Netns, good: Netns) -> Iterator[tuple[str, tuple[Span, ...]]]:
    yield from _compare_sysctls(finding, bad, good)
    yield from _compare_routes(finding, bad, good)
    yield from _compare_tables(finding, bad, good)


def _compare_sysctls(finding: Finding, bad: Netns, good: Netns) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Compare the sysctls that the finding quotes, and those that its repairs set."""
    quoted = {key for key, fact in bad.sysctls.items() if isinstance(fact, Known) and fact.span in finding.evidence}
    repaired = {change.key for repair in finding.repairs for change in repair.changes if hasattr(change, "key")}
    for key in sorted(quoted | repaired):
        here, there = bad.sysctls.get(key), good.sysctls.get(key)
        if isinstance(there, Known) and (not isinstance(here, Known) or here.value != there.value):
            spans = (there.span,) if there.span is not None else ()
            yield f"On the good node {key} is {there.value}{f', here {here.value}' if isinstance(here, Known) else ''}.", spans


def _compare_routes(finding: Finding, bad: Netns, good: Netns) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Compare the routes that the finding quotes."""
    for route in bad.routes.items:
        if route.span is None or route.span not in finding.evidence or not good.routes.complete:
            continue
        same = [other for other in good.routes.items if (other.prefix, other.table) == (route.prefix, route.table)]
        here = {hop.link for hop in route.nexthops}
        if not any({hop.link for hop in other.nexthops} == here for other in same):
            spans = tuple(other.span for other in same if other.span is not None)
            yield f"The good node has no route to {route.prefix} over {', '.join(sorted(map(str, here)))}.", spans


def _compare_tables(finding: Finding, bad: Netns, good: Netns) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Compare the base chains of the tables that the finding quotes a rule of."""
    for family, netfilter in bad.netfilter.items():
        others = good.netfilter.get(family)
        for table in netfilter.tables:
            twin = next((other for other in others.tables if other.name == table.name), None) if others is not None else None
            if twin is None:
                continue
            for name in ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"):
                here, there = _known(table, name), _known(twin, name)
                if here is None or there is None or not any(rule.span in finding.evidence for rule in here.rules):
                    continue
                for difference in compare_chains(here, there):
                    spans = (difference.rule.span, *((difference.other.span,) if difference.other is not None else ()))
                    yield f"What differs from the good node: {difference.words}.", spans


def _known(table: Table, name: str) -> Chain | None:
    fact = table.chains.get(name)
    return fact.value if isinstance(fact, Known) else None
