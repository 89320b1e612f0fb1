"""One line of iptables-save to the options of its matches and target."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.iptables import rule_line
from podpath.evidence.iptables.rule_line import RuleLine, parse_rule_line
from podpath.evidence.iptables.ruleset import ExtensionText
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule
from podpath.xtables.rule import MatchOption
from tests.netfilter_strategies import rules


def parsed(line: str) -> RuleLine:
    """Read a line that must append a rule."""
    found = parse_rule_line(line)
    assert found is not None
    return found


def test_options_belong_to_their_match_or_target() -> None:
    """Each option is given to the extension that it stands behind."""
    rule = parsed(
        '[3:180] -A PREROUTING ! -s 10.0.0.0/8 -i eth0 -p tcp -m comment --comment "a b" -m tcp '
        "--dport 80 "
        "-j DNAT --to-destination 1.2.3.4:5"
    )

    assert rule == RuleLine(
        "PREROUTING",
        (
            MatchOption("source", ("10.0.0.0/8",), negated=True),
            MatchOption("in-interface", ("eth0",)),
            MatchOption("protocol", ("tcp",)),
        ),
        (
            ExtensionText("comment", (MatchOption("comment", ("a b",)),)),
            ExtensionText("tcp", (MatchOption("dport", ("80",)),)),
        ),
        ExtensionText("DNAT", (MatchOption("to-destination", ("1.2.3.4:5",)),)),
        packets=3,
        bytes=180,
    )


def test_an_option_without_match_belongs_to_the_protocol() -> None:
    """`-p tcp --dport 80` loads the tcp match by itself, as iptables does."""
    assert parsed("-A X -p tcp --dport 80 -j ACCEPT").matches == (
        ExtensionText("tcp", (MatchOption("dport", ("80",)),)),
    )
    assert parsed("-A X -p 17 --sport 53").matches == (
        ExtensionText("udp", (MatchOption("sport", ("53",)),)),
    )
    assert parsed("-A X -p icmpv6 --icmpv6-type 128").matches == (
        ExtensionText("icmp6", (MatchOption("icmpv6-type", ("128",)),)),
    )


def test_the_same_option_name_goes_to_the_match_loaded_last() -> None:
    """`--mark` is of both mark and connmark, `--set` of recent and of set."""
    rule = parsed("-A X -m mark --mark 0x1 -m connmark ! --mark 0x2 -m recent --set --name a")

    assert rule.matches == (
        ExtensionText("mark", (MatchOption("mark", ("0x1",)),)),
        ExtensionText("connmark", (MatchOption("mark", ("0x2",), negated=True),)),
        ExtensionText("recent", (MatchOption("set"), MatchOption("name", ("a",)))),
    )
    assert not rule.unread


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        ('-A X -m comment --comment "a \\"quoted\\" \\\\ one" -j ACCEPT', 'a "quoted" \\ one'),
        ("-A X -m comment --comment -j -j ACCEPT", "-j"),
        ('-A X -m comment --comment "-j DROP" -j ACCEPT', "-j DROP"),
        ('-A X -m comment --comment "!" -j ACCEPT', "!"),
        ('-A X -m comment --comment "" -j ACCEPT', ""),
        (
            '-A X -m comment --comment "waits ... and # goes on" -j ACCEPT',
            "waits ... and # goes on",
        ),
        ("-A X -j ACCEPT -m comment --comment last", "last"),
    ],
)
def test_a_comment_may_hold_anything(line: str, comment: str) -> None:
    """Quotes, escapes, dashes, hashes and ellipses of a comment change nothing else in the rule."""
    rule = parsed(line)

    assert rule.matches == (ExtensionText("comment", (MatchOption("comment", (comment,)),)),)
    assert rule.target == ExtensionText("ACCEPT")
    assert not rule.unread


def test_the_old_place_of_the_exclamation_mark_is_understood() -> None:
    """iptables before 1.4.3 printed it behind the option."""
    rule = parsed("-A X -s ! 10.0.0.1 -p tcp --dport ! 80 -j ACCEPT")

    assert rule.selectors[0] == MatchOption("source", ("10.0.0.1",), negated=True)
    assert rule.matches == (ExtensionText("tcp", (MatchOption("dport", ("80",), negated=True),)),)


def test_long_spellings_are_understood() -> None:
    """Rules files written by hand use them."""
    rule = parsed(
        "--append X --source 10.0.0.1 --protocol tcp --match tcp --destination-port=80 --goto NEXT"
    )

    assert rule.selectors == (
        MatchOption("source", ("10.0.0.1",)),
        MatchOption("protocol", ("tcp",)),
    )
    assert rule.matches == (ExtensionText("tcp", (MatchOption("destination-port", ("80",)),)),)
    assert (rule.target, rule.goto) == (ExtensionText("NEXT"), True)


def test_counters_of_verbose_rule_listings_are_taken() -> None:
    """`iptables -v -S` prints them as an option."""
    rule = parsed("-A FORWARD -c 7 420 -j ACCEPT")

    assert (rule.packets, rule.bytes, rule.target) == (7, 420, ExtensionText("ACCEPT"))


def test_an_unknown_extension_keeps_its_options() -> None:
    """Its words are read up to the next option; nothing of the rule is lost."""
    rule = parsed("-A X -m unheard --of one two ! --so-far -j ALIEN --with care")

    assert rule.matches == (
        ExtensionText(
            "unheard", (MatchOption("of", ("one", "two")), MatchOption("so-far", (), negated=True))
        ),
    )
    assert rule.target == ExtensionText("ALIEN", (MatchOption("with", ("care",)),))
    assert not rule.unread


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('-A X -m comment --comment "cut of', "a quote is not closed"),
        ("-A X -p tcp -m tcp --dport", "expected a value of dport, saw the end of the line"),
        (
            "-A X -s 10.244.x.x/16 -j DROP",
            "expected an address behind --source, saw '10.244.x.x/16'",
        ),
        ("-A X -d 10.96.0.1/32 ... -j DROP", "expected an option, saw '...'"),
        ("-A X -j KUBE-SVC-…", "a part of the line is left out"),
        ("-A X -p tcp -m tcp --ctstate NEW -j DROP", "expected an option of tcp, saw --ctstate"),
        ("-A X -j A -j B", "expected one target, saw B too"),
        ("-A X --nonsense", "expected an option of iptables, saw --nonsense"),
        ("-A X -j ACCEPT !", "expected an option after !, saw the end of the line"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(line: str, why: str) -> None:
    """A line that is cut, elided or garbled is still a rule of its chain, and says what is not
    known of it.
    """
    assert (parsed(line).chain, parsed(line).unread) == ("X", why)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "COMMIT",
        ":INPUT ACCEPT [0:0]",
        "-P INPUT DROP",
        "-A -t 499 -s 10.0.0.1",
        "the -A flag appends",
    ],
)
def test_other_lines_append_no_rule(line: str) -> None:
    """Neither declarations nor prose nor an output of conntrack are rules."""
    assert parse_rule_line(line) is None


@given(rules())
def test_the_plain_way_and_the_full_way_agree(rule: Rule) -> None:
    """The quick reading of plainly spelled rules gives what the tokenizer gives."""
    line = emit_rule(rule)
    head = rule_line._RULE.match(line)
    assert head is not None
    plain = rule_line._parse_plain(line, head)

    assert plain in {None, rule_line._parse_any(line, head)}


@given(st.text(max_size=120).map("-A X ".__add__))
def test_no_line_is_refused_with_an_error(line: str) -> None:
    """Whatever stands behind the chain, the line is read as far as it goes."""
    parse_rule_line(line)


@pytest.mark.parametrize("repeated", [" ", "\t", "a", '"', "\\", " -", " !", " --a b", "="])
def test_long_lines_are_read_in_time(repeated: str) -> None:
    """The time grows with the length of the line, not with its square."""
    started = time.process_time()
    parse_rule_line("-A X -m comment --comment " + repeated * (100_000 // len(repeated)) + "x")

    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("-A X -p tcp -j DNAT --to 10.0.0.1:80", "to-destination"),
        ("-A X -j SNAT --to-s 10.0.0.1", "to-source"),
        ("-A X -p tcp -m multiport --dp 80 -j DNAT --to-dest 10.0.0.1", "to-destination"),
        ("-A X -p tcp --dp 80 -j DNAT --to 10.0.0.1", "to-destination"),
    ],
)
def test_a_long_option_may_be_cut_short(line: str, option: str) -> None:
    """Where one only begins so, as getopt_long takes it."""
    read = parse_rule_line(line)

    assert read is not None
    assert read.target is not None
    assert (read.unread, read.target.options[-1].name) == ("", option)


@pytest.mark.parametrize("option", ["--r", "--p", "--tto"])
def test_what_several_begin_with_stays_unread(option: str) -> None:
    """Options of the program itself among them."""
    read = parse_rule_line(f"-A X -j DNAT --to-destination 10.0.0.1 {option}")

    assert read is not None
    assert read.unread
