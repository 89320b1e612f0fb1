"""Two nodes: what differs is told and can be taken over, and the least of it that cures is
found.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.checks.finding import Finding, Severity
from podpath.diagnosis.difference import compare
from podpath.diagnosis.difference.chains import compare_chains, merge_chains
from podpath.diagnosis.difference.compare import compare_cases
from podpath.diagnosis.difference.difference import Difference, paired_namespaces
from podpath.diagnosis.difference.nodes import compare_nodes, take_over
from podpath.diagnosis.difference.smallest import find_smallest, order_by_nearness
from podpath.net.addresses import Address, IfName, Mac
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.change import SetSysctl
from podpath.node.links import BridgePort, Neighbour
from podpath.node.netfilter import Chain, IpSet, Netfilter, SetMember
from podpath.node.node import HOST, Netns, Node
from podpath.report.diff_json import render_diff_json
from podpath.report.diff_text import render_diff
from podpath.report.style import Style
from podpath.testing.nodes import given_cilium, given_netns, given_node, probe
from podpath.xtables.legality import ChainPolicy
from tests.checks.nodes import address, chain, link, listing, netns, node, route, rule, span, table
from tests.command import podpath
from tests.datapath.given import given_rules, given_tables
from tests.diagnosis import scenes
from tests.nftables import native_tables

INCIDENTS = ("br-netfilter-off", "host-disconnect", "kube-proxy-before-cilium", "rp-filter-reset")
EXPECTED = {
    "br-netfilter-off": ["net.bridge.bridge-nf-call-iptables is 0 here, and 1 where it works"],
    "host-disconnect": [
        "the route 169.254.0.0/16 dev ens3f0 metric 1002 is absent where it works",
        "the route 169.254.0.0/16 dev ens3f1 metric 1003 is absent where it works",
    ],
    "kube-proxy-before-cilium": [
        "CILIUM_FORWARD is rule 5 of FORWARD here, and rule 1 where it works"
    ],
    "rp-filter-reset": ["net.ipv4.conf.all.rp_filter is 1 here, and 0 where it works"],
}
names = st.lists(st.sampled_from("ABCDEF"), max_size=9)


def words(bad: Node, good: Node) -> list[str]:
    """Return what differs, in words."""
    return [each.words for each in compare_nodes(bad, good)]


def forward(*targets: str) -> Chain:
    """Make a chain of jumps."""
    return Chain(
        name="FORWARD",
        policy=ChainPolicy.ACCEPT,
        rules=tuple(rule("FORWARD", at, name) for at, name in enumerate(targets, 1)),
    )


def targets(some: Chain) -> list[str]:
    """Return the jumps of a chain in order."""
    return [each.target.name for each in some.rules if each.target is not None]


@given(names, names)
def test_a_chain_with_all_differences_taken_over_is_the_other_one(
    bad: list[str], good: list[str]
) -> None:
    """With none of them it is itself."""
    here, there = forward(*bad), forward(*good)
    differences = compare_chains(here, there)
    assert targets(merge_chains(here, there, differences)) == good
    assert targets(merge_chains(here, there, ())) == bad


@given(names, names, st.data())
def test_a_chain_keeps_what_is_not_taken_over(
    bad: list[str], good: list[str], data: st.DataObject
) -> None:
    """Each rule that is taken counts, and no other."""
    here, there = forward(*bad), forward(*good)
    differences = compare_chains(here, there)
    taken = data.draw(st.lists(st.sampled_from(differences), unique=True)) if differences else []
    gained = sum(each.kind == "missing" for each in taken) - sum(
        each.kind == "extra" for each in taken
    )
    assert len(merge_chains(here, there, taken).rules) == len(bad) + gained


def host(**parts: object) -> Node:
    """Make a host with two devices."""
    return node(netns(links=[link("eth0"), link("eth1", mtu=1500)], **parts))  # type: ignore[arg-type]  # the caller's


CHANGED: dict[str, tuple[Node, Node, str]] = {
    "sysctl": (
        host(sysctls={"a.b": "1"}), host(sysctls={"a.b": "0"}),
        "a.b is 1 here, and 0 where it works",
    ),
    "route": (
        host(routes=[route("10.0.0.0/8", "eth0"), route("10.1.0.0/16", "eth0")]),
        host(routes=[route("10.0.0.0/8", "eth0")]),
        "the route 10.1.0.0/16 dev eth0 is absent where it works",
    ),
    "changed route": (
        host(routes=[route("10.0.0.0/8", "eth0")]), host(routes=[route("10.0.0.0/8", "eth1")]),
        "the route 10.0.0.0/8 dev eth0 is 10.0.0.0/8 dev eth1 where it works",
    ),
    "address": (
        host(addresses=[address("eth0", "10.0.0.1")]),
        host(addresses=[address("eth0", "10.0.0.1"), address("eth0", "10.0.0.2")]),
        "the address 10.0.0.2/24 dev eth0 is missing here and present where it works",
    ),
    "policy": (
        host(tables=[table("filter", chain("FORWARD", policy="DROP"))]),
        host(tables=[table("filter", chain("FORWARD", policy="ACCEPT"))]),
        "the policy of FORWARD in filter is DROP here, and ACCEPT where it works",
    ),
    "rule": (
        host(tables=[table(
            "filter", chain("FORWARD", rule("FORWARD", 1, "DROP"), policy="ACCEPT"),
        )]),
        host(tables=[table("filter", chain("FORWARD", policy="ACCEPT"))]),
        "DROP (rule 1 of FORWARD here) is absent where it works",
    ),
    "mtu": (
        node(netns(links=[link("eth0", mtu=1400)])), node(netns(links=[link("eth0", mtu=1500)])),
        "eth0: mtu is 1400 here, and 1500 where it works",
    ),
    "hairpin": (
        node(netns(links=[link("veth0", port=BridgePort(hairpin=False))])),
        node(netns(links=[link("veth0", port=BridgePort(hairpin=True))])),
        "veth0: hairpin is off here, and on where it works",
    ),
    "down": (
        node(netns(links=[link("eth0", up=False)])), node(netns(links=[link("eth0")])),
        "eth0: state is down here, and up where it works",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGED)
def test_what_differs_is_told_and_can_be_taken_over(kind: str) -> None:
    """Taken over, nothing differs any more."""
    bad, good, said = CHANGED[kind]
    (difference,) = compare_nodes(bad, good)
    assert difference.words == said
    assert difference.commands
    assert compare_nodes(take_over(bad, (difference,)), good) == ()


def test_a_node_does_not_differ_from_itself() -> None:
    """Whatever it holds."""
    assert all(words(each, each) == [] for pair in CHANGED.values() for each in pair[:2])


def test_settings_of_the_node_are_compared() -> None:
    """Modules and Cilium's options, too; what only one side states is no difference."""
    bad = replace(
        host(), modules=listing("veth"), cilium=given_cilium(enable_bpf_masquerade="true")
    )
    good = replace(
        host(sysctls={"net.ipv4.ip_forward": "1"}), modules=listing("veth", "br_netfilter"),
        cilium=given_cilium(enable_bpf_masquerade="false"),
    )  # fmt: skip
    assert words(bad, good) == [
        "the module br_netfilter is not loaded here, and is where it works",
        "Cilium's enable-bpf-masquerade is true here, and false where it works",
    ]
    assert words(take_over(bad, compare_nodes(bad, good)), good) == []


def test_neighbours_and_sets_are_compared() -> None:
    """A neighbour by its MAC where both know it, a set by its members."""

    def made(mac: str, *members: str) -> Node:
        known = Neighbour(address=Address.parse("10.0.0.9"), link=IfName("eth0"), mac=Mac(mac))
        some = IpSet(
            name="allowed",
            type="hash:ip",
            family=4,
            members=tuple(SetMember((text,)) for text in members),
        )
        namespace = replace(
            netns(links=[link("eth0")]),
            neighbours=listing(known),
            netfilter={4: Netfilter(sets={"allowed": some})},
        )
        return node(namespace)

    bad, good = (
        made("02:00:00:00:00:01", "10.0.0.1", "10.0.0.3"),
        made("02:00:00:00:00:02", "10.0.0.1", "10.0.0.2"),
    )
    assert sorted(words(bad, good)) == [
        "10.0.0.9 on eth0 is 02:00:00:00:00:01 here, and 02:00:00:00:00:02 where it works",
        "compared with where it works, the set allowed lacks 1 member and has 1 extra",
    ]
    assert words(take_over(bad, compare_nodes(bad, good)), good) == []


def test_native_tables_are_compared_whole() -> None:
    """One that only this node has goes, one that differs is replaced, and counters make no
    difference.
    """

    def made(*texts: str) -> Node:
        return node(
            replace(
                netns(),
                nftables=listing(*(table for text in texts for table in native_tables(text))),
            )
        )

    dropping = (
        "table inet fw {\n\tchain f {\n\t\ttype filter hook forward priority 0; "
        "policy drop;\n\t}\n}\n"
    )
    accepting = dropping.replace("drop", "accept")
    extra = "table ip extra {\n\tchain c {\n\t}\n}\n"
    bad, good = made(dropping, extra), made(accepting)
    assert words(bad, good) == [
        "the nftables table inet fw is different where it works",
        "the nftables table ip extra is absent where it works",
    ]
    assert words(take_over(bad, compare_nodes(bad, good)), good) == []
    assert words(good, made(accepting, extra)) == [
        "the nftables table ip extra is missing here and present where it works"
    ]


def test_a_listing_in_part_lacks_nothing() -> None:
    """What an output does not list may be there; an output of one family says nothing of the
    other.
    """
    whole = host(routes=[route("10.0.0.0/8", "eth0")])
    part = replace(whole.host, routes=whole.host.routes._replace(items=(), complete=False))
    assert words(node(part), whole) == []
    first, other = address("eth0", "10.0.0.1"), address("eth0", "fd00::1")
    assert words(host(addresses=[first]), host(addresses=[first, other])) == []


def test_a_rule_brings_the_chains_that_it_calls() -> None:
    """A jump to a chain that this node lacks would have nowhere to go."""
    called = chain("INNER", rule("INNER", 1, "ACCEPT"))
    bad = host(tables=[table("filter", chain("FORWARD", policy="DROP"))])
    good = host(
        tables=[
            table("filter", chain("FORWARD", rule("FORWARD", 1, "INNER"), policy="DROP"), called)
        ]
    )
    (difference,) = compare_nodes(bad, good)
    fact = take_over(bad, (difference,)).host.netfilter[4].tables[0].chains["INNER"]
    assert isinstance(fact, Known)
    assert targets(fact.value) == ["ACCEPT"]


def test_a_table_that_is_missing_is_put_in() -> None:
    """Where the evidence lists all tables, a chain that no one made is empty."""
    good = host(
        tables=[table("mangle", chain("FORWARD", rule("FORWARD", 1, "DROP"), policy="ACCEPT"))]
    )
    bad = host()
    bad = node(replace(bad.host, netfilter={4: Netfilter(complete=True)}))
    assert words(bad, good) == ["DROP (rule 1 of FORWARD where it works) is missing here"]
    assert words(take_over(bad, compare_nodes(bad, good)), good) == []


@given(st.integers(1, 40), st.data())
def test_the_smallest_set_is_found(count: int, data: st.DataObject) -> None:
    """Whatever is needed together is found, and nothing else."""
    differences = [
        Difference(kind="sysctl", netns=HOST, words=str(at), changes=(_touch(at),))
        for at in range(count)
    ]
    needed = set(
        data.draw(st.lists(st.sampled_from(range(count)), min_size=1, max_size=5, unique=True))
    )
    found = find_smallest(differences, lambda taken: needed <= {int(each.words) for each in taken})
    assert [{int(each.words) for each in taken} for taken in found] == [needed]


def _touch(at: int) -> SetSysctl:
    return SetSysctl(netns=HOST, key=str(at), value="")


def test_two_that_spoil_each_other_are_found_where_all_together_do_not_cure() -> None:
    """Another machine's addresses would take this one's path away: then pairs are tried."""
    differences = [
        Difference(kind="sysctl", netns=HOST, words=str(at), changes=(_touch(at),))
        for at in range(6)
    ]
    found = find_smallest(differences, lambda taken: {int(each.words) for each in taken} == {2, 4})
    assert [[each.words for each in taken] for taken in found] == [["2", "4"]]


def test_what_is_quoted_is_tried_first() -> None:
    """And what says which node it is last."""
    far, who, near = (
        Difference(kind=kind, netns=HOST, words=kind, here=(span(kind),))
        for kind in ("sysctl", "address", "rule")
    )
    assert [each.kind for each in order_by_nearness([far, who, near], near.here)] == [
        "rule",
        "sysctl",
        "address",
    ]


def test_two_faults_need_two_differences() -> None:
    """None of them cures alone, so both are told together."""
    bad = scenes.cilium_node(scenes.known(scenes.BAD), rp_filter="1")
    good = scenes.cilium_node(scenes.known(scenes.GOOD), rp_filter="0")
    asked = probe(f"tcp {scenes.POD} > {scenes.OUTSIDE}:80")
    compared = compare_cases(scenes.case(bad), scenes.case(good), (asked,))
    (explanation,) = compared.explanations
    assert compared.verdict == "explained"
    assert sorted(each.kind for each in explanation.differences) == ["rule", "sysctl"]


def test_a_connection_that_no_difference_cures_is_said_to_be_unexplained() -> None:
    """The good node fails it in the same way."""
    bad = scenes.cilium_node(scenes.known(scenes.BAD))
    asked = probe(f"tcp {scenes.POD} > {scenes.OUTSIDE}:80")
    compared = compare_cases(scenes.case(bad), scenes.case(bad), (asked,))
    assert (compared.verdict, compared.exit_code, compared.unexplained) == (
        "unexplained",
        3,
        (asked,),
    )
    assert "UNEXPLAINED: it fails here, but nothing known about both nodes differs" in render_diff(
        compared, Style()
    )


def test_one_fault_behind_several_connections_is_told_once() -> None:
    """Each of them is named with it."""
    bad, good = (scenes.cilium_node(scenes.known(scenes.GOOD), rp_filter=value) for value in "10")
    asked = tuple(
        probe(f"tcp {scenes.POD} > {text}:443") for text in (scenes.OUTSIDE, "203.0.113.77")
    )
    compared = compare_cases(scenes.case(bad), scenes.case(good), asked)
    assert [explanation.probes for explanation in compared.explanations] == [asked]


def test_a_node_that_works_has_nothing_to_explain() -> None:
    """What differs is listed all the same; that nothing is wrong is not said where listings are not
    shown whole.
    """
    good, other = (scenes.cilium_node(scenes.known(scenes.GOOD), rp_filter=value) for value in "01")
    compared = compare_cases(
        scenes.case(good), scenes.case(other), (probe(f"tcp {scenes.POD} > {scenes.OUTSIDE}:80"),)
    )
    assert (compared.verdict, compared.exit_code) == ("undecided", 3)
    assert compared.explanations == ()
    assert [each.words for each in compared.rest] == [
        "net.ipv4.conf.all.rp_filter is 0 here, and 1 where it works"
    ]


@pytest.mark.parametrize("incident", INCIDENTS)
@pytest.mark.parametrize("evidence", ["bundle", "ticket.md"])
def test_the_difference_behind_each_incident_is_named(
    repository: Path, incident: str, evidence: str
) -> None:
    """From a bundle or a ticket against the bundle of a good node, and the document keeps to its
    schema.
    """
    folder = repository / "examples" / "incidents" / incident
    done = podpath("diff", folder / evidence, folder / "good", "--json")
    document = json.loads(done.stdout)
    schema = json.loads((repository / "src/podpath/report/schema/diff-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    (explanation,) = document["explanations"]
    assert (done.returncode, document["verdict"]) == (1, "explained")
    assert [each["says"] for each in explanation["differences"]] == EXPECTED[incident]
    assert all(each["here"] and each["commands"] for each in explanation["differences"])


def test_the_command_shows_both_nodes_lines(repository: Path) -> None:
    """With the command that makes them alike."""
    folder = repository / "examples" / "incidents" / "rp-filter-reset"
    said = podpath("diff", folder / "bundle", folder / "good").stdout
    assert said.startswith(
        "DIFFERENCE: net.ipv4.conf.all.rp_filter is 1 here, and 0 where it works\n"
    )
    assert "bundle/netns/host/sysctl.txt:47 | net.ipv4.conf.all.rp_filter = 1" in said
    assert "good/netns/host/sysctl.txt:47 | net.ipv4.conf.all.rp_filter = 0" in said
    assert "sysctl -w net.ipv4.conf.all.rp_filter=0" in said
    assert podpath("diff", folder / "bundle").returncode == 2
    alike = podpath("diff", folder / "good", folder / "good")
    assert (alike.returncode, "works here, works" in alike.stdout) == (3, True)


def test_names_from_the_evidence_are_escaped() -> None:
    """A device may be called anything."""
    name = "e\x1b[31m"
    bad, good = node(netns(links=[link(name, mtu=1400)])), node(netns(links=[link(name, mtu=1500)]))
    compared = compare_cases(scenes.case(bad), scenes.case(good))
    assert "\x1b" not in render_diff(compared, Style(verbose=True))
    assert "\x1b" not in json.loads(render_diff_json(compared))["differences"][0]["says"]


def test_one_difference_behind_two_connections_hides_no_third() -> None:
    """Each connection that fails is looked at, whatever explained the one before."""
    drops = [f"FORWARD -p tcp -m tcp --dport {port} -j DROP" for port in (80, 443)]
    bad, good = (
        replace(scenes.bridged_node("1"), namespaces=_with_rules(*rules)) for rules in (drops, ())
    )
    asked = [
        probe(f"tcp 10.22.0.5 > 203.0.113.{last}:{port}")
        for last, port in ((9, 80), (10, 80), (9, 443))
    ]
    found = compare_cases(Case(node=bad), Case(node=good), asked)

    assert [2, 1] == [len(one.probes) for one in found.explanations]


def _with_rules(*rules: str) -> dict[str, Netns]:
    made = scenes.bridged_node("1")
    tables = given_tables(given_rules(*rules))
    ruled = replace(made.host, netfilter={4: Netfilter(tables=tables, complete=True)})
    return {**made.namespaces, HOST: ruled}


def test_namespaces_are_compared_in_the_order_of_their_names_after_the_host() -> None:
    """So that the host's differences are told first."""
    made = node(netns("host"), netns("a"), netns("z"))

    assert ["host", "a", "z"] == [here.name for here, _ in paired_namespaces(made, made)]


class ToldBySwitch:
    """Checks that find what they are told to wherever the node does not forward."""

    def __init__(self, *found: Finding) -> None:
        """Take what they find."""
        self.found = found

    def __call__(self, case: Case) -> tuple[Finding, ...]:
        """Return what they find on a case's node."""
        fact = case.node.host.sysctls["net.ipv4.ip_forward"]
        return self.found if isinstance(fact, Known) and fact.value == "0" else ALWAYS


ALWAYS = (Finding(check="a fault of both", severity=Severity.FAULT, claim="", evidence=()),)


@pytest.mark.parametrize(
    ("severity", "certainty", "explained"),
    [
        (Severity.FAULT, 1.0, ["found"]),
        (Severity.FAULT, 0.5, []),
        (Severity.NOTE, 1.0, []),
    ],
)
def test_only_certain_faults_are_explained_by_what_differs(
    monkeypatch: pytest.MonkeyPatch, severity: Severity, certainty: float, explained: list[str]
) -> None:
    """One that goes away with a difference, whatever both nodes have besides."""
    found = Finding(check="found", severity=severity, claim="", evidence=(), certainty=certainty)
    monkeypatch.setattr(compare, "run_checks", ToldBySwitch(*ALWAYS, found))
    bad, good = (
        Case(node=given_node(given_netns("host", sysctls={"net.ipv4.ip_forward": value})))
        for value in "01"
    )
    cures = compare_cases(bad, good).explanations

    assert explained == [finding.check for cure in cures for finding in cure.findings]
