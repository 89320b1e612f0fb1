"""The smallest difference between two states of one chain: what moved, what is missing, what is
extra.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple

from podpath.node.netfilter import Chain, Rule


class ChainDifference(NamedTuple):
    """One rule that differs between a bad and a good state of a chain."""

    kind: str
    """`moved`, `missing` (the bad one lacks it), `extra` (the good one lacks it)."""
    rule: Rule
    """As it stands in the bad chain; in the good one, where the bad one lacks it."""
    other: Rule | None
    """The same rule in the good chain, for one that moved."""

    @property
    def words(self) -> str:
        """Say what differs."""
        name = self.rule.target.name if self.rule.target is not None else "a rule without a target"
        if self.kind == "moved" and self.other is not None:
            return (
                f"{name} is rule {self.rule.position} of {self.rule.chain} here, and rule "
                f"{self.other.position} where it works"
            )
        if self.kind == "missing":
            return (
                f"{name} (rule {self.rule.position} of {self.rule.chain} where it works) is "
                "missing here"
            )
        return (
            f"{name} (rule {self.rule.position} of {self.rule.chain} here) is absent where it works"
        )


def compare_chains(bad: Chain, good: Chain) -> tuple[ChainDifference, ...]:
    """Return the rules that differ, as few as possible: what stands in both, in the same order, is
    no difference.
    """
    extra: list[Rule] = []
    missing: list[Rule] = []
    for tag, start, end, other_start, other_end in _align(bad, good):
        if tag != "equal":
            extra += bad.rules[start:end]
            missing += good.rules[other_start:other_end]
    return tuple(_pair(extra, missing))


def _align(bad: Chain, good: Chain) -> list[tuple[str, int, int, int, int]]:
    """Lay the rules of two chains side by side: `SequenceMatcher.get_opcodes` of what is between
    their common ends.
    """
    mine, theirs = [_identity(rule) for rule in bad.rules], [_identity(rule) for rule in good.rules]
    shorter = min(len(mine), len(theirs))
    first = next((at for at in range(shorter) if mine[at] != theirs[at]), shorter)
    last = next(
        (at for at in range(shorter - first) if mine[-1 - at] != theirs[-1 - at]), shorter - first
    )
    inner = SequenceMatcher(
        None, mine[first : len(mine) - last], theirs[first : len(theirs) - last], autojunk=False
    )
    between = [
        (tag, first + a, first + b, first + c, first + d) for tag, a, b, c, d in inner.get_opcodes()
    ]
    end = ("equal", len(mine) - last, len(mine), len(theirs) - last, len(theirs))
    return [("equal", 0, first, 0, first), *between, end]


def _pair(extra: Sequence[Rule], missing: Sequence[Rule]) -> Iterator[ChainDifference]:
    """Join a rule that is taken out in one place and put in in another: it moved."""
    left = list(missing)
    for rule in extra:
        twin = next((other for other in left if _identity(other) == _identity(rule)), None)
        if twin is not None:
            left.remove(twin)
        yield ChainDifference("moved" if twin is not None else "extra", rule, twin)
    for rule in left:
        yield ChainDifference("missing", rule, None)


def _identity(rule: Rule) -> tuple[object, ...]:
    """Return what makes two rules the same: neither place nor counters, nor the extensions'
    order.
    """
    matches = tuple(sorted(repr(match) for match in rule.matches if match.name != "comment"))
    return (
        rule.target,
        rule.src,
        rule.dst,
        rule.protocol if rule.protocol is not None and rule.protocol.number else None,
        rule.in_link,
        rule.out_link,
        rule.fragment,
        matches,
    )


def merge_chains(bad: Chain, good: Chain, taken: Collection[ChainDifference]) -> Chain:
    """Return the bad chain with some of the differences taken over from the good one; with all of
    them it is the good one.
    """
    out = {difference.rule.position for difference in taken if difference.kind != "missing"}
    put = {
        (difference.other or difference.rule).position
        for difference in taken
        if difference.kind != "extra"
    }
    rules: list[Rule] = []
    for tag, start, end, other_start, other_end in _align(bad, good):
        if tag == "equal":
            rules += bad.rules[start:end]
        else:
            rules += [rule for rule in bad.rules[start:end] if rule.position not in out]
            rules += [rule for rule in good.rules[other_start:other_end] if rule.position in put]
    return replace(bad, rules=tuple(rules))
