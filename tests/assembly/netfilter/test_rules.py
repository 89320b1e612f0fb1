"""One rule, from its text to the model."""

from __future__ import annotations

import pytest

from podpath.assembly.netfilter.rules import assemble_rule, parse_prefix
from podpath.evidence.iptables.ruleset_lines import read_rule
from podpath.net.addresses import Address, Prefix
from podpath.node.netfilter import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
)
from tests.netfilter_strategies import NOWHERE


def rule_of(text: str) -> Rule:
    """Read a rule of a chain X."""
    return assemble_rule(read_rule(f"-A X {text}", NOWHERE), "filter", 4)


def option_of(text: str) -> MatchOption:
    """Return the one option of the one match or target."""
    rule = rule_of(text)
    options = [option for match in rule.matches for option in match.options] + list(
        rule.target.options if rule.target else ()
    )
    assert len(options) == 1
    return options[0]


def test_selectors_are_typed() -> None:
    """Addresses, devices, protocol and fragment are fields of the rule."""
    rule = rule_of("! -s 10.0.0.0/8 -d 10.96.0.1 -i lxc+ ! -o eth0 -p udp ! -f -j DROP")

    assert (rule.table, rule.chain, rule.position) == ("filter", "X", 4)
    assert rule.src == PrefixMatch(Prefix.parse("10.0.0.0/8"), negated=True)
    assert rule.dst == PrefixMatch(Prefix.of(Address.parse("10.96.0.1")))
    assert rule.in_link == InterfaceMatch("lxc", wildcard=True)
    assert rule.out_link == InterfaceMatch("eth0", negated=True)
    assert (rule.protocol, rule.fragment) == (ProtocolMatch(17), False)


@pytest.mark.parametrize(
    "text", ["-s 0.0.0.0/0 -j DROP", "-i + -o + -j DROP", "-p all -j DROP", "-d ::/0 -j DROP"]
)
def test_what_selects_everything_selects_nothing(text: str) -> None:
    """An older iptables prints `-s 0.0.0.0/0`, and everybody may write it."""
    assert rule_of(text)[5:11] == (None,) * 6


@pytest.mark.parametrize(
    ("text", "prefix", "mask"),
    [
        ("10.0.0.1", Prefix(4, 0x0A000001, 32), None),
        ("10.1.2.3/8", Prefix(4, 0x0A000000, 8), None),
        ("10.0.0.0/255.255.0.0", Prefix(4, 0x0A000000, 16), None),
        ("1.2.0.3/255.255.0.255", Prefix(4, 0x01020003, 32), 0xFFFF00FF),
        ("fd00::1/64", Prefix.parse("fd00::/64"), None),
        (
            "fd00::5/ffff::ffff",
            Prefix.of(Address.parse("fd00::5")),
            int.from_bytes(b"\xff\xff" + bytes(12) + b"\xff\xff"),
        ),
    ],
)
def test_prefixes_are_read(text: str, prefix: Prefix, mask: int | None) -> None:
    """A mask that is not contiguous stays beside the address."""
    assert parse_prefix(text) == (prefix, mask)


@pytest.mark.parametrize(
    "text", ["10.0.0.256", "10.0.0.0/33", "10.0/8/8", "fd00::/255.0.0.0", "", "x"]
)
def test_what_is_no_prefix_is_refused(text: str) -> None:
    """The reader of a rule makes it unread."""
    with pytest.raises(ValueError, match=r".*"):
        parse_prefix(text)


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("-p tcp --destination-port 80", "dport", ("80",)),
        ("-p udp -m udp --source-port 53", "sport", ("53",)),
        ("-p tcp -m multiport --destination-ports 80,443", "dports", ("80,443",)),
        ("-p tcp --syn", "tcp-flags", ("FIN,SYN,RST,ACK", "SYN")),
        ("-m mark --mark 16384/0x4000", "mark", ("0x4000/0x4000",)),
        ("-m connmark --mark 1", "mark", ("0x1",)),
        ("-m limit --limit 5/minute", "limit", ("5/min",)),
        ("-m limit --limit 10/s", "limit", ("10/sec",)),
        ("-j MARK --set-mark 0x4000/0x4000", "set-xmark", ("0x4000/0x4000",)),
        ("-j MARK --set-mark 1", "set-xmark", ("0x1/0xffffffff",)),
        ("-j MARK --or-mark 0x8000", "set-xmark", ("0x8000/0x8000",)),
        ("-j MARK --and-mark 0xff", "set-xmark", ("0x0/0xffffff00",)),
        ("-j CONNMARK --xor-mark 4", "set-xmark", ("0x4/0x0",)),
        ("-j MARK --set-xmark zero", "set-xmark", ("zero",)),
    ],
)
def test_spellings_that_mean_the_same_become_one(
    text: str, name: str, values: tuple[str, ...]
) -> None:
    """The one that iptables-save prints."""
    assert option_of(text)[:2] == (name, values)


def test_an_old_name_of_a_match_becomes_its_name() -> None:
    """`-m icmpv6` is `-m icmp6`."""
    assert rule_of("-p ipv6-icmp -m icmpv6 --icmpv6-type 128").matches == (
        Match("icmp6", (MatchOption("icmpv6-type", ("128",)),)),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-s 10.0.0.1 -s 10.0.0.2 -j DROP", "--source stands there twice"),
        ("-p martian -j DROP", "expected a protocol, saw 'martian'"),
        ("-s 10.0.0.300 -j DROP", "expected an IPv4 prefix, saw '10.0.0.300'"),
    ],
)
def test_what_cannot_be_understood_makes_a_rule_unread(text: str, why: str) -> None:
    """The rule stays where it is."""
    rule = rule_of(text)

    assert (rule.unread, rule.target is None) == (why, False)
