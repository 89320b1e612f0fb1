"""A plugin's chain that masquerades nothing."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.masquerade_chain_empty import check
from tests.assembly.evidence_text import case_of_document

NAT = """\
```
# iptables-save
*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:FLANNEL-POSTRTG - [0:0]
:KUBE-POSTROUTING - [0:0]
-A POSTROUTING -j KUBE-POSTROUTING
-A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MASQUERADE
{}
COMMIT
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The chain's own line is quoted first; kube-proxy's masquerade is for its mark alone."""
    found = next(check(case_of_document(NAT.format("# nothing"))))
    assert ":FLANNEL-POSTRTG - [0:0]" == found.evidence[0].text
    assert found.certainty < 1


@pytest.mark.parametrize(
    "rule",
    [
        "-A FLANNEL-POSTRTG -s 10.244.0.0/16 ! -d 224.0.0.0/4 -j MASQUERADE",
        "-A POSTROUTING -s 10.244.1.0/24 -o eth0 -j SNAT --to-source 192.0.2.1",
    ],
)
def test_what_only_looks_like_it_is_let_be(rule: str) -> None:
    """The chain translates, or another rule does."""
    assert [] == list(check(case_of_document(NAT.format(rule))))
