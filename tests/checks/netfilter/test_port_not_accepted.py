"""Rules of the host that take a port before anything accepts it."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.netfilter.port_not_accepted import NAME, find_input_refusal
from podpath.diagnosis.diagnose import diagnose
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.net.addresses import Address
from podpath.net.protocols import TCP
from tests.assembly.evidence_text import case_of_document

REJECT = "-A INPUT -j REJECT --reject-with icmp-host-prohibited"
SAVED = f"""\
$ sudo iptables -S
-P INPUT ACCEPT
-P FORWARD ACCEPT
-P OUTPUT ACCEPT
-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p icmp -j ACCEPT
-A INPUT -i lo -j ACCEPT
-A INPUT -p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT
{REJECT}
"""
LAST = "REJECT all -- 0.0.0.0/0 0.0.0.0/0 reject-with icmp-host-prohibited"
COLUMNS = """\
$ iptables -nL INPUT --line-numbers
Chain INPUT (policy ACCEPT)
num  target     prot opt source               destination
1    ACCEPT     all  --  0.0.0.0/0            0.0.0.0/0            state RELATED,ESTABLISHED
2    ACCEPT     all  --  0.0.0.0/0            0.0.0.0/0
3    ACCEPT     tcp  --  0.0.0.0/0            0.0.0.0/0            state NEW tcp dpt:22
4    REJECT     all  --  0.0.0.0/0            0.0.0.0/0            reject-with icmp-host-prohibited
"""
DROPS = SAVED.replace("-P INPUT ACCEPT", "-P INPUT DROP").replace(f"{REJECT}\n", "")
IN_OTHER = "-A OTHER -p tcp --dport 8080 -j ACCEPT"
UNREACHABLE = (
    "Clients on the Internet cannot reach port 8080 of the server, curl says no route to host.",
    "I cannot connect to the server on port 8080 from outside: No route to host.",
    "Clients outside cannot open TCP port 8080 on this machine (EHOSTUNREACH, no route to host).",
    "The server cannot be reached on port 8080 by any client, it is always no route to host.",
    "From other machines, port 8080 of the host is unreachable.",
)
SILENT = "Clients on the Internet cannot reach port 8080 of the server: it times out."


def diagnosed(prose: str, listing: str) -> list[Finding]:
    """Return the findings of this check in the diagnosis of a ticket."""
    ticket = Pasted(f"{prose}\n\n```\n{listing}```\n", "ticket.md")
    found = diagnose(read_together([ticket]).facts).findings
    return [finding for finding in found if finding.check == NAME]


@pytest.mark.parametrize("prose", UNREACHABLE)
@pytest.mark.parametrize(("listing", "last"), [(SAVED, REJECT), (COLUMNS, LAST)])
def test_the_last_rule_takes_the_port_that_prose_names(prose: str, listing: str, last: str) -> None:
    """In every spelling of the rules, where the symptom is what that rule causes."""
    (finding,) = diagnosed(prose, listing)
    assert (1.0, True) == (finding.certainty, last in " ".join(finding.evidence[0].text.split()))
    (repair,) = finding.repairs
    assert "--dport 8080 -j ACCEPT" in repair.commands[0]


@pytest.mark.parametrize(
    "prose",
    [
        "From my laptop I cannot connect to port 8080 of the database server, it times out.",
        "Connections to port 8080 of the providers time out.",
        "curl to port 8080 of any site times out on this machine.",
    ],
)
def test_rules_of_who_connects_convict_nobody(prose: str) -> None:
    """The listing may be that of the client: INPUT takes none of its connections."""
    assert all(finding.certainty < 1 for finding in diagnosed(prose, DROPS))


def test_a_policy_takes_it_silently() -> None:
    """It explains a timeout, and no error that a REJECT sends."""
    (finding,) = diagnosed(SILENT, DROPS)
    assert (1.0, "-P INPUT DROP") == (finding.certainty, finding.evidence[0].text)
    assert diagnosed(UNREACHABLE[0], DROPS) == []


@pytest.mark.parametrize(
    "listing",
    [
        SAVED.replace("--dport 22", "--dport 8080"),
        SAVED.replace("-m tcp --dport 22", "-m multiport --dports 22,8000:8100"),
        SAVED.replace(REJECT, f"-A INPUT -p tcp --dport 8080 -j ACCEPT\n{REJECT}"),
        SAVED.replace("-P OUT", "-N OTHER\n-P OUT").replace(
            REJECT, f"-A INPUT -j OTHER\n{REJECT}\n{IN_OTHER}"
        ),
        SAVED.replace(REJECT, f"-A INPUT -j NOT-SHOWN\n{REJECT}"),
        SAVED.replace(REJECT, f"...\n{REJECT}"),
        SAVED.replace("-A INPUT -i lo -j ACCEPT", "-A INPUT -m foo --bar -j ACCEPT"),
        COLUMNS.replace("tcp dpt:22", "tcp dpt:8080"),
        COLUMNS.replace("--line-numbers", "--line-numbers | grep -v 80"),
    ],
)  # fmt: skip
def test_what_may_accept_the_port_is_let_be(listing: str) -> None:
    """A rule for it, for a range that holds it, in a chain, or one that nobody shows or knows."""
    assert diagnosed(UNREACHABLE[0], listing) == []


@pytest.mark.parametrize(
    ("prose", "listing"),
    [
        (SILENT, SAVED),
        ("Clients get connection refused from port 8080 of the server.", SAVED),
        ("Pods cannot reach port 8080 of 203.0.113.9: no route to host.", SAVED),
        ("The server cannot be reached: no route to host.", SAVED),
    ],
)
def test_what_it_cannot_cause_is_let_be(prose: str, listing: str) -> None:
    """Another symptom, another sender, no port."""
    assert diagnosed(prose, listing) == []


def test_a_published_port_may_pass_it_by() -> None:
    """An engine's port is forwarded, so that INPUT need not see it."""
    (finding,) = diagnosed(f"{UNREACHABLE[0]} It is a Docker container's.", SAVED)
    assert finding.certainty < 1
    assert finding.asks


FRAGMENT = SAVED.split("-P OUTPUT ACCEPT\n")[1]


@pytest.mark.parametrize(
    ("prose", "listing", "expected"),
    [
        ("A NodePort asked from outside cannot be reached on the nodes.", SAVED, [0.5]),
        ("A NodePort asked from outside cannot be reached on the nodes.", FRAGMENT, [0.5]),
        ("Pods on other nodes are unreachable.", SAVED, [0.5]),
        ("Clients cannot reach the server.", SAVED, [0.5]),
        ("Clients cannot reach the server.", SAVED.replace("-m tcp --dport 22 ", ""), []),
        ("Clients get 502 from the server.", SAVED, []),
        ("The server cannot reach the internet.", SAVED, []),
        ("Clients reach the server.", SAVED, []),
    ],
)
def test_few_accepted_ports_are_possible_where_nobody_names_one(
    prose: str, listing: str, expected: list[float]
) -> None:
    """For what comes from elsewhere to this host; a rule for all packets leaves it open."""
    assert expected == [one.certainty for one in diagnosed(prose, listing)]


OVERLAY = "$ ip route\n10.42.0.0/24 via 10.42.0.0 dev flannel.1 onlink\n"
BETWEEN = "Pods on different nodes cannot reach each other."


STATED = """\
$ ip -d link show flannel.1
7: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT
    link/ether 1a:ca:a9:2c:dc:3b brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id 1 local 192.0.2.5 dev eth0 srcport 0 0 dstport 8472 nolearning ttl inherit
"""


@pytest.mark.parametrize(
    ("shown", "word", "sure"),
    [(OVERLAY, "dev flannel.1 onlink", False), (STATED, "dstport 8472", True)],
)
def test_an_overlay_needs_its_port(shown: str, word: str, *, sure: bool) -> None:
    """What pods of other nodes send comes in by it, whatever port they connect to. Of a device of
    which only the name is known the port is the usual one.
    """
    (finding,) = diagnosed(BETWEEN, DROPS + shown)

    assert sure is (finding.certainty == 1)
    assert word in finding.evidence[-2].text


@pytest.mark.parametrize(
    ("prose", "listing"),
    [
        (BETWEEN, f"{DROPS}-A INPUT -p udp -m udp --dport 8472 -j ACCEPT\n{OVERLAY}"),
        (BETWEEN, f"{DROPS}-A INPUT -s 192.0.2.0/24 -j ACCEPT\n{OVERLAY}"),
        ("Pods on the same node cannot reach each other.", DROPS + OVERLAY),
    ],
)
def test_an_overlay_that_is_let_in(prose: str, listing: str) -> None:
    """Its port or its peers are accepted, or no packet leaves the node."""
    assert not any("UDP port 8472" in str(one.claim) for one in diagnosed(prose, listing))


ONE_RANGE = """\
$ iptables -S INPUT
-P INPUT DROP
-A INPUT -i lo -j ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT
-A INPUT -s 192.168.8.0/24 -p tcp -m tcp --dport 80 -j ACCEPT
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
"""


def test_a_port_may_be_accepted_for_others_than_who_asks() -> None:
    """A rule for one range takes nothing of another's; the answer stays possible, since a
    translation on the way gives another source.
    """
    asked = "A firewall test. curl http://192.168.7.2/ from {} times out."
    (other,) = diagnosed(asked.format("192.168.7.9"), ONE_RANGE)

    assert ("from 192.168.7.9" in str(other.claim), other.certainty < 1) == (True, True)
    assert [] == diagnosed(asked.format("192.168.8.4"), ONE_RANGE)


@pytest.mark.parametrize(
    "rule",
    [
        "-A INPUT -s 192.168.8.0/24 -j ACCEPT\n",
        "-A INPUT -s 192.168.8.0/24 -j NEAR\n-A NEAR -j ACCEPT\n",
    ],
)
def test_all_that_others_send_may_be_accepted(rule: str) -> None:
    """Their rule names no port, and who asks may come with one of their addresses: it is kept as
    one that may accept.
    """
    listing = ONE_RANGE.replace("-A INPUT -s", f"{rule}-A INPUT -s").replace(" INPUT\n", "\n")
    case = case_of_document(f"```\n{listing}```\n")
    found = find_input_refusal(case, TCP, 80, (Address.parse("192.168.7.9"),))

    assert found is not None
    assert rule.splitlines()[0] in {one.span.text for one in found.accepting}
