"""Shrinking: what is not needed for a difference goes."""

from __future__ import annotations

from podpath.net.provenance import Known
from podpath_lab.cases.generate import GeneratedCase, generate_case
from podpath_lab.cases.shrink import shrink_case


def rules_of(case: GeneratedCase) -> list[str]:
    """Name the targets of all rules of the host."""
    facts = [fact for table in case.node.host.netfilter[4].tables for fact in table.chains.values()]
    return [
        rule.target.name
        for fact in facts
        if isinstance(fact, Known)
        for rule in fact.value.rules
        if rule.target
    ]


def test_only_what_the_difference_needs_is_left() -> None:
    """A difference that hangs on one DROP rule ends with that rule alone."""
    case = next(
        case for seed in range(200) if rules_of(case := generate_case(seed)).count("DROP") >= 2
    )
    smallest = shrink_case(case, lambda smaller: "DROP" in rules_of(smaller), attempts=500)
    assert rules_of(smallest) == ["DROP"]
    assert len(smallest.node.host.sysctls) < len(case.node.host.sysctls)


def test_a_difference_that_goes_with_any_part_keeps_the_whole_case() -> None:
    """Nothing is taken away where every removal ends the difference."""
    case = generate_case(3)
    assert shrink_case(case, lambda smaller: smaller.node is case.node, attempts=20) is case
