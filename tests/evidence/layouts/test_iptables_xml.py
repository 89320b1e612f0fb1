"""The XML of iptables-xml back to the rules that it was made of."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from podpath.evidence.layouts.iptables_xml import looks_like_xml, spell_rules

RULES = """\
*filter
:FORWARD DROP [12:3400]
:INPUT ACCEPT [0:0]
:KUBE-FORWARD - [0:0]
:OUTPUT DROP [0:0]
-A FORWARD -m comment --comment "kubernetes forwarding rules <a & b>" -j KUBE-FORWARD
-A FORWARD ! -s 10.0.0.0/8 -i eth0 -p tcp -m tcp ! --dport 80 -m conntrack ! --ctstate NEW -j REJECT --reject-with tcp-reset
-A FORWARD -m physdev --physdev-is-bridged -j MARK --set-xmark 0x4000/0x4000
-A FORWARD -j DROP
-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -d 1.2.3.4/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.1:80
-A PREROUTING -m set --match-set KUBE dst,dst -m addrtype --dst-type LOCAL -j MASQUERADE --random-fully
COMMIT
"""  # noqa: E501


@pytest.mark.skipif(shutil.which("iptables-xml") is None, reason="needs iptables-xml")
def test_what_the_tool_prints_is_read_back() -> None:
    """Every chain with its policy and every rule comes back, in order within its chain."""
    printed = subprocess.run(
        ("iptables-xml",), input=RULES, capture_output=True, text=True, check=True
    ).stdout
    assert looks_like_xml(printed)
    lines = [*spell_rules(printed)]
    assert sorted(RULES.splitlines()) == sorted(lines)
    for chain in ("-A FORWARD", "-A PREROUTING"):
        assert [line for line in RULES.splitlines() if line.startswith(chain)] == [
            line for line in lines if line.startswith(chain)
        ]


@pytest.mark.parametrize(
    "text",
    ["", "<", "<iptables-rules><table", "</rule></chain>", "<a/>" * 50, "<table name='x'>" * 20],
)
def test_what_is_no_such_xml(text: str) -> None:
    """Damaged text gives no rules, and never raises."""
    assert not any(line.startswith("-A") for line in spell_rules(text))
