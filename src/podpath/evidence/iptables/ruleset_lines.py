"""Rules of a large ruleset that are read only when somebody looks at them.

A kube-proxy node has 150,000 rules, and a walk looks at a few hundred. So one regex pass over the
text proves that the lines are well-formed rules and says which chain each belongs to; the words of
a rule are cut when its chain is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.evidence.iptables.ruleset import ChainText, RuleText
from podpath.net.provenance import Source, Span
from podpath.xtables.legality import ChainPolicy

_QUOTED = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_PLAIN = r'[^\s"!.…-][^\s"…]*+'
_COMMENT = rf"(?: -m comment --comment (?:{_QUOTED}|{_PLAIN}))"
_SHORT = rf"(?: !)?+ -(?:[sd] [\da-f.:]++(?:/[\d.]++)?+|[iop] {_PLAIN}|m [a-z]\w*+)(?= |$)"
_LONG = (
    r"(?: !)?+ --(?!comment |string |hex-string |log-prefix |nflog-prefix )[a-z][a-z-]*+"
    rf"(?: (?:{_PLAIN}|{_QUOTED}))*+"
)
_COUNTERS = r"(?:\[\d{1,20}+:\d{1,20}+\] )?+"
_TARGET = r" -[jg] [A-Za-z0-9][\w:-]*+"
_WELL_FORMED = re.compile(
    (
        rf"^(?:{_COUNTERS}-A ([^\s-]\S*+)(?:{_COMMENT}|{_SHORT}|{_LONG})*+{_TARGET}(?:{_LONG})*+$|"
        r".*+$)"
    ),
    re.MULTILINE,
)
"""A rule with a target in the spelling of iptables-save, nothing of it elided; else an empty group
for whatever line it is.
"""


def scan_chains(lines: Sequence[str]) -> list[str]:
    """Return for each line the chain it appends a well-formed rule to; empty where it is anything
    else.
    """
    chains = _WELL_FORMED.findall("\n".join(lines))
    return chains if len(chains) == len(lines) else [""] * len(lines)


UNFINISHED = "the output ends in this line, which may be cut"
"""Why a rule counts as unread that is spelled well: more of it may have stood there."""


class Wrap(NamedTuple):
    """How a rule was wrapped: its last line (from 0), and what stood where the line was broken."""

    last: int
    glue: str


class RuleLines(Sequence[RuleText]):
    """Rules of one chain, read from their lines each time one is asked for."""

    __slots__ = ("_places", "_source", "_unfinished", "_wraps")

    def __init__(
        self,
        source: Source,
        places: Sequence[int],
        wraps: Mapping[int, Wrap],
        unfinished: int | None = None,
    ) -> None:
        """Take the lines at these places (from 0); `wraps` tells of the rules that were wrapped,
        `unfinished` is the line that may be cut.
        """
        self._unfinished = unfinished
        self._source = source
        self._places = places
        self._wraps = wraps

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> RuleText: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RuleText, ...]: ...
    def __getitem__(self, index: int | slice) -> RuleText | tuple[RuleText, ...]:
        if isinstance(index, slice):
            return tuple(self._read(place) for place in self._places[index])
        return self._read(self._places[index])

    def __iter__(self) -> Iterator[RuleText]:
        return map(self._read, self._places)

    def is_spelled_like(self, other: RuleLines) -> bool:
        """Tell whether both are the same text but for counters, without reading it."""
        if len(self._places) != len(other._places) or self._wraps or other._wraps:
            return False
        return all(
            one == two for one, two in zip(self._spellings(), other._spellings(), strict=True)
        )

    def spell(self) -> list[str] | None:
        """Return the lines without counters, unread; None where one was wrapped or may be cut."""
        if self._wraps or self._unfinished in self._places:
            return None
        return list(self._spellings())

    def pick(self, indexes: Sequence[int]) -> RuleLines:
        """Return some of the rules, by their places among them."""
        places = [self._places[index] for index in indexes]
        return RuleLines(self._source, places, self._wraps, self._unfinished)

    def _spellings(self) -> Iterator[str]:
        lines = self._source.lines
        return (lines[place][max(lines[place].find("-A "), 0) :] for place in self._places)

    def _read(self, place: int) -> RuleText:
        source = self._source
        wrap = self._wraps.get(place)
        number = source.first_line + place
        if wrap is None:
            rule = read_rule(source.lines[place], Span(source, number, number))
            return rule if place != self._unfinished else rule._replace(unread=UNFINISHED)
        return read_rule(
            join_wrapped(source.lines, place, wrap),
            Span(source, number, source.first_line + wrap.last),
        )


def read_rule(text: str, span: Span) -> RuleText:
    """Read the rule of a line that names its chain."""
    rule = parse_rule_line(text)
    if rule is None:
        return RuleText(span, "", unread="expected -A CHAIN")
    return RuleText(
        span,
        rule.chain,
        rule.selectors,
        rule.matches,
        rule.target,
        rule.goto,
        rule.packets,
        rule.bytes,
        None,
        rule.unread,
        rule.hidden,
    )


def join_wrapped(lines: Sequence[str], place: int, wrap: Wrap) -> str:
    """Return the one line that was wrapped into several."""
    return wrap.glue.join(
        line.strip().removesuffix("\\").rstrip() for line in lines[place : wrap.last + 1]
    )


@dataclass(frozen=True, slots=True)
class BlockChains(Mapping[str, ChainText]):
    """The chains of one block of lines, each made when it is asked for."""

    source: Source
    declared: Mapping[str, int]
    """Lines (from 0) that declare a chain."""
    rules: Mapping[str, Sequence[int]]
    """Lines of each chain's rules."""
    whole: bool
    """Whether chains are shown whole, but for those in `cut`."""
    cut: frozenset[str] = frozenset()
    wraps: Mapping[int, Wrap] = field(default_factory=dict)
    in_line: Mapping[str, int] = field(default_factory=dict)
    """How many rules of a chain that is not whole stand in line at its head; none where not
    said.
    """
    unfinished: int | None = None
    """The line (from 0) that may be cut: the output ends in it, and not as it should."""

    def __getitem__(self, name: str) -> ChainText:
        places = self.rules.get(name)
        place = self.declared.get(name)
        if places is None and place is None:
            raise KeyError(name)
        policy, packets, span = None, None, None
        if place is not None:
            policy, packets = parse_declaration(self.source.lines[place])
            span = Span(self.source, self.source.first_line + place, self.source.first_line + place)
        rules: Sequence[RuleText] = (
            RuleLines(self.source, places, self.wraps, self.unfinished) if places else ()
        )
        whole = self.whole and name not in self.cut
        in_line = None if whole else self.in_line.get(name, 0)
        return ChainText(name, span, policy, rules, whole, packets, in_line)

    def __contains__(self, name: object) -> bool:
        return name in self.declared or name in self.rules

    def __iter__(self) -> Iterator[str]:
        yield from self.declared
        if self.rules.keys() - self.declared.keys():
            yield from (name for name in self.rules if name not in self.declared)

    def __len__(self) -> int:
        return len(self.declared) + len(self.rules.keys() - self.declared.keys())


DECLARATION = re.compile(
    r"\s*(?::(?P<saved>\S+)\s+(?P<saved_policy>ACCEPT|DROP|-)(?:\s+\[(?P<saved_packets>\d{1,20}):\d+\])?"
    r"|(?:-P|--policy)\s+(?P<base>\S+)\s+(?P<policy>ACCEPT|DROP)(?:\s+-c\s+(?P<packets>\d{1,20})\s+\d+)?"
    r"|(?:-N|--new-chain)\s+(?P<user>\S+))\s*"
)
"""`:NAME POLICY [packets:bytes]`, `-P NAME POLICY` and `-N NAME`."""


def parse_declaration(line: str) -> tuple[ChainPolicy | None, int | None]:
    """Return the policy and its packet counter of a line that declares a chain."""
    found = DECLARATION.fullmatch(line)
    if found is None:
        return None, None
    policy = found["saved_policy"] or found["policy"] or "-"
    packets = found["saved_packets"] or found["packets"]
    return (None if policy == "-" else ChainPolicy(policy)), (int(packets) if packets else None)
