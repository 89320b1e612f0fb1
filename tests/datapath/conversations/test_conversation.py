"""Tests of whole connections: handshake, data, replies, and how they fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from podpath.datapath.conversations.conversation import ERRORS_AT_ONCE, converse, script_of
from podpath.datapath.reasons.failures import EndPlace, Misdelivered, PacketDropped
from podpath.datapath.reasons.routes import GivenToSocket
from podpath.datapath.tracing.trace import Delivered
from podpath.datapath.vocabulary import ConversationFailure, GivenSocket
from podpath.datapath.walk.compiled import Engine
from podpath.net import protocols
from podpath.net.provenance import Listing
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node, Socket
from podpath.report.sentences import spell_failure
from podpath.testing.nodes import (
    Fields,
    forwarding,
    given_netns,
    given_node,
    given_rule,
    listening,
    probe,
)
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import branch_where, last
from tests.kernel.recorded_cases import build_case

RECORDED = Path(__file__).resolve().parents[2] / "data/agreement"
WORLD = probe("tcp 10.1.0.2 > 203.0.113.9:80")


def given(*texts: str, routes: tuple[str, ...] = (), **pod: object) -> Node:
    """Return a pod behind a host with these tables; `pod` are fields of the pod's namespace."""
    tables = tuple(table for text in texts for table in given_tables(text))
    main = given_netns(
        "host", "eth0 192.0.2.2/24", "lxc1 10.9.0.1/24 peer pod:eth0",
        routes=["10.1.0.2 dev lxc1", "default via 192.0.2.254 dev eth0", *routes],
        sysctls=forwarding(rp_filter="0"),
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True)}},
    )  # fmt: skip
    gateway = ["10.9.0.1 dev eth0 scope link", "default via 10.9.0.1 dev eth0"]
    fields: Fields = dict(pod)
    return given_node(
        main, given_netns("pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=gateway, netns=fields)
    )


LOCAL = ("local default dev lo table 100",)
PROXY = "PREROUTING -p tcp --dport 80 -j TPROXY --on-port 15001 --tproxy-mark 1"


def proxied(*rules: str, kept: bool = True) -> Node:
    """Return a pod behind a host with a transparent proxy; what is `kept` has a route to it."""
    node = given(given_rules(PROXY, *rules, table="mangle"), routes=LOCAL if kept else ())
    held = Socket(protocol=protocols.TCP, local=None, port=15001, transparent=True)
    marked = (given_rule("90: from all fwmark 0x1 lookup 100"),) if kept else ()
    host = replace(
        node.host,
        sockets=Listing((held,), True, "ss"),
        rules=node.host.rules._replace(items=(*marked, *node.host.rules.items)),
    )
    return replace(node, namespaces={**node.namespaces, "host": host})


def test_a_proxy_answers_in_the_servers_name() -> None:
    """Its socket is given what the rule marks, and sends from the address that was asked for."""
    found = converse(proxied(), WORLD)

    assert "ALWAYS" == found.verdict, spell_failure(found.branches[0].failure)
    opened, answer, later, *_ = found.branches[0].traces
    assert isinstance(opened.outcome, Delivered)
    assert isinstance(later.outcome, Delivered)
    assert "203.0.113.9" == str(answer.packet.src)
    assert (GivenSocket.LISTENER, GivenSocket.CONNECTED) == (
        opened.outcome.given,
        later.outcome.given,
    )


def test_what_a_proxy_is_given_stays_here() -> None:
    """Without a route for its mark it would be forwarded, and is dropped."""
    found = converse(proxied(kept=False), WORLD)

    assert "NEVER" == found.verdict
    assert GivenToSocket() == found.branches[0].traces[0].deciding.reason


def test_the_proxys_listener_knows_nothing_of_a_translated_connection() -> None:
    """What it took under another address it does not find again: a reset answers."""
    node = proxied()
    tables = given_tables(
        given_rules("PREROUTING -d 203.0.113.9 -j DNAT --to 203.0.113.8", table="nat")
    )
    netfilter = node.host.netfilter[4]
    host = replace(
        node.host,
        netfilter={4: replace(netfilter, tables=(*netfilter.tables, *tables))},
    )
    found = converse(replace(node, namespaces={**node.namespaces, "host": host}), WORLD)

    assert ConversationFailure.STRAY is found.branches[0].kind
    assert ["RST"] == sorted({answer.name for answer in found.branches[0].answers} - {"data"})


def names(node: Node, text: str) -> list[tuple[str, str]]:
    """Return name and direction of every packet of a connection that works."""
    found = converse(node, probe(text))
    assert "ALWAYS" == found.verdict, spell_failure(found.branches[0].failure)
    return [(trace.name, trace.direction) for trace in found.branches[0].traces]


def test_every_packet_of_a_connection_is_walked() -> None:
    """TCP has its handshake and data both ways, UDP a request and a reply, ICMP an echo."""
    node = given()

    assert [
        ("SYN", "original"), ("SYN-ACK", "reply"), ("ACK", "original"), ("data", "original"),
        ("data reply", "reply"),
    ] == names(node, "tcp 10.1.0.2 > 203.0.113.9:80")  # fmt: skip
    assert [("request", "original"), ("reply", "reply")] == names(
        node, "udp 10.1.0.2 > 203.0.113.9:53"
    )
    assert [("echo request", "original"), ("echo reply", "reply")] == names(
        node, "icmp 10.1.0.2 > 203.0.113.9"
    )
    assert script_of(17) == script_of(200)


def test_a_server_answers_what_it_saw_and_the_client_sees_what_it_asked() -> None:
    """Source translation is seen by the server, and undone for the client."""
    nat = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    first, second = converse(given(nat), WORLD).branches[0].traces[:2]

    assert ("203.0.113.9", "192.0.2.2") == (str(second.packet.src), str(second.packet.dst))
    assert "10.1.0.2" == str(second.steps[-1].after.dst)
    assert "192.0.2.2" == str(first.steps[-1].after.src)


def test_conntrack_is_carried_from_packet_to_packet() -> None:
    """A reply that only an ESTABLISHED rule lets in comes in, since the SYN was seen."""
    rules = given_rules(
        "FORWARD -i lxc1 -j ACCEPT",
        "FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT",
        "FORWARD -j DROP",
    )

    assert "ALWAYS" == converse(given(rules), WORLD).verdict
    assert "NEVER" == converse(given(rules), probe("tcp 203.0.113.9 > 10.1.0.2:80")).verdict


@pytest.mark.parametrize(("protocol", "answer"), [("tcp", "RST"), ("udp", "icmp-port-unreachable")])
def test_nobody_listens(protocol: str, answer: str) -> None:
    """Where the sockets are all listed and none takes the packet the connection is refused, and the
    client told.
    """
    node = given(sockets=listening(22))
    branch = converse(node, probe(f"{protocol} 203.0.113.9 > 10.1.0.2:80")).branches[0]

    assert ("refused", False, [answer]) == (
        branch.kind,
        branch.works,
        [trace.name for trace in branch.answers],
    )
    assert spell_failure(branch.failure).endswith(
        "nobody listens on " + str(branch.last.steps[-1].after)
    )


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("tcp 203.0.113.9 > 10.1.0.2:22", "ALWAYS"),
        ("icmp 203.0.113.9 > 10.1.0.2", "ALWAYS"),
        ("udp 203.0.113.9 > 10.1.0.2:22", "NEVER"),
    ],
)
def test_a_listener_takes_its_own(text: str, verdict: str) -> None:
    """A socket takes its protocol and port; an echo needs none."""
    assert verdict == converse(given(sockets=listening(22)), probe(text)).verdict


def test_a_drop_names_packet_place_and_reason() -> None:
    """The failure is one line: which packet, where, which rule."""
    branch = converse(
        given(given_rules("FORWARD -p tcp -m tcp --dport 80 -j DROP")), WORLD
    ).branches[0]

    assert ("dropped", True) == (
        branch.kind,
        isinstance(branch.failure, PacketDropped),
    )


def test_a_reject_tells_the_sender() -> None:
    """A rejected packet's answer is walked back to its sender."""
    branch = converse(
        given(given_rules("FORWARD -j REJECT --reject-with icmp-host-prohibited")), WORLD
    ).branches[0]

    assert ("rejected", ["icmp-host-prohibited"]) == (
        branch.kind,
        [trace.name for trace in branch.answers],
    )
    assert "10.1.0.2" == str(branch.answers[0].steps[-1].after.dst)


def test_a_reply_that_is_not_translated_back_fails_by_its_own_name() -> None:
    """A reply that comes with another source than was asked is no answer to the client."""
    nat = given_rules(
        "PREROUTING -d 10.96.0.10/32 -j DNAT --to-destination 203.0.113.9", table="nat"
    )
    raw = given_rules("PREROUTING -i eth0 -j NOTRACK", table="raw")
    branch = converse(given(nat, raw), probe("tcp 10.1.0.2 > 10.96.0.10:80")).branches[0]

    assert ("reply not translated", ["RST"]) == (
        branch.kind,
        [trace.name for trace in branch.answers],
    )


def test_a_later_packet_that_is_translated_otherwise_is_a_stray() -> None:
    """A packet that reaches the server under another tuple than the SYN did belongs to no
    connection there.
    """
    nat = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    raw = given_rules(
        "PREROUTING -i lxc1 -p tcp -m tcp ! --tcp-flags SYN SYN -j NOTRACK", table="raw"
    )
    branch = converse(given(nat, raw), WORLD).branches[0]

    assert ("stray", "ACK") == (branch.kind, branch.last.name)


def test_a_reply_to_the_wrong_place_is_misdelivered() -> None:
    """A reply that reaches another host than the client is lost."""
    nat = given_rules("POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.2", table="nat")
    raw = given_rules("PREROUTING -i eth0 -j NOTRACK", table="raw")
    branch = converse(given(nat, raw), WORLD).branches[0]

    lost = Misdelivered("SYN-ACK", EndPlace("host", None), EndPlace("pod", None), True)
    assert ("misdelivered", lost) == (branch.kind, branch.failure)


def test_what_is_not_modelled_is_undecided() -> None:
    """A conversation that meets a boundary neither works nor fails."""
    found = converse(
        given_node(given_netns("host", "eth0 master red", "red kind vrf")),
        probe("tcp 203.0.113.9 > 192.0.2.2:80 in eth0"),
    )

    assert ("UNDECIDED", None, "undecided") == (
        found.verdict,
        found.branches[0].works,
        found.branches[0].kind,
    )


def test_the_kernels_choice_is_sometimes() -> None:
    """Where the kernel draws between a path that works and one that does not, the connection works
    sometimes.
    """
    rules = given_rules("FORWARD -i lxc1 -m statistic --mode random --probability 0.5 -j DROP")
    found = converse(given(rules), WORLD)

    assert ("SOMETIMES", {True, False}) == (
        found.verdict,
        {branch.works for branch in found.branches},
    )
    assert all(made.random for branch in found.branches for made in branch.assumptions)


def test_an_unknown_fact_is_named_with_its_branch() -> None:
    """Each branch says which value it took for what is not known; a settled one is not forked
    over.
    """
    main = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "lxc1 peer pod:eth0",
        routes=["10.1.0.2 dev lxc1", "default dev eth0"],
        complete=False,
    )
    node = given_node(
        main,
        given_netns(
            "pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=["default via 10.1.0.1 dev eth0"]
        ),
    )
    found = converse(node, WORLD)
    fact = "net.ipv4.ip_forward in netns host"

    assert (True, "SOMETIMES") == (found.branches[0].works, found.verdict)
    assert (fact, "0", "sysctl net.ipv4.ip_forward") == next(
        (made.fact, made.value, made.ask)
        for made in branch_where(found, works=False).assumptions
        if made.rank
    )
    assert "NEVER" == converse(node, WORLD, settled={fact: "0"}).verdict


def test_an_engine_is_shared_and_changes_nothing() -> None:
    """Many probes over one engine give what each gives alone."""
    node = given(given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat"))
    engine = Engine(node)
    probes = [WORLD, probe("udp 10.1.0.2 > 203.0.113.9:53"), WORLD]

    assert [converse(node, one) for one in probes] == [converse(engine, one) for one in probes]


def test_other_packets_can_be_asked_for() -> None:
    """A caller may give its own script."""
    only = script_of(6)[:1]

    assert ["SYN"] == [
        trace.name for trace in converse(given(), WORLD, script=only).branches[0].traces
    ]
    assert "SYN" == last(converse(given(), WORLD, script=only)).name


@pytest.mark.parametrize(
    "text", ["tcp 2001:db8:1::2 > [2001:db8:9::9]:80", "icmp 2001:db8:1::2 > 2001:db8:9::9"]
)
def test_ipv6_is_walked_alike(text: str) -> None:
    """A connection over IPv6 takes the same path, with a hop limit and its own hooks."""
    main = given_netns(
        "host", "eth0 2001:db8:2::2/64", "lxc1 2001:db8:1::1/64 peer pod:eth0",
        routes=["default via 2001:db8:2::1 dev eth0"],
        sysctls={"net.ipv6.conf.all.forwarding": "1"},
    )  # fmt: skip
    pod = given_netns(
        "pod", "eth0 2001:db8:1::2/64 peer host:lxc1", routes=["default via 2001:db8:1::1 dev eth0"]
    )
    found = converse(given_node(main, pod), probe(text))

    assert "ALWAYS" == found.verdict, spell_failure(found.branches[0].failure)
    assert 63 == found.branches[0].traces[0].steps[-1].after.ttl


def test_errors_about_errors_come_to_an_end() -> None:
    """Errors that a tunnel carries to who answers them are answered as often as the kernel's rate
    limit lets them be at once.
    """
    name = "error-about-errors.json"
    case = build_case((RECORDED / name).read_text(), PurePosixPath(name))
    (branch,) = converse(case.node, case.probe).branches

    assert ["icmp-port-unreachable"] * ERRORS_AT_ONCE == [each.name for each in branch.answers]
