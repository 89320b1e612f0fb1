"""What quoted lines hold, and whose it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.owned import OwnerPlaces, place_conversations, place_owners
from podpath.datapath.conversations.conversation import converse
from podpath.net.owners import UNSIGNED, Owned, OwnedKind, Writer
from podpath.net.probe import Probe
from podpath.net.provenance import Known, Span, list_spans
from podpath.node.case import Case, ConfiguredSysctl
from podpath.node.change import DeleteRule
from podpath.node.node import HOST
from podpath.testing.nodes import given_netns, given_node, span
from podpath.xtables.legality import TableFlavour
from tests.checks.pasted import case_of
from tests.checks.rules import rule


def told(places: OwnerPlaces) -> set[tuple[str, str, str]]:
    """Return each thing with its kind and whose it is."""
    owned = (one for found in places.by_span.values() for one in found)
    return {(str(one.kind), one.name, one.owner.program) for one in owned}


@pytest.mark.parametrize(
    ("text", "unsigned"),
    [
        ("-A FORWARD -s 10.0.0.1 -j DROP", True),
        ("-A MY-OWN -s 10.0.0.1 -j DROP", False),
        ("-A ufw-user-forward -j DROP", False),
    ],
)
def test_a_rule_that_nobody_signs(text: str, *, unsigned: bool) -> None:
    """Among the kernel's own chains it is an admin's, it seems; a chain may be any program's."""
    case = case_of(text)
    given = rule(text)
    delete = DeleteRule(netns=HOST, family=4, flavour=TableFlavour.NFT, rule=given)
    finding = Finding(
        check="x",
        severity=Severity.CAUSE,
        claim="x",
        evidence=(given.span,),
        repairs=(Repair(title="x", commands=(), changes=(delete,)),),
    )

    assert (place_owners(case, ()).of_finding(finding) is UNSIGNED) is unsigned


def test_a_file_that_sets_the_value_seen_is_whose_it_is() -> None:
    """One that sets another value writes it again at boot, and is named for that."""
    sysctls = {"net.ipv4.ip_forward": "0", "net.ipv4.conf.all.rp_filter": "1"}
    host = given_netns(HOST, sysctls=sysctls)
    case = Case(
        node=given_node(host),
        configured=tuple(
            ConfiguredSysctl(key=key, value="1", span=span(f"{key}=1", "99.conf"))
            for key in ("net.ipv4.ip_forward", "net.ipv4.conf.*.rp_filter")
        ),
    )
    known = [fact for fact in host.sysctls.values() if isinstance(fact, Known)]
    quoted = [fact.span for fact in known if fact.span is not None]
    found = {one.name: one for one in place_owners(case, quoted).list_owned(quoted)}

    assert "99.conf:1" == found["net.ipv4.conf.all.rp_filter"].owner.sign
    assert UNSIGNED == found["net.ipv4.ip_forward"].owner
    assert Writer("99.conf:1", "1, at boot") == found["net.ipv4.ip_forward"].writers[0]


RULESET = """*filter
:FORWARD DROP [0:0]
:KUBE-FORWARD - [0:0]
[1:2] -A FORWARD -s 10.0.0.1/32 -j DROP
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
COMMIT
"""
LISTED = """$ iptables -nvL --line-numbers
Chain FORWARD (policy DROP 0 packets, 0 bytes)
num   pkts bytes target     prot opt in     out     source               destination
1        0     0 DROP       all  --  *      *       10.0.0.1             0.0.0.0/0

Chain KUBE-FORWARD (1 references)
num   pkts bytes target     prot opt in     out     source               destination
1        0     0 DROP       all  --  *      *       0.0.0.0/0            0.0.0.0/0   ctstate INVALID
"""
OWNED_RULES = {
    ("policy", "FORWARD", ""),
    ("rule", "FORWARD 1", ""),
    ("rule", "KUBE-FORWARD 1", "kube-proxy"),
}


@pytest.mark.parametrize("text", [RULESET, LISTED], ids=["save", "list"])
def test_a_quoted_rule_is_whose_its_chain_is(text: str) -> None:
    """Also where no walk met it, and where its line does not name its chain; a line that nobody
    quotes is not read.
    """
    case = case_of(text)
    chains = [fact for table in case.node.host.tables for fact in table.chains.values()]
    known = [fact for fact in chains if isinstance(fact, Known)]
    source = next(fact.span.source for fact in known if fact.span is not None)
    lines = [Span(source, number, number) for number in range(1, 12)]

    assert told(place_owners(case, lines)) == OWNED_RULES
    assert {} == place_owners(case, ()).by_span


def test_native_rules_and_policies_are_their_tables() -> None:
    """A table has one writer; one of no known name nobody."""
    case = case_of(
        "table inet firewalld {\n chain filter_FORWARD {\n"
        "  type filter hook forward priority 10; policy drop;\n  ip saddr 10.0.0.1 drop\n }\n}\n"
        "table inet mine {\n chain forward {\n"
        "  type filter hook forward priority 0; policy accept;\n  ip saddr 10.0.0.1 drop\n }\n}\n"
    )
    chains = [one for table in case.node.host.nftables.items for one in table.chains.values()]
    quoted = [span for one in chains for span in (one.span, one.rules[0].span) if span is not None]

    assert told(place_owners(case, quoted)) == {
        ("policy", "filter_FORWARD", "firewalld"),
        ("rule", "filter_FORWARD 1", "firewalld"),
        ("policy", "forward", ""),
        ("rule", "forward 1", ""),
    }


def test_routes_and_the_rules_that_choose_their_table() -> None:
    """By protocol, device and priority; who else writes such stands beside what bears no sign."""
    rules = "0:\tfrom all lookup local\n220:\tfrom all lookup 220\n32765:\tfrom 10.0.0.1 lookup 7\n"
    case = case_of(
        "$ ip route\ndefault via 192.0.2.1 dev eth0\n"
        "10.1.0.0/16 via 192.0.2.2 dev eth0 proto bird\n"
        f"10.2.0.0/16 dev cni0 proto kernel scope link src 10.2.0.1\n$ ip rule\n{rules}"
    )
    host = case.node.host
    quoted = [*list_spans(host.routes.items), *list_spans(host.rules.items)]
    places = place_owners(case, quoted)

    assert told(places) == {
        ("route", "default", ""),
        ("route", "10.1.0.0/16", "BIRD"),
        ("route", "10.2.0.0/16", "CNI's bridge plugin"),
        ("ip rule", "0", "the kernel, in every namespace"),
        ("ip rule", "220", "strongSwan"),
        ("ip rule", "32765", ""),
    }
    default = next(one for one in places.list_owned(quoted) if one.name == "default")
    assert Writer("ifupdown") in default.writers


def test_what_a_device_has_is_told_with_whose_the_device_is() -> None:
    """A neighbor, a forwarding entry or an address names a device, and flannel writes again all
    that its own has; the line has no sign of its own, so nobody is said to have written it.
    """
    case = case_of(
        "$ ip addr\n2: eth0: <UP,LOWER_UP> mtu 1500 state UP\n"
        "    inet 192.0.2.2/24 scope global eth0\n"
        "$ ip neigh\n10.2.0.0 dev flannel.1 lladdr 02:00:00:00:00:99 PERMANENT\n"
        "$ bridge fdb show\n02:00:00:00:00:99 dev flannel.1 dst 192.0.2.3 self permanent\n"
    )
    host = case.node.host
    address, neighbor, entry = (
        list_spans(each.items)[0] for each in (host.addresses, host.neighbours, host.fdb)
    )
    places = place_owners(case, [address, neighbor, entry])

    assert [one.name for one in places.list_owned([address])] == ["eth0"]
    for line in (neighbor, entry):
        ((kind, name, _, _, owner, _),) = places.list_owned([line])
        assert (kind, name, owner.program) == (OwnedKind.DEVICE, "flannel.1", "flannel")
        assert owner.again == "when flanneld starts, or a node joins or leaves"
        finding = Finding(check="x", severity=Severity.CAUSE, claim="X.", evidence=(line,))
        assert places.of_finding(finding) is None


def test_every_device_that_a_step_names_is_owned() -> None:
    """Also where the step quotes no line of it: by its name, by its other end, by its place."""
    pod = given_netns("shop/web", "eth0 10.1.0.2/24 peer host:cali1", routes=["default dev eth0"])
    host = given_netns(HOST, "eth0 192.0.2.1/24", "cali1 10.1.0.1/24 peer shop/web:eth0")
    case = Case(node=given_node(host, pod))
    conversation = converse(case.node, Probe.parse("tcp 10.1.0.2 > 10.1.0.1:80"))
    places = place_conversations(case, (), (conversation,))
    (branch,) = conversation.branches

    named = {(step.netns, step.link) for step in branch.steps if step.link}
    owned = {(one.netns, one.name): one.owner.program for one in places.list_of_branch(branch)}

    assert ("shop/web", "eth0") in named <= set(owned)
    assert owned["shop/web", "eth0"] == owned[HOST, "cali1"] == "Calico"
    assert all(places.list_of_step(step) for step in branch.steps if step.link)


def test_a_listing_on_one_line_does_not_tell_which_of_its_things_is_meant() -> None:
    """Of two routes on the quoted line neither is named."""
    line = span('[{"dst":"10.1.0.0/16"},{"dst":"10.2.0.0/16"}]')
    routes = ["10.1.0.0/16 dev eth0", "10.2.0.0/16 dev eth0"]
    host = given_netns(HOST, "eth0 192.0.2.1/24", routes=routes)
    items = tuple(replace(one, span=line) for one in host.routes.items)
    listing = host.routes._replace(items=items)
    case = Case(node=given_node(replace(host, routes=listing)))

    assert () == place_owners(case, [line]).list_owned([line])


def test_places_of_two_cases_are_joined() -> None:
    """As `check` does with those before and after a change."""
    route = Owned(OwnedKind.ROUTE, "10.0.0.0/8", HOST, span("a"), UNSIGNED)
    device = Owned(OwnedKind.DEVICE, "eth0", HOST, None, UNSIGNED)
    first = OwnerPlaces({span("a"): (route,)})
    joined = first | OwnerPlaces({}, {(HOST, "eth0"): device})

    assert (joined.by_span, joined.by_device) == (first.by_span, {(HOST, "eth0"): device})
