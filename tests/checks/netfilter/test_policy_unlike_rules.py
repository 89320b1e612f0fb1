"""Rules of a plugin that are not of the policies that are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.diagnosis import DiagnosisResult
from podpath.library.given import Pasted
from podpath.library.why import why
from tests.clusters import OBJECTS, unpack

ADMITS = """- apiVersion: networking.k8s.io/v1
  kind: NetworkPolicy
  metadata: {name: far, namespace: shop}
  spec:
    podSelector: {}
    policyTypes: [Ingress]
    ingress:
    - from:
      - podSelector: {}
"""
FORBIDS = """- apiVersion: networking.k8s.io/v1
  kind: NetworkPolicy
  metadata: {name: nobody, namespace: shop}
  spec:
    podSelector: {}
    policyTypes: [Ingress]
"""
NAMED_PORT = ADMITS + "      ports: [{port: http}]\n"


def ask(tmp_path: Path, policy: str, chain: str = "") -> DiagnosisResult:
    """Ask why a pod cannot reach one of another node, where a chain drops it or none does."""
    nodes = unpack(tmp_path)
    path = Path(nodes["node2"]) / "netns" / "host" / "iptables-save.txt"
    if chain:
        text = path.read_text()
        text = text.replace(
            ":KUBE-FIREWALL - [0:0]\n", f":KUBE-FIREWALL - [0:0]\n:{chain} - [0:0]\n", 1
        )
        head, sign, tail = text.partition("*filter")
        rules = f"-I FORWARD -d 10.244.0.3/32 -j {chain}\n".replace("-I", "-A")
        first = tail.index("-A FORWARD") if "-A FORWARD" in tail else tail.index("COMMIT")
        tail = f"{tail[:first]}{rules}{tail[first:]}"
        tail = tail.replace("COMMIT", f"-A {chain} -j DROP\nCOMMIT", 1)
        path.write_text(head + sign + tail)
    said = OBJECTS.read_text(encoding="utf-8").replace("items:\n", f"items:\n{policy}", 1)
    return why("shop/web-node1", "pod/shop/far", nodes=nodes, objects=Pasted(said, "api"))


def test_a_plugin_that_drops_what_the_policies_admit(tmp_path: Path) -> None:
    """Both lines are quoted: that of the rule and that of the policy."""
    answer = ask(tmp_path, ADMITS, "cali-tw-far")

    found = answer.findings[0]
    assert ("fault", "policy-unlike-rules") == (answer.verdict, found.check)
    assert found.evidence[0].text.endswith("-A cali-tw-far -j DROP")
    assert "metadata: {name: far, namespace: shop}" in [
        span.text.strip() for span in found.evidence
    ]


def test_a_plugin_that_drops_what_the_policies_forbid(tmp_path: Path) -> None:
    """They agree: the policy is to be changed, not the rule."""
    answer = ask(tmp_path, FORBIDS, "cali-tw-far")

    found = answer.findings[0]
    assert ("fault", "dropped-by-rule") == (answer.verdict, found.check)
    assert any("change these, not the rules" in str(one) for one in found.reasoning)
    assert any("name: nobody" in span.text for span in found.evidence)


def test_what_the_policies_forbid_and_no_rule_drops(tmp_path: Path) -> None:
    """It may be a plugin that shows no rules, or none at all: possible, with what tells."""
    answer = ask(tmp_path, FORBIDS)

    found = answer.findings[0]
    assert ("possible", "policy-unlike-rules") == (answer.verdict, found.check)
    assert found.certainty < 1
    assert any("NetworkPolicies" in one.fact for one in found.asks)


@pytest.mark.parametrize(
    ("policy", "chain", "verdict", "check"),
    [
        (ADMITS, "", "none", ""),
        (ADMITS, "MINE", "fault", "dropped-by-rule"),
        (NAMED_PORT, "cali-tw-far", "fault", "dropped-by-rule"),
        (NAMED_PORT, "", "none", ""),
        ("", "cali-tw-far", "fault", "dropped-by-rule"),
    ],
)
def test_nothing_is_compared_with_policies_that_leave_it_open(
    tmp_path: Path, policy: str, chain: str, verdict: str, check: str
) -> None:
    """A port by its name may be any; a chain of somebody else's is of no policy; and what is
    admitted and passes is as it should be.
    """
    answer = ask(tmp_path, policy, chain)

    assert verdict == answer.verdict
    assert [check] == [one.check for one in answer.findings[:1]] or not check
