"""Which fault ends a connection, and what is proposed to mend it: one small node for each case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from podpath.checks.cause import Cause
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import find_cause, marks_of
from podpath.diagnosis.repairs import list_repairs
from podpath.diagnosis.repairs_rules import name_tool
from podpath.diagnosis.unanswered import leave_unanswered
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node, Pod
from podpath.testing.nodes import forwarding, given_netns, given_node, listening, probe
from podpath.xtables.legality import TableFlavour
from tests.datapath.given import given_rules, given_tables

OUT, ACROSS = (
    "tcp 10.1.0.2:40000 > 203.0.113.9:80 from pod",
    "tcp 10.1.0.2:40000 > 10.2.0.2:80 from pod",
)
OPEN = forwarding(rp_filter="0")


def node(  # noqa: PLR0913  # what a case may set
    *rules: str,
    at: str = "host",
    table: str = "filter",
    routes: tuple[str, ...] = ("default via 192.0.2.1 dev eth0",),
    more: tuple[str, ...] = (),
    policy: str = "ACCEPT",
    chains: tuple[str, ...] = (),
    sysctls: Mapping[str, str] = OPEN,
    nat: tuple[str, ...] = (),
    ruled: tuple[str, ...] = (),
) -> Node:
    """Return two pods behind veths of a host with an uplink; rules stand in one namespace."""
    texts = [given_rules(*rules, table=table, policy=policy, chains=chains)]
    texts += [given_rules(*nat, table="nat")] if nat else []
    tables = tuple(one for text in texts for one in given_tables(text))
    fields = {
        name: {"netfilter": {4: Netfilter(tables=tables if name == at else (), complete=True)}}
        for name in ("host", "pod", "pod2")
    }
    devices = (
        "eth0 192.0.2.2/24",
        "lxc1 10.1.0.1/24 peer pod:eth0",
        "lxc2 10.2.0.1/24 peer pod2:eth0",
    )
    host = given_netns(
        "host",
        *devices,
        routes=[*routes, *more],
        rules=ruled,
        sysctls=sysctls,
        netns=fields["host"],
    )
    first = given_netns(
        "pod",
        "eth0 10.1.0.2/24 peer host:lxc1",
        routes=["default via 10.1.0.1 dev eth0"],
        netns=fields["pod"],
    )
    second = given_netns(
        "pod2", "eth0 10.2.0.2/24 peer host:lxc2", routes=["default via 10.2.0.1 dev eth0"],
        netns=fields["pod2"] | {"sockets": given_netns("x").sockets},
    )  # fmt: skip
    return given_node(host, first, second)


def cause_of(made: Node, asked: str = OUT) -> Cause:
    """Return what ends the likeliest branch of a connection."""
    found = find_cause(made, converse(made, probe(asked)).branches[0])
    assert found is not None
    return found


def proposed(made: Node, asked: str = OUT) -> tuple[str, list[tuple[str, ...]]]:
    """Return the fault, and the commands of each repair."""
    cause = cause_of(made, asked)
    return cause.check, [repair.commands for repair in list_repairs(made, cause)]


ACCEPTING = (
    "iptables -t filter -I {chain} 1 -s {src}/32 -d {dst}/32 -p tcp -m tcp --{port} 80 -j ACCEPT"
)
DROP = "FORWARD -p tcp -j DROP"
RULES = [
    (
        "a drop alone",
        node(DROP),
        OUT,
        [
            (ACCEPTING.format(chain="FORWARD", src="10.1.0.2", dst="203.0.113.9", port="dport"),),
            (f"iptables -t filter -D {DROP}",),
        ],
    ),
    (
        "rules and jumps that accept too late",
        node(
            "FORWARD -p udp -j ACCEPT", DROP, "FORWARD -j LOG", "FORWARD -j ACCEPT", "FORWARD -j A",
            "FORWARD -j B", "A -j ACCEPT", "B -j LOG", chains=("A", "B"),
        ),
        OUT,
        [
            (
                "iptables -t filter -D FORWARD -j ACCEPT",
                "iptables -t filter -I FORWARD 2 -j ACCEPT",
            ),
            ("iptables -t filter -D FORWARD -j A", "iptables -t filter -I FORWARD 2 -j A"),
            (ACCEPTING.format(
                chain="FORWARD", src="10.1.0.2", dst="203.0.113.9", port="dport",
            ).replace(" 1 ", " 2 "),),
            (f"iptables -t filter -D {DROP}",),
        ],
    ),
    (
        "a drop two chains deep",
        node(
            "FORWARD -p udp -j ACCEPT", "FORWARD -j A", "A -j B", "B -p tcp -j DROP",
            "FORWARD -j ACCEPT", chains=("A", "B"),
        ),
        OUT,
        [
            (
                "iptables -t filter -D FORWARD -j ACCEPT",
                "iptables -t filter -I FORWARD 2 -j ACCEPT",
            ),
            (ACCEPTING.format(
                chain="FORWARD", src="10.1.0.2", dst="203.0.113.9", port="dport",
            ).replace(" 1 ", " 2 "),),
            ("iptables -t filter -D B -p tcp -j DROP",),
        ],
    ),
    (
        "a drop of the answer",
        node("FORWARD -i eth0 -p tcp -j DROP"),
        OUT,
        [
            (ACCEPTING.format(chain="FORWARD", src="203.0.113.9", dst="10.1.0.2", port="sport"),),
            ("iptables -t filter -D FORWARD -i eth0 -p tcp -j DROP",),
        ],
    ),
    (
        "a drop within a pod",
        node("INPUT -p tcp -j DROP", at="pod2"),
        ACROSS,
        [
            ("ip netns exec pod2 " + ACCEPTING.format(
                chain="INPUT", src="10.1.0.2", dst="10.2.0.2", port="dport",
            ),),
            ("ip netns exec pod2 iptables -t filter -D INPUT -p tcp -j DROP",),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "asked", "commands"), [case[1:] for case in RULES], ids=[case[0] for case in RULES]
)
def test_a_rule_that_drops_is_passed_by_or_deleted(
    made: Node, asked: str, commands: list[tuple[str, ...]]
) -> None:
    """What accepts later is moved before it, in the base chain; the connection alone is accepted;
    or the rule goes. In a pod, commands enter its namespace.
    """
    assert ("dropped-by-rule", commands) == proposed(made, asked)


def test_an_icmp_error_for_a_service_without_endpoints_is_told_as_such() -> None:
    """By kube-proxy's comment on the rule; nothing on the node mends it."""
    words = '-m comment --comment "shop/api has no endpoints"'

    assert ("no-endpoints", []) == proposed(node(f"FORWARD -p tcp {words} -j REJECT"))
    assert "dropped-by-rule" == proposed(node("FORWARD -p tcp -j REJECT"))[0]


def test_the_policy_of_forward_is_a_fault_of_its_own() -> None:
    """A policy of another chain is told as a rule, and has no repair."""
    assert ("forward-policy", [("iptables -t filter -P FORWARD ACCEPT",)]) == proposed(
        node(policy="DROP")
    )
    assert ("dropped-by-rule", []) == proposed(node(at="pod", policy="DROP"))


SETTINGS = [
    ("ip-forward", {"net.ipv4.ip_forward": "0"}, (), ["net.ipv4.ip_forward=1"]),
    (
        "ip-forward",
        OPEN | {"net.ipv4.conf.lxc1.forwarding": "0"},
        (),
        ["net.ipv4.ip_forward=1", "net.ipv4.conf.lxc1.forwarding=1"],
    ),
    (
        "rp-filter",
        forwarding(rp_filter="1"),
        ("10.1.0.2 dev eth0",),
        ["net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.lxc1.rp_filter=0"],
    ),
    (
        "rp-filter",
        OPEN | {"net.ipv4.conf.lxc1.rp_filter": "1"},
        ("10.1.0.2 dev eth0",),
        ["net.ipv4.conf.lxc1.rp_filter=0"],
    ),
    (
        "arp-ignore", OPEN | {"net.ipv4.conf.all.arp_ignore": "8"}, (),
        ["net.ipv4.conf.all.arp_ignore=0"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("check", "sysctls", "more", "written"), SETTINGS)
def test_a_setting_that_ends_packets_is_written(
    check: str, sysctls: Mapping[str, str], more: tuple[str, ...], written: list[str]
) -> None:
    """Only what is not known to have the value already."""
    found, commands = proposed(node(sysctls=sysctls, more=more))

    assert check == found
    assert [f"sysctl -w {each}" for each in written] == [line for each in commands for line in each]


ROUTES = [
    (node(routes=()), []),
    (node(more=("blackhole 203.0.113.0/24",)), ["route del blackhole 203.0.113.0/24"]),
    (node(more=("unreachable 203.0.113.0/24 proto kernel",)), []),
    (
        node(ruled=("100: from 10.1.0.0/16 prohibit",)),
        ["rule del priority 100 from 10.1.0.0/16"],
    ),
    (
        node(ruled=("100: to 203.0.113.0/24 iif lxc1 unreachable",)),
        ["rule del priority 100 to 203.0.113.0/24 iif lxc1"],
    ),
    (
        node(more=("unreachable default table 100",), ruled=("9: from 10.1.0.0/16 lookup 100",)),
        ["rule del priority 9 from 10.1.0.0/16", "route del unreachable default table 100"],
    ),
    (
        node(more=("203.0.113.9 via 10.2.0.2 dev lxc2",)),
        ["route del 203.0.113.9 via 10.2.0.2 dev lxc2"],
    ),
]


@pytest.mark.parametrize(("made", "deleted"), ROUTES)
def test_a_route_or_rule_that_leads_nowhere_is_deleted(made: Node, deleted: list[str]) -> None:
    """Unless the kernel made it, or there is none: also one that leads into another pod."""
    check, commands = proposed(made)

    assert "no-route" == check
    assert [f"ip {each}" for each in deleted] == [line for each in commands for line in each]


@pytest.mark.parametrize(
    ("made", "asked", "expected", "command"),
    [
        (
            node(),
            "tcp 192.0.2.2:40000 > 10.1.0.2:80 in eth0",
            "source-refused",
            "sysctl -w net.ipv4.conf.eth0.accept_local=1",
        ),
        (
            node(nat=("PREROUTING -d 203.0.113.9 -j DNAT --to-destination 127.0.0.1",)),
            OUT,
            "route-localnet",
            "sysctl -w net.ipv4.conf.lxc1.route_localnet=1",
        ),
        (
            node(nat=("OUTPUT -d 127.0.0.1 -p tcp -j DNAT --to-destination 10.1.0.2",)),
            "tcp 127.0.0.1:40000 > 127.0.0.1:80 from host",
            "route-localnet",
            "sysctl -w net.ipv4.conf.lxc1.route_localnet=1",
        ),
        (
            node(nat=("PREROUTING -d 203.0.113.9 -j DNAT --to-destination 10.1.0.2",)),
            OUT,
            "hairpin",
            "iptables -t nat -A POSTROUTING -s 10.1.0.2/32 -d 10.1.0.2/32 -j MASQUERADE",
        ),
    ],
)
def test_sources_that_a_host_refuses(made: Node, asked: str, expected: str, command: str) -> None:
    """Its own from outside, loopback's from or to a wire, and a pod's own that came back home."""
    assert (expected, [(command,)]) == proposed(made, asked)


def test_an_address_that_nobody_answers_for_has_no_repair() -> None:
    """Who should have it is not known."""
    absent = "tcp 10.1.0.2:40000 > 10.2.0.77:80 from pod"

    assert ("neighbour-failed", []) == proposed(node(), absent)


def test_the_words_that_decide_are_marked() -> None:
    """Chain and target of a rule, the type of a route, the number of a policy rule."""
    assert ("FORWARD", "DROP") == marks_of(cause_of(node(DROP)))
    assert ("blackhole",) == marks_of(cause_of(node(more=("blackhole 203.0.113.0/24",))))
    assert ("100",) == marks_of(cause_of(node(ruled=("100: from 10.1.0.0/16 prohibit",))))
    strict = node(sysctls=forwarding(rp_filter="1"), more=("10.1.0.2 dev eth0",))
    assert ("rp_filter",) == marks_of(cause_of(strict))


def test_what_works_has_no_cause() -> None:
    """Nor has what ends undecided."""
    made = node()

    assert None is find_cause(made, converse(made, probe(OUT)).branches[0])


def podded(*routes: str) -> Node:
    """Return a host with a pod to which it may lack a route."""
    uplink = "default via 192.0.2.1 dev eth0"
    host = given_netns(
        "host", "eth0 192.0.2.2/24", "lxc1 peer pod:eth0", routes=[uplink, *routes],
        sysctls=OPEN | {"net.ipv4.conf.all.proxy_arp": "1"},
    )  # fmt: skip
    routes_inside = ["default dev eth0"]
    inside = given_netns("pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=routes_inside)
    return given_node(host, inside)


def test_a_pod_gets_its_route_back() -> None:
    """Where the host has none to its address, and a route in the way may go."""
    refused = "tcp 192.0.2.77:4000 > 10.1.0.2:80 in eth0"
    given = ("ip route add 10.1.0.2 dev lxc1 scope link",)
    taken = ("ip route del unreachable 10.1.0.0/16",)

    assert ("no-route", [given, taken]) == proposed(podded("unreachable 10.1.0.0/16"), refused)
    blocked = podded("unreachable 10.1.0.2", "10.1.0.2 via 192.0.2.9 dev eth0 metric 7")
    assert [("ip route del unreachable 10.1.0.2",)] == proposed(blocked, refused)[1]


@pytest.mark.parametrize(
    ("to", "check"),
    [("10.1.0.77:80", "no-route"), ("10.3.0.77:80", "neighbour-failed")],
)
def test_a_rule_that_outlived_its_pod_is_deleted(to: str, check: str) -> None:
    """It sends packets to an address that nobody has; the rest of the pods' range stays closed."""
    rule = f"PREROUTING -p tcp -m tcp --dport 8080 -j DNAT --to-destination {to}"
    host = given_netns(
        "host", "eth0 192.0.2.2/24", "lxc1 peer pod:eth0", "cni0 bridge 10.3.0.1/24",
        routes=["default via 192.0.2.1 dev eth0", "10.1.0.2 dev lxc1 scope link",
            "blackhole 10.1.0.0/24",
        ],
        sysctls=OPEN, netns={"netfilter": {4: Netfilter(
            tables=given_tables(given_rules(rule, table="nat")), complete=True)}},
    )  # fmt: skip
    inside = given_netns("pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=["default dev eth0"])
    made = given_node(host, inside)

    assert proposed(made, "tcp 192.0.2.9:4000 > 192.0.2.2:8080 in eth0") == (
        check,
        [(f"iptables -t nat -D {rule}",)],
    )


def bridged(nat: str, target: str, call: str) -> tuple[str, list[tuple[str, ...]]]:
    """Return what ends a connection of a bridge's pod to a service, and its repairs."""
    tables = given_tables(given_rules(nat, table="nat"))
    host = given_netns(
        "host", "cni0 bridge 10.1.0.1/24", "veth1 peer pod:eth0 master cni0",
        "veth2 peer pod2:eth0 master cni0",
        sysctls=OPEN | {"net.bridge.bridge-nf-call-iptables": call},
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True)}},
    )  # fmt: skip
    pods = [
        given_netns(
            name, f"eth0 10.1.0.{last}/24 peer host:{link}",
            routes=["default via 10.1.0.1 dev eth0"], netns={"sockets": listening(80)},
        )
        for name, link, last in (("pod", "veth1", 2), ("pod2", "veth2", 3))
    ]  # fmt: skip
    return proposed(given_node(host, *pods), f"tcp 10.1.0.2:4000 > {target}:80 from pod")


def test_a_bridge_turns_frames_around_only_where_it_is_told_to() -> None:
    """The port is switched to hairpin, and what the pod sends to itself masqueraded."""
    nat = "PREROUTING -d 10.96.0.10 -p tcp -j DNAT --to-destination 10.1.0.2:80"
    home = "iptables -t nat -A POSTROUTING -s 10.1.0.2/32 -d 10.1.0.2/32 -j MASQUERADE"

    assert ("hairpin", [("bridge link set dev veth1 hairpin on",), (home,)]) == bridged(
        nat, "10.96.0.10", "1"
    )


def test_a_bridge_that_netfilter_does_not_see_is_shown_to_it() -> None:
    """Replies of a pod of the same bridge are not translated back without it."""
    nat = "PREROUTING -d 10.96.0.10 -p tcp -j DNAT --to-destination 10.1.0.3:80"
    key = "net.bridge.bridge-nf-call-iptables"

    assert ("br-netfilter", [("modprobe br_netfilter", f"sysctl -w {key}=1")]) == bridged(
        nat, "10.96.0.10", "0"
    )


def test_a_pod_that_nobody_can_answer_is_masqueraded_on_its_way_out() -> None:
    """On the device by which its first packet leaves."""
    made = node(nat=("POSTROUTING -s 198.51.100.1 -j MASQUERADE",))
    (branch,) = leave_unanswered(made, converse(made, probe(OUT))).branches
    cause = find_cause(made, branch)

    assert cause is not None
    assert "missing-masquerade" == cause.check
    assert [("iptables -t nat -A POSTROUTING -s 10.1.0.2/32 -o eth0 -j MASQUERADE",)] == [
        repair.commands for repair in list_repairs(made, cause)
    ]


def test_both_flavours_are_told_apart_where_both_hold_rules() -> None:
    """By the program's name; elsewhere the plain one reaches the rules."""
    made = node(DROP)
    (table,) = made.host.netfilter[4].tables
    both = replace(
        made.host.netfilter[4], tables=(table, replace(table, flavour=TableFlavour.LEGACY))
    )
    empty = replace(
        made.host.netfilter[4],
        tables=(table, replace(table, flavour=TableFlavour.LEGACY, chains={})),
    )

    def named(rules: Netfilter) -> str:
        host = replace(made.host, netfilter={4: rules})
        return name_tool(table, replace(made, namespaces={"host": host}), "host")

    assert ("iptables-nft", "iptables") == (named(both), named(empty))
    assert "iptables" == name_tool(table, made, "absent")
    assert "ip6tables" == name_tool(replace(table, family=6), made, "host")


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        (
            "api-0",
            (
                "nsenter -n -t $(crictl inspectp -o go-template --template '{{.info.pid}}' "
                "$(crictl pods -q --state Ready --namespace shop --name '^api-0$')) iptables "
            ),
        ),
        ("$(reboot)", "ip netns exec pod2 iptables "),
    ],
)
def test_a_pod_of_a_snapshot_is_entered_by_its_runtime(name: str, begins: str) -> None:
    """A namespace that is called as the pod is exists under no such name on the node; a name that a
    shell would run is never in a command.
    """
    pod = Pod(namespace="shop", name=name, netns="pod2")
    broken = replace(node("INPUT -p tcp -j DROP", at="pod2"), pods=(pod,))
    branch = converse(broken, probe(ACROSS)).branches[0]
    cause = find_cause(broken, branch)
    assert cause is not None

    first = next(iter(list_repairs(broken, cause)))

    assert first.commands[0].startswith(begins)
