"""Rules that stand there again and again."""

from __future__ import annotations

from podpath.checks.netfilter.rule_bloat import check
from tests.checks.pasted import found


def test_a_count_beyond_reason() -> None:
    """Nobody needs so many."""
    text = """
$ iptables-save | wc -l
99423
"""
    assert found(check, text) == [(0.8, "99423")]


def test_a_common_count() -> None:
    """A few thousand are a cluster's."""
    text = """
$ iptables-save | wc -l
1423
"""
    assert found(check, text) == []


def test_copies() -> None:
    """One rule stands there hundreds of times."""
    text = """
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap0 -j ACCEPT
"""
    assert found(check, text) == [(1.0, "-A FORWARD -i tap0 -j ACCEPT")]


def test_different_rules() -> None:
    """As many rules, each another one."""
    text = """
-A FORWARD -i tap0 -j ACCEPT
-A FORWARD -i tap1 -j ACCEPT
-A FORWARD -i tap2 -j ACCEPT
-A FORWARD -i tap3 -j ACCEPT
-A FORWARD -i tap4 -j ACCEPT
-A FORWARD -i tap5 -j ACCEPT
-A FORWARD -i tap6 -j ACCEPT
-A FORWARD -i tap7 -j ACCEPT
-A FORWARD -i tap8 -j ACCEPT
-A FORWARD -i tap9 -j ACCEPT
-A FORWARD -i tap10 -j ACCEPT
-A FORWARD -i tap11 -j ACCEPT
-A FORWARD -i tap12 -j ACCEPT
-A FORWARD -i tap13 -j ACCEPT
-A FORWARD -i tap14 -j ACCEPT
-A FORWARD -i tap15 -j ACCEPT
-A FORWARD -i tap16 -j ACCEPT
-A FORWARD -i tap17 -j ACCEPT
-A FORWARD -i tap18 -j ACCEPT
-A FORWARD -i tap19 -j ACCEPT
-A FORWARD -i tap20 -j ACCEPT
-A FORWARD -i tap21 -j ACCEPT
-A FORWARD -i tap22 -j ACCEPT
-A FORWARD -i tap23 -j ACCEPT
-A FORWARD -i tap24 -j ACCEPT
-A FORWARD -i tap25 -j ACCEPT
-A FORWARD -i tap26 -j ACCEPT
-A FORWARD -i tap27 -j ACCEPT
-A FORWARD -i tap28 -j ACCEPT
-A FORWARD -i tap29 -j ACCEPT
-A FORWARD -i tap30 -j ACCEPT
-A FORWARD -i tap31 -j ACCEPT
-A FORWARD -i tap32 -j ACCEPT
-A FORWARD -i tap33 -j ACCEPT
-A FORWARD -i tap34 -j ACCEPT
-A FORWARD -i tap35 -j ACCEPT
-A FORWARD -i tap36 -j ACCEPT
-A FORWARD -i tap37 -j ACCEPT
-A FORWARD -i tap38 -j ACCEPT
-A FORWARD -i tap39 -j ACCEPT
-A FORWARD -i tap40 -j ACCEPT
-A FORWARD -i tap41 -j ACCEPT
-A FORWARD -i tap42 -j ACCEPT
-A FORWARD -i tap43 -j ACCEPT
-A FORWARD -i tap44 -j ACCEPT
-A FORWARD -i tap45 -j ACCEPT
-A FORWARD -i tap46 -j ACCEPT
-A FORWARD -i tap47 -j ACCEPT
-A FORWARD -i tap48 -j ACCEPT
-A FORWARD -i tap49 -j ACCEPT
-A FORWARD -i tap50 -j ACCEPT
-A FORWARD -i tap51 -j ACCEPT
-A FORWARD -i tap52 -j ACCEPT
-A FORWARD -i tap53 -j ACCEPT
-A FORWARD -i tap54 -j ACCEPT
-A FORWARD -i tap55 -j ACCEPT
-A FORWARD -i tap56 -j ACCEPT
-A FORWARD -i tap57 -j ACCEPT
-A FORWARD -i tap58 -j ACCEPT
-A FORWARD -i tap59 -j ACCEPT
-A FORWARD -i tap60 -j ACCEPT
-A FORWARD -i tap61 -j ACCEPT
-A FORWARD -i tap62 -j ACCEPT
-A FORWARD -i tap63 -j ACCEPT
-A FORWARD -i tap64 -j ACCEPT
-A FORWARD -i tap65 -j ACCEPT
-A FORWARD -i tap66 -j ACCEPT
-A FORWARD -i tap67 -j ACCEPT
-A FORWARD -i tap68 -j ACCEPT
-A FORWARD -i tap69 -j ACCEPT
-A FORWARD -i tap70 -j ACCEPT
-A FORWARD -i tap71 -j ACCEPT
-A FORWARD -i tap72 -j ACCEPT
-A FORWARD -i tap73 -j ACCEPT
-A FORWARD -i tap74 -j ACCEPT
-A FORWARD -i tap75 -j ACCEPT
-A FORWARD -i tap76 -j ACCEPT
-A FORWARD -i tap77 -j ACCEPT
-A FORWARD -i tap78 -j ACCEPT
-A FORWARD -i tap79 -j ACCEPT
-A FORWARD -i tap80 -j ACCEPT
-A FORWARD -i tap81 -j ACCEPT
-A FORWARD -i tap82 -j ACCEPT
-A FORWARD -i tap83 -j ACCEPT
-A FORWARD -i tap84 -j ACCEPT
-A FORWARD -i tap85 -j ACCEPT
-A FORWARD -i tap86 -j ACCEPT
-A FORWARD -i tap87 -j ACCEPT
-A FORWARD -i tap88 -j ACCEPT
-A FORWARD -i tap89 -j ACCEPT
-A FORWARD -i tap90 -j ACCEPT
-A FORWARD -i tap91 -j ACCEPT
-A FORWARD -i tap92 -j ACCEPT
-A FORWARD -i tap93 -j ACCEPT
-A FORWARD -i tap94 -j ACCEPT
-A FORWARD -i tap95 -j ACCEPT
-A FORWARD -i tap96 -j ACCEPT
-A FORWARD -i tap97 -j ACCEPT
-A FORWARD -i tap98 -j ACCEPT
-A FORWARD -i tap99 -j ACCEPT
-A FORWARD -i tap100 -j ACCEPT
-A FORWARD -i tap101 -j ACCEPT
-A FORWARD -i tap102 -j ACCEPT
-A FORWARD -i tap103 -j ACCEPT
-A FORWARD -i tap104 -j ACCEPT
-A FORWARD -i tap105 -j ACCEPT
-A FORWARD -i tap106 -j ACCEPT
-A FORWARD -i tap107 -j ACCEPT
-A FORWARD -i tap108 -j ACCEPT
-A FORWARD -i tap109 -j ACCEPT
-A FORWARD -i tap110 -j ACCEPT
-A FORWARD -i tap111 -j ACCEPT
-A FORWARD -i tap112 -j ACCEPT
-A FORWARD -i tap113 -j ACCEPT
-A FORWARD -i tap114 -j ACCEPT
-A FORWARD -i tap115 -j ACCEPT
-A FORWARD -i tap116 -j ACCEPT
-A FORWARD -i tap117 -j ACCEPT
-A FORWARD -i tap118 -j ACCEPT
-A FORWARD -i tap119 -j ACCEPT
"""
    assert found(check, text) == []


def test_a_pipe_counts_copies() -> None:
    """`uniq -c` puts the number before the rule."""
    text = """
$ iptables-save | sort | uniq -c | sort -rn | head -3
   5321 -A KUBE-FIREWALL -j DROP
      2 COMMIT
      1 -A INPUT -j KUBE-FIREWALL
"""
    assert found(check, text) == [(1.0, "5321 -A KUBE-FIREWALL -j DROP")]
