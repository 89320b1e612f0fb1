"""Proxies of generated cases."""

from __future__ import annotations

from podpath.net.provenance import Known
from podpath_lab.cases import proxies
from podpath_lab.cases.generate import GeneratedCase, generate_case

TABLE = 200


def has_rule(case: GeneratedCase) -> bool:
    """Tell whether a rule gives packets to a proxy."""
    facts = [fact for table in case.node.host.tables for fact in table.chains.values()]
    rules = [rule for fact in facts if isinstance(fact, Known) for rule in fact.value.rules]
    return any(rule.target is not None and rule.target.name == "TPROXY" for rule in rules)


def keeps(case: GeneratedCase) -> bool:
    """Tell whether a policy rule leads what the proxy is given to a route of its own."""
    return any(rule.mark and rule.table == TABLE for rule in case.node.host.rules.items)


def test_a_proxy_listens_where_a_rule_gives_to_it() -> None:
    """Its socket is the only transparent one, and most have the route that keeps packets here."""
    cases = [generate_case(seed) for seed in range(500)]
    drawn = [case for case in cases if has_rule(case)]
    heard = [case for case in drawn if case.frame is None]
    kept = list(map(keeps, drawn))

    assert len(drawn) > 10
    assert 0 < sum(kept) < len(kept)
    for case in heard:
        found = [each.port for each in case.node.host.sockets.items if each.transparent]
        assert [proxies.PORT] == found
