"""What a DNAT rule asks of packets, held against those that people say are not served."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.dnat_matches import check
from tests.checks.pasted import ticket_of

FROM_LAN = (
    "Nobody gets the page of 192.0.2.77:8443 from the LAN (device lan); from outside (device wan) "
    "they do."
)
FROM_WORLD = "From the internet nothing reaches 203.0.113.61:8080, where the container serves."
SSH = "Since the script was run, ssh to the host (port 22) is refused from everywhere."
HEAD = """\
# iptables -t nat -nvL PREROUTING
Chain PREROUTING (policy ACCEPT 811 packets, 48660 bytes)
 pkts bytes target     prot opt in     out     source               destination
"""
BY_WAN = "301 18060 DNAT tcp -- wan * 0.0.0.0/0 192.0.2.77 tcp dpt:8443 to:10.10.0.4:443\n"
TO_PUBLIC = "0 0 DNAT tcp -- * * 0.0.0.0/0 203.0.113.61 tcp dpt:8080 to:172.17.0.4:80\n"
CARDS = """\
# ip -4 addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    inet 127.0.0.1/8 scope host lo
2: ens5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9001 qdisc mq state UP group default qlen 1000
    inet {address}/24 scope global ens5
"""


def told(said: str, shown: str) -> list[tuple[float, str]]:
    """Return what the check finds in a ticket: how sure it is, and its mark."""
    found = check(ticket_of(f"{said}\n\n```\n{shown}```\n"))
    return [(one.certainty, one.marks[0]) for one in found]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (BY_WAN, [(0.8, "8443")]),
        (BY_WAN.replace("wan", "*"), []),
        (BY_WAN.replace("wan", "lan"), []),
        (BY_WAN + BY_WAN.replace("wan", "lan"), []),
        (BY_WAN.replace("8443", "8444"), []),
    ],
    ids=["wan", "every", "lan", "both", "other-port"],
)
def test_a_rule_for_one_device_is_not_met_by_another(
    rules: str, expected: list[tuple[float, str]]
) -> None:
    """Where the sentence names the device that clients come by, and no other rule is for it."""
    assert expected == told(FROM_LAN, HEAD + rules)


@pytest.mark.parametrize(
    ("address", "rules", "expected"),
    [
        ("10.8.4.19", TO_PUBLIC, [(0.8, "8080")]),
        ("203.0.113.61", TO_PUBLIC, []),
        ("10.8.4.19", TO_PUBLIC.replace("0 0 DNAT", "44 2640 DNAT"), []),
        ("10.8.4.19", TO_PUBLIC.replace("203.0.113.61", "0.0.0.0/0"), []),
    ],
    ids=["translated-before", "own", "counted", "any"],
)
def test_a_rule_for_an_address_that_no_card_has_may_be_met_by_nothing(
    address: str, rules: str, expected: list[tuple[float, str]]
) -> None:
    """Where all cards are listed and the rule has counted nothing."""
    assert expected == told(FROM_WORLD, CARDS.format(address=address) + HEAD + rules)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("-A PREROUTING -p tcp -j DNAT --to-destination 10.9.0.2", [(0.5, "10.9.0.2")]),
        ("-A PREROUTING -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.9.0.2", []),
        ("-A PREROUTING -i br0 -p tcp -j DNAT --to-destination 10.9.0.2", []),
        ("-A PREROUTING -p udp -j DNAT --to-destination 10.9.0.2", []),
        ("-A PREROUTING -s 10.8.0.0/16 -p tcp -j DNAT --to-destination 10.9.0.2", []),
    ],
    ids=["all", "port", "device", "udp", "sources"],
)
def test_a_rule_without_a_port_takes_what_is_the_hosts(
    rule: str, expected: list[tuple[float, str]]
) -> None:
    """Possible only: the far end may be meant to serve it."""
    shown = f"# iptables -t nat -S PREROUTING\n-P PREROUTING ACCEPT\n{rule}\n"

    assert expected == told(SSH, shown)
