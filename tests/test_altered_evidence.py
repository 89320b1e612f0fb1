"""The law of the all-clear on evidence as text: whatever is lost, cut or not known in it where it
could decide forbids it.

The nodes in tests/data/healthy were recorded on the real kernel, which carries both connections;
unaltered they are cleared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podpath
from podpath.collect.limits import Limits
from podpath.diagnosis.forbids import NotWalkedToTheEnd, SomeBranchesFail
from podpath.diagnosis.unread import LinesUnread
from podpath.diagnosis.verdict import Verdict
from podpath.library.given import Pasted
from tests.incidents.healthy_nodes import PROBES

FOLDER = Path(__file__).parent / "data" / "healthy"
PROMPT = "root@worker-1:~# "
END = f"{PROMPT}\n"
"""The prompt that shows that the last output is over."""
TO_WORLD, TO_SERVICE = PROBES
FEW = settings(max_examples=12, deadline=None)


class Form(NamedTuple):
    """A node, and the output that shows its rules."""

    node: str
    rules: str


SAVE, LISTED = Form("legacy", "iptables-save"), Form("legacy", "iptables-L")
NFT, NFT_JSON = Form("native", "nft"), Form("native", "nft-json")
FORMS = (SAVE, NFT, NFT_JSON)
"""Those that can be cleared: `iptables -L` shows no table that nobody asked it for."""


@cache
def text_of(node: str, name: str) -> str:
    """Return a recorded text."""
    return (FOLDER / node / f"{name}.txt").read_text(encoding="utf-8")


def state_of(form: Form) -> str:
    """Return what a node's console shows before its rules."""
    return text_of(form.node, "state") + text_of(form.node, "others")


def whole_of(form: Form) -> str:
    """Return all that a node's console shows."""
    return f"{state_of(form)}{text_of(form.node, form.rules)}{END}"


def verdict_of(text: str, probe: str = TO_SERVICE) -> str:
    """Diagnose a console's text."""
    return podpath.diagnose(Pasted(text, "console.txt"), [probe]).verdict


def outputs_of(text: str) -> list[str]:
    """Part a console's text into commands with what they printed."""
    first, *others = text.split(f"\n{PROMPT}")
    return [f"{first}\n", *(f"{PROMPT}{other}\n" for other in others[:-1]), f"{PROMPT}{others[-1]}"]


def with_rule(form: Form, before: str, line: str) -> str:
    """Put a line above the first one that holds some words, in the output of the rules."""
    rules = text_of(form.node, form.rules)
    place = rules.rindex("\n", 0, rules.index(before)) + 1
    return f"{state_of(form)}{rules[:place]}{line}\n{rules[place:]}{END}"


def with_statements(statements: object) -> str:
    """Put a rule above the others of the chain that forwards, in JSON."""
    heading, _, listing = text_of("native", "nft-json").partition("\n")
    document = json.loads(listing)
    objects = document["nftables"]
    place = next(
        number
        for number, each in enumerate(objects)
        if each.get("rule", {}).get("chain") == "forward"
    )
    objects.insert(
        place,
        {"rule": {"family": "inet", "table": "filter", "chain": "forward", "expr": statements}},
    )
    return f"{state_of(NFT_JSON)}{heading}\n{json.dumps(document)}\n{END}"


def with_line(command: str, line: str) -> str:
    """Put a line on top of what a command of the host printed."""
    text, typed = whole_of(SAVE), f"{PROMPT}{command}\n"
    assert typed in text
    return text.replace(typed, f"{typed}{line}\n", 1)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_what_the_kernel_carries_is_cleared(form: Form, probe: str) -> None:
    """Nothing is missing: this is what the other tests take something away from."""
    assert verdict_of(whole_of(form), probe) == Verdict.NONE


UNKNOWN_RULES = (
    (SAVE, "-A FORWARD", "-A FORWARD -m foo --bar 3 -j DROP"),
    (SAVE, "-A FORWARD", "-A FORWARD -j FOO"),
    (SAVE, "-A FORWARD", "-A FORWARD -j FOO --with 3"),
    (SAVE, "-A FORWARD", "-A FORWARD -m foo -j BAR"),
    (SAVE, "-A FORWARD", "-A FORWARD -m conntrack --ctfoo NEW -j DROP"),
    (SAVE, "-A FORWARD", "-A FORWARD -s 10.244.1.5 --foo -j DROP"),
    (SAVE, "-A FORWARD", "-A FORWARD -g NOT-SHOWN"),
    (SAVE, "-A FORWARD", "-A FORWARD -m set --match-set not-shown src -j DROP"),
    (SAVE, "-A FORWARD", '-A FORWARD -m comment --comment "never closed -j DROP'),
    (SAVE, "-A FORWARD", "-A FORWARD -j"),
    (SAVE, "-A FORWARD", "what is this"),
    (LISTED, "KUBE-FORWARD  ", ("    0     0 FOO        all  --  *      *       0.0.0.0/0          "
                                "  0.0.0.0/0")),
    (LISTED, "KUBE-FORWARD  ", ("    0     0 DROP       all  --  *      *       0.0.0.0/0          "
                                "  0.0.0.0/0   foo match 3")),
    (NFT, "jump pods", "\t\tfoo bar drop"),
    (NFT, "jump pods", "\t\tfoo"),
    (NFT, "jump pods", "\t\tmeta foo 3 drop"),
    (NFT, "jump pods", "\t\tip saddr @not_shown drop"),
    (NFT, "jump pods", "\t\tct state vmap @not_shown"),
    (NFT, "jump pods", "\t\tip saddr vmap { 10.244.1.5 : foo }"),
    (NFT, "jump pods", "\t\tjump not_shown"),
    (NFT, "jump pods", "\t\tmeta mark set foo"),
    (NFT, "jump pods", '\t\tfwd ip to 192.0.2.1 device "eth0"'),
    (NFT, "jump pods", '\t\txt target "FOO"'),
    (NFT, "jump pods", "\t\treject with foo"),
)  # fmt: skip


@pytest.mark.parametrize(("form", "before", "line"), UNKNOWN_RULES)
def test_a_rule_that_nobody_knows_forbids_it(form: Form, before: str, line: str) -> None:
    """It may drop the packet, or let one in that something else drops: the walk asks where it
    stands, or a check suspects it.
    """
    answer = podpath.diagnose(Pasted(with_rule(form, before, line), "console.txt"), [TO_SERVICE])
    suspected = any(
        span.text.strip() == line.strip()
        for finding in answer.findings
        for span in finding.evidence
    )
    assert answer.verdict == Verdict.POSSIBLE
    assert suspected or {SomeBranchesFail, NotWalkedToTheEnd, LinesUnread} & {
        type(one) for one in answer.diagnosis.forbids
    }


UNKNOWN_STATEMENTS: Sequence[object] = (
    [{"foo": {"x": 1}}],
    [{"match": {"op": "==", "left": {"foo": 3}, "right": 1}}, {"drop": None}],
    [{"match": {"op": "==", "left": {"meta": {"key": "foo"}}, "right": 1}}, {"drop": None}],
    [
        {"match": {"op": "==", "left": {"meta": {"key": "mark"}}, "right": 0, "foo": 1}},
        {"drop": None},
    ],
    [{"mangle": {"key": {"foo": 1}, "value": 1}}],
    [{"mangle": {"key": {"meta": {"key": "mark"}}, "value": {"foo": 1}}}],
    [{"vmap": {"key": {"ct": {"key": "state"}}, "data": "@not_shown"}}],
    [{"jump": {"target": "not_shown"}}],
    [{"dnat": {"foo": 1}}],
    [{"tproxy": {"port": 3}}],
    ["foo"],
    [3],
    [None],
    None,
    {"drop": None},
)


@pytest.mark.parametrize("statements", UNKNOWN_STATEMENTS, ids=json.dumps)
def test_a_statement_in_json_that_nobody_knows_forbids_it(statements: object) -> None:
    """Neither its absence nor any effect of it is taken for granted."""
    assert verdict_of(with_statements(statements)) == Verdict.POSSIBLE


@pytest.mark.parametrize(
    "item", [3, None, "x", {"rule": 3}, {"foo": {}}, {"rule": {"family": "inet"}}], ids=json.dumps
)
def test_what_is_no_object_of_nft_forbids_it(item: object) -> None:
    """A rule may have stood in its place."""
    heading, _, listing = text_of("native", "nft-json").partition("\n")
    document = json.loads(listing)
    document["nftables"].insert(5, item)
    assert (
        verdict_of(f"{state_of(NFT_JSON)}{heading}\n{json.dumps(document)}\n{END}")
        == Verdict.POSSIBLE
    )


UNKNOWN_SELECTORS = (
    "90:\tfrom all foo 12 lookup 90", "90:\tfrom all lookup 90 foo",
    "90:\tfrom 10.244.1.0/24 foo unreachable", "90:\tfrom all lookup 90 suppress_ifgroup 3",
    "90:\tfrom all tun_id 3 lookup 90", "90:\tnot from all dscp 3 lookup 90",
    "90:\tfrom all fwmark 0x1/foo lookup 90", "90:\tfrom all dport foo lookup 90", "90:\tfoo",
    "90:\tfrom all",
)  # fmt: skip


@pytest.mark.parametrize("line", UNKNOWN_SELECTORS)
def test_a_policy_rule_that_nobody_knows_forbids_it(line: str) -> None:
    """Whether it counts is not known, and its table has no way on."""
    text = with_line("ip rule", line).replace(
        f"{PROMPT}ip route show table all\n",
        f"{PROMPT}ip route show table all\nblackhole default table 90\n",
        1,
    )
    assert verdict_of(text) == Verdict.POSSIBLE


UNKNOWN_ATTRIBUTES = (
    "203.0.113.0/24 encap seg6 mode encap segs 1 [ fc00::1 ] dev eth0 scope link",
    "203.0.113.0/24 foo 3 via 192.168.50.1 dev eth0",
    "203.0.113.0/24 encap mpls 100 via 192.168.50.1 dev eth0",
    "203.0.113.0/24 via 192.168.50.1 dev eth0 foo",
    "203.0.113.0/24 dev eth0 encap ip id 3 dst 192.0.2.9", "203.0.113.0/24", "203.0.113.0/24 dev",
    "foo 203.0.113.0/24", "203.0.113.0/24 via 192.168.50.1 dev not-shown",
    "203.0.113.0/99 via 192.168.50.1 dev eth0",
)  # fmt: skip


@pytest.mark.parametrize("line", UNKNOWN_ATTRIBUTES)
def test_a_route_that_nobody_knows_forbids_it(line: str) -> None:
    """It is the best one for the destination, and what it does is not known."""
    assert verdict_of(with_line("ip route show table all", line), TO_WORLD) == Verdict.POSSIBLE


@FEW
@given(st.sampled_from(FORMS), st.data())
def test_an_output_of_rules_that_is_cut_forbids_it(form: Form, data: st.DataObject) -> None:
    """Wherever it is cut, in the middle of a rule too, what follows may have decided."""
    rules = text_of(form.node, form.rules)
    cut = data.draw(st.integers(rules.index("\n") + 1, len(rules.rstrip()) - 1))
    assert verdict_of(state_of(form) + rules[:cut]) != Verdict.NONE


def convicts(text: str, probe: str) -> bool:
    """Tell whether anything certain is said against a connection: by a cause, or by its trace."""
    given = Pasted(text, "console.txt")
    answer = podpath.diagnose(given, [probe])
    certain = any(finding.certainty == 1 for finding in answer.findings)
    commands = any(repair.commands for finding in answer.findings for repair in finding.repairs)
    return certain or commands or podpath.trace(given, probe).verdict == "NEVER"


@FEW
@given(st.sampled_from(FORMS), st.sampled_from(PROBES), st.data())
def test_an_output_of_rules_that_is_cut_convicts_nobody(
    form: Form, probe: str, data: st.DataObject
) -> None:
    """Both nodes drop what no rule accepts, and the rule that accepts may be the one that is
    lost.
    """
    rules = text_of(form.node, form.rules)
    cut = data.draw(st.integers(rules.index("\n") + 1, len(rules)))
    assert not convicts(state_of(form) + rules[:cut], probe)


LISTINGS = (
    "ip -d link",
    "ip addr",
    "ip route show table all",
    "ip rule",
    "ip neigh",
    "sysctl",
    "ss",
)
"""Outputs of the host that have no end of their own."""


def with_last(command: str) -> tuple[str, int]:
    """Put an output of the host behind all others; return the text and where that output begins."""
    outputs = outputs_of(whole_of(SAVE).removesuffix(END))
    last = next(each for each in outputs if each.startswith(f"{PROMPT}{command}"))
    before = "".join(each for each in outputs if each != last)
    return f"{before}{last}".rstrip("\n"), len(before) + last.index("\n") + 1


@FEW
@given(st.sampled_from(LISTINGS), st.sampled_from(PROBES), st.data())
def test_a_listing_that_a_console_ends_in_clears_and_convicts_nobody(
    command: str, probe: str, data: st.DataObject
) -> None:
    """No prompt shows that it was over: what decides may be in what followed."""
    text, begin = with_last(command)
    cut = data.draw(st.integers(begin + 1, len(text)))
    assert not convicts(text[:cut], probe)
    assert verdict_of(text[:cut], probe) != Verdict.NONE


@FEW
@given(st.data())
def test_columns_of_rules_that_a_console_ends_in_convict_nobody(data: st.DataObject) -> None:
    """`iptables -L` has no end that could be missed: the rest of a chain may have followed."""
    rules = text_of(LISTED.node, LISTED.rules)
    cut = data.draw(st.integers(rules.index("-t filter") + 20, len(rules)))
    assert not convicts(state_of(LISTED) + rules[:cut], TO_WORLD)
    assert verdict_of(state_of(LISTED) + rules[:cut], TO_WORLD) != Verdict.NONE


def list_rules() -> str:
    """Spell the filter table of the node as `iptables -S` does."""
    table = text_of("legacy", "iptables-save").partition("*filter\n")[2].partition("COMMIT")[0]
    lines = [f"{PROMPT}iptables-legacy -S"]
    for line in table.splitlines():
        chain, _, rest = line[1:].partition(" ")
        policy = rest.partition(" ")[0]
        declared = f"-N {chain}" if policy == "-" else f"-P {chain} {policy}"
        lines.append(declared if line.startswith(":") else line)
    return "\n".join(lines) + "\n"


WHOLE_OF_FORWARD = "-A OUTPUT -j KUBE-FIREWALL"
"""The last rule of the base chains, which stand above all others."""


@FEW
@given(st.sampled_from(PROBES), st.data())
def test_a_listing_that_is_cut_among_its_base_chains_convicts_nobody(
    probe: str, data: st.DataObject
) -> None:
    """`iptables -S` has no end that could be missed: it shows chains, and no rule of theirs."""
    listed = list_rules()
    end = listed.index(WHOLE_OF_FORWARD) + len(WHOLE_OF_FORWARD)
    cut = data.draw(st.integers(listed.index("\n", listed.index("-N ")), end))
    assert not convicts(state_of(SAVE) + listed[:cut], probe)


def tables_of(form: Form) -> list[str]:
    """Part an output of rules into its tables, the command with the first."""
    rules = text_of(form.node, form.rules)
    opening = "# Generated" if form is SAVE else "table "
    parts = re.split(rf"(?<=\n)(?={opening})", rules)
    return [parts[0] + parts[1], *parts[2:]]


@pytest.mark.parametrize("form", [SAVE, NFT], ids=str)
def test_an_output_that_ends_between_tables_is_whole_only_before_a_prompt(form: Form) -> None:
    """A later table may have followed, such as the one that translates."""
    tables = tables_of(form)
    shown = ["".join(tables[:count]) for count in range(1, len(tables) + 1)]
    assert len(shown) > 1
    for rules in shown:
        assert not convicts(state_of(form) + rules, TO_SERVICE)
        assert verdict_of(state_of(form) + rules) == Verdict.POSSIBLE


@pytest.mark.parametrize("probe", PROBES)
def test_a_listing_that_is_cut_at_any_line_convicts_nobody(probe: str) -> None:
    """No prompt after it shows that the rest of a chain did not follow."""
    lines = list_rules().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("-A "))
    for kept in range(first, len(lines) + 1, 4):
        assert not convicts(state_of(SAVE) + "".join(lines[:kept]), probe)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("kept", [0, 1])
def test_half_a_rule_is_no_rule(kept: int, probe: str) -> None:
    """What is left of `-s 10.244.0.0/16 -j ACCEPT` is a rule that only counts."""
    rules = text_of("legacy", "iptables-save")
    lines = rules.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("-A FORWARD"))
    half = "-A FORWARD -s 10.0"
    text = "\n".join([*lines[: first + kept], half])
    answer = podpath.diagnose(Pasted(state_of(SAVE) + text, "console.txt"), [probe])
    assert answer.verdict == Verdict.POSSIBLE
    assert "iptables-legacy-save -c" in [question.ask for question in answer.diagnosis.questions]
    assert not convicts(state_of(SAVE) + text, probe)


@pytest.mark.parametrize("probe", PROBES)
def test_a_rule_in_line_convicts_though_what_follows_is_cut(probe: str) -> None:
    """It stands at the head of its chain, and nothing that could accept comes before it."""
    rule = "-A FORWARD -j DROP"
    text = with_rule(SAVE, "-A FORWARD", rule)
    cut = text.index("\n", text.index("-A FORWARD", text.index(rule) + len(rule))) + 1
    answer = podpath.diagnose(Pasted(text[:cut], "console.txt"), [probe])
    assert [(rule, 1)] == [
        (finding.evidence[0].text, finding.certainty) for finding in answer.findings[:1]
    ]


@FEW
@given(st.sampled_from(FORMS), st.data())
def test_a_line_of_garbage_forbids_it(form: Form, data: st.DataObject) -> None:
    """In place of any line that states facts, it may have been the one that decides; a socket that
    is not seen refuses more.
    """
    lines = whole_of(form).splitlines()
    places = [
        place
        for place, line in enumerate(lines)
        if line.strip() and not line.startswith((PROMPT, "#", "Netid", "udp ", "tcp "))
    ]
    lines[data.draw(st.sampled_from(places))] = "%%% ?? %%%"
    assert verdict_of("\n".join(lines) + "\n") != Verdict.NONE


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_listing_of_connections_with_an_ellipsis_forbids_it(form: Form) -> None:
    """A rule goes by the state of a connection, in native tables as in those of iptables."""
    before, typed, after = whole_of(form).partition(f"{PROMPT}conntrack -L")
    heading, _, entries = after.partition("\n")
    assert verdict_of(f"{before}{typed}{heading}\n...\n{entries}") == Verdict.POSSIBLE


DECIDING = (
    "ip addr",
    "ip route show table all",
    "ip rule",
    "iptables-legacy-save",
    "sysctl",
    "ip neigh",
)


@pytest.mark.parametrize("command", DECIDING)
def test_an_output_that_is_lost_forbids_it(command: str) -> None:
    """What it would have shown may decide."""
    outputs = outputs_of(whole_of(SAVE))
    left = [output for output in outputs if not output.startswith(f"{PROMPT}{command}")]
    assert len(left) == len(outputs) - 1
    assert verdict_of("".join(left), TO_WORLD) != Verdict.NONE


@FEW
@given(st.sampled_from(FORMS), st.data())
def test_a_file_that_a_limit_cuts_forbids_it(form: Form, data: st.DataObject) -> None:
    """Wherever `--max-size` cuts it."""
    text = whole_of(form)
    size = data.draw(st.integers(len(text_of(form.node, "state")), len(text) - len(END) - 2))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "console.txt"
        file.write_text(text, encoding="utf-8")
        case = podpath.read(
            file, asking=[TO_SERVICE], limits=Limits(text_bytes=size, output_bytes=size)
        )
    assert podpath.diagnose(case, [TO_SERVICE]).verdict != Verdict.NONE


@pytest.mark.parametrize("probe", PROBES)
def test_a_cure_is_proven_only_on_stated_facts(probe: str) -> None:
    """A walk through pods of which no output shows anything proves nothing of them."""
    text = with_rule(SAVE, "-A FORWARD", "-A FORWARD -j DROP")
    bare = "".join(output for output in outputs_of(text) if "ip netns exec" not in output)
    asked = probe.removesuffix(" from web")
    answers = [podpath.diagnose(Pasted(shown, "console.txt"), [asked]) for shown in (text, bare)]
    proven = [{each.proven for each in answer.findings[0].repairs} for answer in answers]
    assert proven == [{"simulated"}, {""}]


ENDS_UNTRANSLATED = (
    (SAVE, "-A FLANNEL-POSTRTG -s"),
    (SAVE, "-A FLANNEL-POSTRTG"),
    (NFT, "masquerade"),
)


@pytest.mark.parametrize(("form", "masquerading"), ENDS_UNTRANSLATED)
@pytest.mark.parametrize("instead", ["", "..."])
def test_rules_of_nat_that_are_left_out_count_against_what_fails_untranslated(
    form: Form, masquerading: str, instead: str
) -> None:
    """One of them may translate: that none does is certain only where the chain is whole."""
    lines = text_of(form.node, form.rules).splitlines()
    altered = [instead if masquerading in line else line for line in lines]
    kept = "\n".join(line for line in altered if line)
    failed = f"{PROMPT}ip netns exec web curl -m 5 http://203.0.113.9:443\ncurl: (28) timed out\n"
    given = Pasted(f"{state_of(form)}{kept}\n{failed}{END}", "console.txt")
    found = podpath.diagnose(given, [TO_WORLD]).findings
    rests = [bool(each.rests_on) for each in found if each.check == "missing-masquerade"]
    assert rests == [bool(instead)]
    assert not instead or "masquerade-chain-empty" not in [each.check for each in found]
    assert podpath.trace(given, TO_WORLD).verdict == ("UNDECIDED" if instead else "ALWAYS")


IN_THE_WAY = (
    "blackhole 203.0.113.0/24 foo 7",
    "unreachable 203.0.113.0/24 foo",
    "203.0.113.0/24 encap mpls 100 via 10.244.1.99 dev cni0",
    "203.0.113.0/24 foo 3 via 10.244.1.99 dev cni0",
)


@pytest.mark.parametrize("line", IN_THE_WAY)
def test_a_route_with_an_attribute_that_nobody_knows_makes_the_walk_fork(line: str) -> None:
    """It may be for other packets, or do something else with these: nothing certain rests on it."""
    given = Pasted(with_line("ip route show table all", line), "console.txt")
    followed = podpath.trace(given, TO_WORLD)
    asked = [made.fact for branch in followed.conversation.branches for made in branch.assumptions]
    answer = podpath.diagnose(given, [TO_WORLD])
    assert any(fact.startswith("the route 203.0.113.0/24 in netns host counts") for fact in asked)
    assert followed.verdict != "NEVER"
    assert answer.verdict == Verdict.POSSIBLE
    assert all(finding.certainty < 1 for finding in answer.findings)
