"""What a match or target knows of the rule it stands in when it is compiled, and how it reads its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from podpath.datapath.netfilter.state import Act, Answer, Check, Doubt
from podpath.net.addresses import Address, Family, MaskedMark, PortRange
from podpath.node.netfilter import Match, MatchOption, Rule, Target

if TYPE_CHECKING:
    from podpath.datapath.ipsets import Sets

FULL_MASK = 0xFFFFFFFF


class RuleContext(NamedTuple):
    """Where a rule stands."""

    rule: Rule
    netns: str
    family: Family
    flavour: str
    sets: Sets

    @property
    def where(self) -> str:
        """Name the rule so that no other rule of the node has the name."""
        command = "iptables" if self.family == 4 else "ip6tables"
        rule = self.rule
        return f"{command} {rule.table} {rule.chain} rule {rule.position} ({self.flavour}) in netns {self.netns}"

    @property
    def show(self) -> str:
        """Return the command that prints the rule's chain with its counters."""
        command = "iptables" if self.family == 4 else "ip6tables"
        return f"{command} -t {self.rule.table} -nvL {self.rule.chain} --line-numbers"


MatchCompiler = Callable[[Match, RuleContext], tuple[Check, ...]]
"""Compiles a match to one check for each of its options, or to a single one for all of them."""
TargetCompiler = Callable[[Target, RuleContext], Act]
OptionCompiler = Callable[[MatchOption, RuleContext], Check]


def compile_options(match: Match, context: RuleContext, compilers: Mapping[str, OptionCompiler]) -> tuple[Check, ...]:
    """Compile a match whose options are conditions of their own, all of which have to hold."""
    if not match.options:
        return ()
    return tuple(
        compilers[option.name](option, context) if option.name in compilers else unknown_option(match.name, option, context)
        for option in match.options
    )


def unknown_option(extension: str, option: MatchOption, context: RuleContext) -> Check:
    """Answer that an option which nobody here knows decides."""
    return doubtful(f"-m {extension} {spell(option)} (an unknown option) at {context.where} matches", context, likely=False)


def doubtful(fact: str, context: RuleContext, *, likely: bool, negated: bool = False, random: bool = False) -> Check:
    """Make a check that gives the same doubt for every packet."""
    return always(Doubt(fact, likely, "" if random else context.show, random, negated))


def always(answer: Answer) -> Check:
    """Make a check that gives the same answer for every packet."""
    return lambda _: answer


def spell(option: MatchOption) -> str:
    """Spell an option as iptables-save does."""
    return " ".join((*(("!",) if option.negated else ()), f"--{option.name}", *option.values))


def spell_match(match: Match) -> str:
    """Spell a match with its options as iptables-save does."""
    return " ".join((f"-m {match.name}", *(spell(option) for option in match.options)))


def single(option: MatchOption) -> str:
    """Return the one word of an option; `ValueError` where it has none or more."""
    if len(option.values) != 1:
        raise ValueError(f"expected one value, saw {spell(option)!r}")
    return option.values[0]


def words(option: MatchOption) -> tuple[str, ...]:
    """Return the comma-separated words of an option's values."""
    return tuple(word for value in option.values for word in value.split(",") if word)


def parse_integer(text: str, *, most: int = FULL_MASK) -> int:
    """Read a decimal, octal or hexadecimal number as iptables does (`strtoul` with base 0)."""
    octal = len(text) > 1 and text[0] == "0" and text.isdigit()
    number = int(text, 8) if octal else int(text, 0)
    if not 0 <= number <= most:
        raise ValueError(f"expected a number from 0 to {most}, saw {text!r}")
    return number


def parse_mark(text: str) -> MaskedMark:
    """Read `0x4000/0x4000`; without a mask all bits count."""
    value, slash, mask = text.partition("/")
    return MaskedMark(parse_integer(value), parse_integer(mask) if slash else FULL_MASK)


def parse_ports(text: str, separator: str = ":") -> PortRange:
    """Read `80`, `80:90`, `:1023` or `1024:`."""
    first, mark, last = text.partition(separator)
    if not mark:
        port = parse_integer(first, most=65535)
        return PortRange(port, port)
    return PortRange(parse_integer(first, most=65535) if first else 0, parse_integer(last, most=65535) if last else 65535)


def parse_range(text: str, *, most: int = FULL_MASK) -> tuple[int, int]:
    """Read `3`, `3:5`, `:5` or `3:`."""
    first, mark, last = text.partition(":")
    low = parse_integer(first, most=most) if first else 0
    return (low, (parse_integer(last, most=most) if last else most) if mark else low)


def parse_address(text: str, family: Family) -> Address:
    """Read an address of the rule's family."""
    address = Address.parse(text)
    if address.family != family:
        raise ValueError(f"expected an IPv{family} address, saw {text!r}")
    return address
