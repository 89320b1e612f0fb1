"""By which card a host answers what came in by its second one, and what podpath says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from podpath.checks.routing.second_card_unanswered import check
from tests.checks.pasted import ticket_of
from tests.kernel.router import run

pytestmark = pytest.mark.kernel("ip", "iptables", "ping", "sysctl")

HOST, POD, FIRST, SECOND = (f"card-{os.getpid()}-{part}" for part in ("host", "pod", "one", "two"))
CLIENT, ADDRESS = "198.51.100.9", "10.2.0.2"
FAR = "2001:db8:1::99"
SAID = f"The published port of a container does not answer by the address {ADDRESS}."


@pytest.fixture
def host() -> Iterator[None]:
    """Provide a host with two cards, a container behind it, and a router on each card."""
    try:
        for netns in (HOST, POD, FIRST, SECOND):
            run("ip", "netns", "add", netns)
        for device, netns in (("eth0", FIRST), ("eth1", SECOND), ("veth1", POD)):
            wire = f"link add {device} netns {HOST} type veth peer name wire netns {netns}"
            run("ip", *wire.split())
            run("ip", "-n", HOST, "link", "set", device, "up")
            run("ip", "-n", netns, "link", "set", "wire", "up")
        _address()
        yield
    finally:
        for netns in (HOST, POD, FIRST, SECOND):
            run("ip", "netns", "del", netns)


def _address() -> None:
    for netns, line in (
        (HOST, "addr add 10.1.0.2/24 dev eth0"),
        (HOST, f"addr add {ADDRESS}/24 dev eth1"),
        (HOST, "addr add 172.17.0.1/24 dev veth1"),
        (HOST, "route add default via 10.1.0.1"),
        (POD, "addr add 172.17.0.2/24 dev wire"),
        (POD, "route add default via 172.17.0.1"),
        (FIRST, "addr add 10.1.0.1/24 dev wire"),
        (SECOND, "addr add 10.2.0.1/24 dev wire"),
        (SECOND, f"addr add {CLIENT}/32 dev wire"),
    ):
        run("ip", "-n", netns, *line.split())
    _set("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
    _set(*(f"net.ipv4.conf.{device}.rp_filter=0" for device in ("eth0", "eth1", "veth1")))
    rule = "-t nat -A PREROUTING -p icmp -d {} -j DNAT --to-destination 172.17.0.2"
    run("ip", "netns", "exec", HOST, "iptables", *rule.format(ADDRESS).split())


def _set(*settings: str) -> None:
    run("ip", "netns", "exec", HOST, "sysctl", "-qw", *settings)


def _route(line: str) -> None:
    run("ip", "-n", HOST, "route", *line.split())


def _answers(client: str) -> bool:
    asked = f"ping -c 1 -W 1 -I {client} {ADDRESS} >/dev/null && echo answered || true"
    return run("ip", "netns", "exec", SECOND, "sh", "-c", asked).strip() == "answered"


def _count_left_by(device: str) -> int:
    listed = run("ip", "-n", HOST, "-s", "link", "show", device).splitlines()
    heading = next(place for place, line in enumerate(listed) if line.strip().startswith("TX:"))
    return int(listed[heading + 1].split()[1])


def test_a_default_route_of_a_greater_metric_is_not_used(host: None) -> None:  # noqa: ARG001
    """It takes its turn as soon as the other one is gone."""
    _route("add default via 10.2.0.1 dev eth1 metric 200")
    before = _count_left_by("eth0")

    assert not _answers(CLIENT)
    assert _count_left_by("eth0") > before
    _route("del default via 10.1.0.1")
    assert _answers(CLIENT)


def test_an_answer_takes_the_first_cards_default_route(host: None) -> None:  # noqa: ARG001
    """It is routed by its destination before its source is translated back, so a rule for the
    second card's address changes nothing for what is forwarded.
    """
    before = _count_left_by("eth0")
    assert not _answers(CLIENT)
    assert _answers("10.2.0.1")
    assert _count_left_by("eth0") > before

    outputs = "".join(
        f"$ {command}\n{run(*command.replace('ip ', f'ip -n {HOST} ', 1).split())}"
        for command in ("ip addr", "ip route", "ip rule")
    )
    (found,) = check(ticket_of(f"{SAID}\n\n```\n{outputs}```\n"))
    assert "eth1" in str(found.claim)
    assert found.certainty < 1

    run("ip", "-n", HOST, "rule", "add", "from", ADDRESS, "lookup", "100")
    beyond = "route add default via 10.2.0.1 dev eth1 table 100"
    run("ip", "-n", HOST, *beyond.split())
    assert not _answers(CLIENT)


@pytest.mark.parametrize(
    ("common", "own", "answers"), [(0, 0, False), (1, 0, True), (0, 1, True)]
)  # fmt: skip
def test_a_host_answers_for_others_by_either_switch(
    host: None,  # noqa: ARG001
    *,
    common: int,
    own: int,
    answers: bool,
) -> None:
    """An address that it lists as one to answer for, and has behind another device."""
    for netns, line in (
        (HOST, "addr add 2001:db8:1::1/64 dev eth0 nodad"),
        (FIRST, "addr add 2001:db8:1::2/64 dev wire nodad"),
        (HOST, f"route add {FAR}/128 dev veth1"),
        (HOST, f"neigh add proxy {FAR} dev eth0"),
    ):
        run("ip", "-n", netns, "-6", *line.split())
    _set("net.ipv6.conf.all.forwarding=1", f"net.ipv6.conf.all.proxy_ndp={common}")
    _set(f"net.ipv6.conf.eth0.proxy_ndp={own}")
    run("ip", "netns", "exec", FIRST, "sh", "-c", f"ping -6 -c 1 -W 2 {FAR} >/dev/null || true")

    told = run("ip", "-n", FIRST, "-6", "neigh", "show", FAR)
    assert ("lladdr" in told) is answers
