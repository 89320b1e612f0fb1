"""A policy that drops, with nothing that lets new connections in."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.policy_drop import check
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.node.case import Case
from tests.checks.pasted import found, ticket_of


def case_of(text: str) -> Case:
    """Read a ticket with its prose."""
    return read_together([Pasted(text, "ticket.md")]).facts


def test_a_fragment_that_counted_is_enough() -> None:
    """The policy's own counter says that it has dropped packets."""
    text = """
:FORWARD DROP [57:6034]
"""
    assert found(check, text) == [(1.0, ":FORWARD DROP [57:6034]")]


def test_a_fragment_that_counted_nothing_is_a_suspicion() -> None:
    """Rules that the fragment does not show may accept."""
    text = """
:FORWARD DROP [0:0]
"""
    assert found(check, text) == [(0.7, ":FORWARD DROP [0:0]")]


def test_return_paths_let_nothing_new_in() -> None:
    """Replies, loopback and ping alone are no way in."""
    text = """
$ iptables -S INPUT
-P INPUT DROP
-A INPUT -i lo -j ACCEPT
-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p icmp -j ACCEPT
"""
    assert found(check, text) == [(1.0, "-P INPUT DROP")]


@pytest.mark.parametrize(
    ("said", "chain", "expected"),
    [
        ("Port 8080 of this server times out from the LAN.", "FORWARD", 0.4),
        ("The server cannot resolve names, ping works.", "FORWARD", 0.4),
        ("Containers cannot reach the internet.", "FORWARD", 1.0),
        ("Containers cannot reach the internet.", "INPUT", 0.4),
        ("Outgoing connections time out.", "INPUT", 0.4),
        ("Clients cannot reach the server.", "INPUT", 1.0),
    ],
)
def test_a_policy_is_blamed_for_what_may_pass_its_chain(
    said: str, chain: str, expected: float
) -> None:
    """What the host forwards meets FORWARD alone, what comes to it INPUT."""
    case = case_of(f"{said}\n\n```\n# iptables -S {chain}\n-P {chain} DROP\n```\n")
    (finding,) = check(case)
    assert (expected, expected < 1) == (finding.certainty, bool(finding.asks))


def test_a_jump_may_accept() -> None:
    """Docker's own chain follows: its policy of DROP is as it should be."""
    text = """
$ iptables -S FORWARD
-P FORWARD DROP
-A FORWARD -j DOCKER-USER
"""
    assert found(check, text) == []


def test_what_was_typed_was_done() -> None:
    """A policy that was typed counts, and the chain of the host's own packets comes first."""
    text = """
sudo iptables -P INPUT DROP
sudo iptables -P OUTPUT DROP
sudo iptables -A OUTPUT -o lo -j ACCEPT
"""
    assert found(check, text) == [(1.0, "sudo iptables -P OUTPUT DROP")]


def test_a_typed_accept_for_the_bridge_opens_it() -> None:
    """A rule for the containers' device lets them in."""
    text = """
iptables -P FORWARD DROP
iptables -A FORWARD -i docker0 -j ACCEPT
"""
    assert found(check, text) == []


def typed(said: str, *commands: str) -> Case:
    """Read a ticket of commands."""
    listed = "\n".join(f"iptables {command}" for command in commands)
    return case_of(f"{said}\n\n```\n{listed}\n```\n")


BACKUP = "A backup host (198.51.100.7) cannot reach the store's port 8443; transfers time out."
CLIENTS = "Clients in the LAN cannot reach port 443 of this server."
CONTAINERS = "Containers on a host reach nothing since a script has run."
SHUT = ("-P OUTPUT DROP", "-P INPUT DROP")
OUT = "-A OUTPUT -p tcp --dport 8443 -j ACCEPT"
BACK = "-A INPUT -p tcp --sport 8443 -m conntrack --ctstate ESTABLISHED -j ACCEPT"
REPLIES = "-A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"


@pytest.mark.parametrize(
    "case",
    [
        typed(BACKUP, OUT, BACK, *SHUT),
        typed(BACKUP, *SHUT, OUT, BACK),
        typed(BACKUP, *SHUT, OUT, REPLIES),
        typed("Transfers stop half way.", *SHUT, OUT, REPLIES),
        typed(CLIENTS, "-P INPUT DROP", "-A INPUT -p tcp -m multiport --dports 80,443 -j ACCEPT"),
        typed(CLIENTS, "-P INPUT DROP", "-A INPUT -p tcp --dport https -j ACCEPT"),
    ],
)
def test_a_policy_beside_accepting_commands_is_no_cause(case: Case) -> None:
    """They accept the very port, or may: what falls to the policy has a reason of its own."""
    (finding,) = check(case)

    assert (0.4, ()) == (finding.certainty, finding.repairs)
    assert "-j LOG" in finding.asks[0].command


@pytest.mark.parametrize(
    "case",
    [
        typed(CONTAINERS, "-P FORWARD DROP", "-A INPUT -p tcp --dport 22 -j ACCEPT"),
        typed(CONTAINERS, "-P INPUT DROP", "-A INPUT -p tcp --dport 22 -j ACCEPT"),
        typed(CLIENTS, "-P INPUT DROP", "-A INPUT -p tcp --dport 22 -j ACCEPT", REPLIES),
        typed(BACKUP, *SHUT, "-A OUTPUT -o lo -j ACCEPT", "-A OUTPUT -p icmp -j ACCEPT"),
    ],
)
def test_a_policy_that_nothing_beside_it_opens_stays_certain(case: Case) -> None:
    """What is accepted is another chain's, another port, or no connection's."""
    assert 1.0 == next(check(case)).certainty


@pytest.mark.parametrize(
    ("said", "expected"), [(CONTAINERS, True), (BACKUP, False), (CLIENTS, False)]
)
def test_containers_are_named_only_where_they_are_meant(*, said: str, expected: bool) -> None:
    """The host's own connections pass INPUT and OUTPUT, too."""
    (finding,) = check(typed(said, *SHUT))

    assert expected is ("containers' packets" in str(finding.claim))


def test_an_accept_for_the_bridge_before_the_policy_opens_it() -> None:
    """A policy holds for what no rule takes, whatever the order of the commands."""
    opened = typed(CONTAINERS, "-A FORWARD -i docker0 -j ACCEPT", "-P FORWARD DROP")

    assert [] == list(check(opened))


BARE = """\
What Podman publishes, port 8081 of a container, cannot be reached from other machines: connections time out.

```
$ iptables --version
iptables v1.8.9 (nf_tables)
$ iptables -S
-P INPUT ACCEPT
-P FORWARD DROP
-P OUTPUT ACCEPT
```
"""  # noqa: E501


def test_a_table_without_the_engines_chains_is_half_of_the_story() -> None:
    """What runs containers leaves chains: they stand in the other backend."""
    (finding,) = check(case_of(BARE))

    assert 0.6 == finding.certainty
    assert "iptables-" in finding.asks[0].command
    assert () == finding.repairs


def test_with_the_engines_chains_the_policy_is_the_cause() -> None:
    """Its own chains stand in this table, and accept nothing here."""
    own = BARE.replace("-P OUTPUT ACCEPT", "-P OUTPUT ACCEPT\n-N NETAVARK_FORWARD")
    (finding,) = check(case_of(own))

    assert 0.6 < finding.certainty
    assert finding.repairs


TOLD = "The default of INPUT is to drop."
OWN = "Containers on this host do not reach the host's own MySQL at 172.17.0.1:3306."


@pytest.mark.parametrize(
    ("said", "shown", "certainties"),
    [
        (f"{OWN} {TOLD}", "", [0.8]),
        (f"{OWN} INPUT chain's policy is DROP.", "", [0.8]),
        (f"{OWN} The firewall drops incoming packets by default.", "", [0.8]),
        (OWN, "", []),
        (f"Containers of this host do not reach 198.51.100.7:3306. {TOLD}", "", []),
        (
            f"{OWN} {TOLD}",
            "# iptables -S INPUT\n-P INPUT DROP\n-A INPUT -i docker0 -j ACCEPT\n",
            [],
        ),
    ],
    ids=["default", "policy", "drops", "untold", "elsewhere", "accepted"],
)
def test_what_people_say_of_input_may_keep_containers_from_their_host(
    said: str, shown: str, certainties: list[float]
) -> None:
    """Where no output shows the chain: a rule may accept them."""
    block = f"\n\n```\n{shown}```\n" if shown else "\n"

    assert certainties == [one.certainty for one in check(ticket_of(said + block))]
