"""Addresses that are asked for and nobody answers for."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.links.neighbour_unanswered import check
from tests.checks.pasted import ticket_of

ND = "IP6 {asker} > ff02::1:ff00:1: ICMP6, neighbor solicitation, who has {target}, length 32"
ARP = "ARP, Request who-has {target} tell {asker}, length 28"
OTHERS = "10:11:20.000001 ARP, Reply 192.0.2.9 is-at 02:00:00:00:00:09, length 28"


def findings(
    line: str,
    target: str,
    asker: str,
    *more: str,
    times: int = 3,
    said: str = "The host is cut off.",
) -> list[Finding]:
    """Return what is found in a ticket with a capture of one request, sent several times."""
    asked = line.format(target=target, asker=asker)
    lines = [f"10:11:1{number}.000001 {asked}" for number in range(times)]
    pasted = "\n".join((*lines, *more))
    text = f"{said}\n\n```\n# tcpdump -i eth0 arp or icmp6\n{pasted}\n```\n"
    return list(check(ticket_of(text)))


@pytest.mark.parametrize(
    ("line", "target", "asker"),
    [
        (ND, "router.lab.example", "node1.lab.example"),
        (ND, "2001:db8::1", "2001:db8::5"),
        (ND, "2001:db8:xxxx::1", "2001:db8:xxxx::5"),
        (ARP, "192.0.2.1", "192.0.2.5"),
        (ARP, "192.0.x.1", "192.0.x.5"),
        (ARP, "gateway", "node1"),
    ],
)
def test_silence_is_found_however_the_ends_are_spelled(line: str, target: str, asker: str) -> None:
    """Names and masked addresses are equal to themselves."""
    (found,) = findings(line, target, asker)

    assert (0.7, (target,)) == (found.certainty, found.marks)


def test_it_is_likelier_where_people_name_the_address() -> None:
    """The capture shows answers for others, so it was not filtered for requests."""
    (found,) = findings(ARP, "192.0.2.1", "192.0.2.5", OTHERS, said="192.0.2.1 cannot be pinged.")

    assert 0.9 == found.certainty
    (open_one,) = findings(ARP, "192.0.2.1", "192.0.2.5", said="192.0.2.1 cannot be pinged.")
    assert 0.7 == open_one.certainty


@pytest.mark.parametrize(
    ("line", "target", "asker", "answer", "times"),
    [
        (ARP, "192.0.2.1", "192.0.2.5", "ARP, Reply 192.0.2.1 is-at 02:00:00:00:00:01", 3),
        (
            ND, "2001:db8::1", "2001:db8::5",
            "IP6 2001:db8::1 > 2001:db8::5: ICMP6, neighbor advertisement, tgt is 2001:db8::1", 3,
        ),
        (ARP, "192.0.2.5", "192.0.2.5", "", 4),
        (ND, "fe80::5", "::", "", 4),
        (ARP, "192.0.2.1", "192.0.2.5", "", 2),
    ],
)  # fmt: skip
def test_an_answer_an_announcement_and_two_requests_are_healthy(
    line: str, target: str, asker: str, answer: str, times: int
) -> None:
    """So is a probe for a duplicate, which nobody should answer."""
    more = (f"10:11:19.000001 {answer}",) if answer else ()
    assert not findings(line, target, asker, *more, times=times)


def test_nobody_complains() -> None:
    """A capture of a host that works says nothing."""
    assert not findings(ARP, "192.0.2.1", "192.0.2.5", said="All is well.")


ENTRY = (
    "$ ip neigh\n192.0.2.9 dev eth0 lladdr 02:00:00:00:00:09 REACHABLE\n{target} dev eth0 {state}"
)
LADDR = "lladdr 02:00:00:00:00:01"


@pytest.mark.parametrize(
    ("said", "state", "expected"),
    [
        ("192.0.2.1 cannot be pinged.", "INCOMPLETE", [0.7]),
        ("Connections to 192.0.2.1 time out.", "FAILED", [0.7]),
        ("192.0.2.1 cannot be pinged.", f"{LADDR} STALE", []),
        ("192.0.2.9 cannot be pinged.", "FAILED", []),
        ("192.0.2.1 can be pinged.", "FAILED", []),
    ],
)
def test_an_entry_that_nobody_answered(said: str, state: str, expected: list[float]) -> None:
    """Of an address that is out of reach; others come and go on any host."""
    entry = ENTRY.format(target="192.0.2.1", state=state)
    found = check(ticket_of(f"{said}\n\n```\n{entry}\n```\n"))

    assert expected == [one.certainty for one in found]


def test_an_address_that_answers_on_another_device() -> None:
    """A host with two cards in one network asks on both."""
    text = ENTRY.format(target="192.0.2.9", state="FAILED").replace("9 dev eth0 F", "9 dev eth1 F")

    assert [] == list(check(ticket_of(f"192.0.2.9 times out.\n\n```\n{text}\n```\n")))


ASKS = (
    "10:00:0{}.1 IP6 fe80::1 > ff02::1:ff00:c0: ICMP6, neighbor solicitation, who has "
    "2001:db8:1::c0, length 32\n"
)


@pytest.mark.parametrize(
    ("prose", "sure"),
    [
        ("The container with the address 2001:db8:1::c0 gets no answers from outside.", True),
        ("The router 2001:db8:1::c0 gets no answers from outside.", False),
        ("The container with the address 2001:db8:1::c1 gets no answers from outside.", False),
    ],
)
def test_a_containers_address_that_nobody_answers_for(prose: str, sure: bool) -> None:  # noqa: FBT001 # a row
    """Its host has to answer on the LAN in its place; of any other neighbor that is not known."""
    asked = "".join(ASKS.format(number) for number in range(4))
    (found,) = check(ticket_of(f"{prose}\n\n```\n# tcpdump -ni eth0 icmp6\n{asked}```\n"))

    assert sure is (found.certainty == 1)


BEHIND = """Clients cannot reach the container at 2001:db8:1:0:1::2.

```
# ip -6 route
{route}
2001:db8:1::/64 dev eth0 proto kernel metric 256 pref medium
# {capture}
{asked}
```
"""
GUEST = "2001:db8:1:0:1::2"
INNER = "2001:db8:1:0:1::/80 dev docker0 proto kernel metric 256 pref medium"
PROXY = """An address behind the host is not reached.

```
# sysctl net.ipv6.conf.all.proxy_ndp net.ipv6.conf.eth0.proxy_ndp
net.ipv6.conf.all.proxy_ndp = {all}
net.ipv6.conf.eth0.proxy_ndp = {own}
# ip -6 neigh show proxy
2001:db8:1::2 dev eth0 proxy
# tcpdump -ni eth0 icmp6
{asked}
```
"""


def ask(target: str) -> str:
    """Return three requests for an address, as tcpdump prints them."""
    line = ND.format(asker="fe80::1", target=target)
    return "\n".join(f"15:46:5{number}.900000 {line}" for number in range(3))


def test_a_host_does_not_answer_for_whom_it_has_behind_it() -> None:
    """Its route leads to a bridge, and the LAN takes the address for one of its own."""
    ticket = BEHIND.format(route=INNER, capture="tcpdump -ni eth0 icmp6", asked=ask(GUEST))
    (found,) = check(ticket_of(ticket))

    assert "behind docker0" in str(found.claim)
    assert (found.certainty, INNER) == (1, found.evidence[-1].text)


@pytest.mark.parametrize(
    ("route", "capture"),
    [
        (INNER, "tcpdump -ni docker0 icmp6"),
        ("2001:db8:7::/64 dev docker0 proto kernel metric 256", "tcpdump -ni eth0 icmp6"),
        ("2001:db8:1:0:1::/80 dev eth0 proto static metric 256", "tcpdump -ni eth0 icmp6"),
    ],
)
def test_a_host_that_is_not_in_between_is_not_blamed(route: str, capture: str) -> None:
    """The requests are on the inner device, or the address is not behind another one."""
    (found,) = check(ticket_of(BEHIND.format(route=route, capture=capture, asked=ask(GUEST))))

    assert "behind docker0" not in str(found.claim)


def test_listed_proxies_need_their_switch() -> None:
    """The kernel answers for them only with proxy_ndp, for all devices or for this one."""
    (found,) = check(ticket_of(PROXY.format(all="0", own="0", asked=ask("2001:db8:1::2"))))
    assert "net.ipv6.conf.eth0.proxy_ndp is 0" in str(found.claim)
    assert found.certainty == 1

    for switches in ({"all": "1", "own": "0"}, {"all": "0", "own": "1"}):
        (other,) = check(ticket_of(PROXY.format(**switches, asked=ask("2001:db8:1::2"))))
        assert other.certainty < 1
