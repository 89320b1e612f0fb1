"""Kube-proxy's rules of a service, in both shapes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.assembly.case import assemble_case
from podpath.checks.proxy_rules import ProxyRules, find_proxy_rules
from podpath.evidence.recognition import read
from podpath.net.addresses import Address
from podpath.net.provenance import Source
from tests.checks.proxied import ENDPOINTS, iptables, nftables
from tests.clusters import healthy

FRONT = (Address.parse("10.96.54.185"), 6, 80)


def rules_of(text: str) -> ProxyRules | None:
    """Return the rules that a node's own listing shows."""
    command = "nft list ruleset" if text.startswith("table") else "iptables-save"
    source = Source(name="node", lines=tuple(text.split("\n")), command=command, netns="host")
    reading = read(source)
    assert reading is not None
    return find_proxy_rules(assemble_case([(source, reading)]).node.host)


@pytest.mark.parametrize("shape", [iptables, nftables])
@given(st.lists(st.integers(1, 254), max_size=6, unique=True))
def test_every_endpoint_is_found(shape: Callable[..., str], numbers: list[int]) -> None:
    """Each has the line that rewrites to it."""
    backends = [f"10.244.0.{number}" for number in numbers]
    found = rules_of(shape(*backends)) if backends else None
    targets = found.services[FRONT].targets if found is not None else {}

    assert {str(address) for address, _ in targets} == set(backends)
    assert all(str(place[0]) in span.text for place, span in targets.items())


def test_a_real_node() -> None:
    """All services of a real cluster are found, the one without endpoints too."""
    found = find_proxy_rules(healthy()["node1"].facts.node.host)

    assert found is not None
    assert len(found.services) == 6
    assert all(rules.known for rules in found.services.values())
    assert [front[0] for front, rules in found.services.items() if not rules.targets] == [
        Address.parse("10.96.143.234")
    ]


def test_rules_in_two_places() -> None:
    """Which of them the kernel goes by is not for this to say."""
    both = "\n".join((iptables(*ENDPOINTS), iptables(*ENDPOINTS)))

    assert rules_of(both.replace("KUBE-SERVICES", "OTHER")) is None


def test_an_endpoint_whose_chain_is_not_shown(tmp_path: Path) -> None:
    """Where a service goes is then not known."""
    del tmp_path
    text = nftables(*ENDPOINTS).replace("chain endpoint-1", "chain elsewhere")
    found = rules_of(text)

    assert found is not None
    assert not found.services[FRONT].known


def test_ipvs_needs_none_of_them() -> None:
    """Its mode leaves a chain of that name that leads to no endpoint."""
    text = (
        "*nat\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst "
        "-j ACCEPT\nCOMMIT"
    )

    assert rules_of(text) is None
