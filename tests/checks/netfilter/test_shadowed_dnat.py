"""Two DNAT rules for the same packets."""

from __future__ import annotations

from podpath.checks.netfilter.shadowed_dnat import check
from tests.checks.pasted import found


def test_the_first_one_counts() -> None:
    """The first has counted, the second never."""
    text = """
$ iptables -t nat -vnL | grep 8080
 22  1K DNAT       tcp  --  !docker0 *       0.0.0.0/0            0.0.0.0/0            tcp dpt:8080 to:172.17.0.9:80
  0   0 DNAT       tcp  --  !docker0 *       0.0.0.0/0            0.0.0.0/0            tcp dpt:8080 to:172.17.0.4:80
"""  # noqa: E501
    assert found(check, text) == [
        (1.0, "22 1K DNAT tcp -- !docker0 * 0.0.0.0/0 0.0.0.0/0 tcp dpt:8080 to:172.17.0.9:80")
    ]


def test_two_ports_are_two_rules() -> None:
    """Each has packets of its own."""
    text = """
-A DOCKER ! -i docker0 -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.2:80
-A DOCKER ! -i docker0 -p tcp -m tcp --dport 81 -j DNAT --to-destination 172.17.0.3:80
"""
    assert found(check, text) == []


def test_endpoints_by_chance_are_no_shadow() -> None:
    """A service with two endpoints chooses."""
    text = """
-A KUBE-SVC-X -m statistic --mode random --probability 0.5 -j DNAT --to-destination 10.1.1.2:80
-A KUBE-SVC-X -j DNAT --to-destination 10.1.1.3:80
"""
    assert found(check, text) == []


def test_columns_without_devices_show_it_too() -> None:
    """Docker's chain has no rules for single devices."""
    text = """
Chain DOCKER (2 references)
target     prot opt source               destination
DNAT       tcp  --  anywhere             anywhere             tcp dpt:mysql to:172.18.0.2:3306
DNAT       tcp  --  anywhere             anywhere             tcp dpt:mysql to:172.18.0.4:3306
"""
    assert found(check, text) == [
        (1.0, "DNAT tcp -- anywhere anywhere tcp dpt:mysql to:172.18.0.2:3306")
    ]


def test_two_jumps_of_one_condition_lead_to_two_places() -> None:
    """The second chain is never reached."""
    text = """
-A CNI-HOSTPORT-DNAT -p tcp -m multiport --dports 80,443 -j CNI-DN-old
-A CNI-HOSTPORT-DNAT -p tcp -m multiport --dports 80,443 -j CNI-DN-new
-A CNI-DN-old -p tcp -m tcp --dport 443 -j DNAT --to-destination 10.42.0.7:443
-A CNI-DN-new -p tcp -m tcp --dport 443 -j DNAT --to-destination 10.42.0.31:443
"""
    assert found(check, text) == [
        (1.0, "-A CNI-DN-old -p tcp -m tcp --dport 443 -j DNAT --to-destination 10.42.0.7:443")
    ]


def test_two_addresses_of_the_host_are_two_keys() -> None:
    """Each address has the port once."""
    text = """
-A DOCKER -d 192.0.2.1/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.2:80
-A DOCKER -d 192.0.2.2/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 172.17.0.3:80
"""
    assert found(check, text) == []
