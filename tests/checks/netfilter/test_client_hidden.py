"""Clients that masquerading hides from a policy that admits them."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.given import Pasted
from podpath.library.why import why
from tests.clusters import OBJECTS, unpack

POLICY = """- apiVersion: networking.k8s.io/v1
  kind: NetworkPolicy
  metadata: {name: far, namespace: shop}
  spec:
    podSelector: {}
    policyTypes: [Ingress]
    ingress:
    - from:
      - podSelector: {}
"""


@pytest.mark.parametrize("hidden", [True, False])
def test_a_client_that_masquerading_hides_from_a_policy(tmp_path: Path, *, hidden: bool) -> None:
    """A policy's chain drops what it would admit, since the packet has another source there; on a
    cluster that does not masquerade between pods, it passes.
    """
    nodes = unpack(tmp_path)
    first = Path(nodes["node1"]) / "netns" / "host" / "iptables-save.txt"
    second = Path(nodes["node2"]) / "netns" / "host" / "iptables-save.txt"
    if hidden:
        _insert(first, "-A POSTROUTING -s 10.244.1.0/24 -j MASQUERADE", "POSTROUTING")
    _insert(second, "-A FORWARD -d 10.244.0.3/32 -j POD-FAR-FW", "FORWARD -m")
    text = second.read_text().replace(
        ":KUBE-FIREWALL - [0:0]\n", ":KUBE-FIREWALL - [0:0]\n:POD-FAR-FW - [0:0]\n", 1
    )
    chain = "-A POD-FAR-FW -s 10.244.1.2/32 -j ACCEPT\n-A POD-FAR-FW -j DROP\n"
    head, sign, tail = text.partition("*filter")
    second.write_text(head + sign + tail.replace("COMMIT", f"{chain}COMMIT", 1))
    said = OBJECTS.read_text(encoding="utf-8").replace("items:\n", f"items:\n{POLICY}", 1)

    answer = why("shop/web-node1", "pod/shop/far", nodes=nodes, objects=Pasted(said, "api"))

    if not hidden:
        assert answer.verdict == "none"
        return
    found = answer.findings[0]
    assert (answer.verdict, found.check) == ("fault", "client-hidden")
    assert found.evidence[0].text.endswith("-A POD-FAR-FW -j DROP")
    assert found.evidence[1].text == "-A POSTROUTING -s 10.244.1.0/24 -j MASQUERADE"


def _insert(path: Path, rule: str, before: str) -> None:
    """Put a rule before the first one of a chain."""
    lines = path.read_text().split("\n")
    place = next(at for at, line in enumerate(lines) if f"-A {before}" in line)
    path.write_text("\n".join((*lines[:place], rule, *lines[place:])))
