"""Docker masquerades the range that flannel routes."""

from __future__ import annotations

from podpath.checks.netfilter.masquerade_pods import check
from tests.checks.pasted import found


def test_the_option_and_the_rule() -> None:
    """Both say it."""
    text = """
$ cat /run/flannel/docker
DOCKER_OPT_IPMASQ="--ip-masq=true"
$ iptables -t nat -S POSTROUTING
-P POSTROUTING ACCEPT
-A POSTROUTING -s 172.30.24.0/24 ! -o docker0 -j MASQUERADE
"""
    assert found(check, text) == [
        (1.0, "-A POSTROUTING -s 172.30.24.0/24 ! -o docker0 -j MASQUERADE")
    ]


def test_a_host_with_docker_alone() -> None:
    """The rule is as it should be."""
    text = """
$ iptables -t nat -S POSTROUTING
-P POSTROUTING ACCEPT
-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
"""
    assert found(check, text) == []
