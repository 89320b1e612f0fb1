"""Values at boundaries are drawn, all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from podpath.net import nft
from podpath.net.provenance import Known
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule
from podpath.xtables.targets.reject import ANSWERS
from podpath_lab.cases.generate import GeneratedCase, generate_case


@pytest.fixture(scope="module")
def cases() -> list[GeneratedCase]:
    """Return some hundreds of generated cases."""
    return [generate_case(seed) for seed in range(900)]


def rules(case: GeneratedCase) -> Iterator[Rule]:
    """Yield the iptables rules of a case's host."""
    for table in case.node.host.netfilter[4].tables:
        for chain in table.chains.values():
            if isinstance(chain, Known):
                yield from chain.value.rules


def native(case: GeneratedCase) -> Iterator[NftRule]:
    """Yield the native rules of a case's host."""
    for table in case.node.host.nftables.items:
        for chain in table.chains.values():
            yield from chain.rules


def test_every_answer_of_reject_is_drawn(cases: list[GeneratedCase]) -> None:
    """All seven codes of IPv4, in iptables and natively."""
    found = {
        rule.target.options[0].values[0]
        for case in cases
        for rule in rules(case)
        if rule.target is not None and rule.target.name == "REJECT"
    }
    codes = {
        statement.code
        for case in cases
        for rule in native(case)
        for statement in rule.statements
        if isinstance(statement, nft.NftReject)
    }
    assert set(ANSWERS[4]) <= found
    assert {"net-prohibited", "prot-unreachable"} <= codes


def test_ranges_end_on_the_probes_ports_and_beside_them(cases: list[GeneratedCase]) -> None:
    """On both sides, of the client's port and of the server's."""
    found: set[tuple[str, int]] = set()
    for case in cases:
        for rule in rules(case):
            for match in rule.matches:
                option = match.options[0] if match.options else None
                if match.name not in {"tcp", "udp"} or option is None or not option.values:
                    continue
                first, colon, last = option.values[0].partition(":")
                if not colon:
                    continue
                for name, port in (("sport", case.probe.sport), ("dport", case.probe.dport)):
                    found.add((f"{name} first", int(first) - port))
                    found.add((f"{name} last", int(last) - port))
    assert {(f"{name} {end}", off) for name in ("sport", "dport") for end, off in
            (("first", 0), ("first", 1), ("last", 0), ("last", -1))} <= found  # fmt: skip


def test_every_value_of_the_sysctls_is_drawn(cases: list[GeneratedCase]) -> None:
    """Those of ARP with more than two values among them."""
    found: dict[str, set[str]] = {}
    for case in cases:
        for key, fact in case.node.host.sysctls.items():
            if isinstance(fact, Known):
                found.setdefault(key.rpartition(".")[2], set()).add(fact.value)
    assert found["arp_ignore"] == {"0", "1", "2", "3", "4", "8"}
    assert found["arp_announce"] == {"0", "1", "2"}
    assert found["rp_filter"] == {"0", "1", "2"}


def test_masks_of_connection_marks_are_drawn(cases: list[GeneratedCase]) -> None:
    """What is saved and restored is masked on both sides."""
    found = {
        option.name
        for case in cases
        for rule in rules(case)
        if rule.target is not None and rule.target.name == "CONNMARK"
        for option in rule.target.options
    }
    assert {"nfmask", "ctmask"} <= found


def test_verdict_maps_miss(cases: list[GeneratedCase]) -> None:
    """Some hold one element alone, so that other packets find none."""
    sizes = {
        len(statement.data.elements)
        for case in cases
        for rule in native(case)
        for statement in rule.statements
        if isinstance(statement, nft.Vmap) and isinstance(statement.data, nft.SetOf)
    }
    assert sizes == {1, 2}
