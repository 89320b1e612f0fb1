"""Policies that leave the node's own DNS cache out."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.netfilter.policy_without_node_dns import check
from tests.checks.pasted import ticket_of

FAILED = """
```
dial tcp: lookup db.example.org on {server}:53: read udp 10.42.0.155:59943->{server}:53: i/o timeout
```
"""
POLICY = """
```yaml
egress:
  - to:
      - {peer}
    ports:
      - port: {port}
        protocol: UDP
```
"""
SYSTEM = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}"


def find(server: str = "169.254.20.10", peer: str = SYSTEM, port: int = 53) -> list[Finding]:
    """Return what is found in a ticket with a lookup that fails and a policy."""
    return list(
        check(ticket_of(FAILED.format(server=server) + POLICY.format(peer=peer, port=port)))
    )


@pytest.mark.parametrize("server", ["169.254.20.10", "169.254.25.10"])
@pytest.mark.parametrize("peer", [SYSTEM, "podSelector: {matchLabels: {k8s-app: kube-dns}}"])
def test_only_pods_may_be_asked(server: str, peer: str) -> None:
    """It is likely and not certain: nothing shows that the policy selects who asks."""
    (finding,) = find(server, peer)

    assert finding.certainty < 1
    assert finding.asks
    assert "kube" in finding.evidence[0].text
    assert "i/o timeout" in finding.evidence[1].text


def test_what_lets_the_cache_be_asked() -> None:
    """A range with its address, another port, or a lookup elsewhere."""
    assert not find(peer="ipBlock: {cidr: 169.254.20.10/32}")
    assert not find(peer="ipBlock: {cidr: 0.0.0.0/0}")
    assert not find(port=443)
    assert not find(server="10.43.0.10")
    assert find(peer="ipBlock: {cidr: 10.0.0.0/8}")
