"""Chains whose rules are read when a walk first looks at them, so that a ruleset of 150,000 lines
costs what is walked.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import overload

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.evidence.iptables.options import TARGETS, VERDICTS
from podpath.evidence.iptables.ruleset import ChainText, RuleText
from podpath.evidence.iptables.ruleset_lines import RuleLines
from podpath.net.provenance import Fact, Known
from podpath.node.netfilter import Chain, Rule


class LazyRules(Sequence[Rule]):
    """The rules of one chain: counted at once, read together when the first is asked for. Equal to
    a tuple of the same rules.
    """

    __slots__ = ("_chains", "_flavour", "_rules", "_table", "_texts")

    def __init__(
        self,
        texts: Sequence[RuleText],
        table: str,
        flavour: str,
        chains: Container[str] | None = None,
    ) -> None:
        """Take the rules' texts. `chains` are all chains of the table; None where the evidence
        shows only some.
        """
        self._texts = texts
        self._table = table
        self._flavour = flavour
        self._chains = chains
        self._rules: tuple[Rule, ...] | None = None

    def _read(self) -> tuple[Rule, ...]:
        if self._rules is None:
            table = self._table
            rules = [
                assemble_rule(text, table, position) for position, text in enumerate(self._texts, 1)
            ]
            self._rules = tuple([rule if rule.unread else self._doubt(rule) for rule in rules])
        return self._rules

    def _doubt(self, rule: Rule) -> Rule:
        """Mark a rule that is well spelled and yet cannot be what it seems."""
        target = rule.target
        if target is None:
            if self._flavour == "nft" and not rule.matches and rule[5:11] == (None,) * 6:
                return rule._replace(
                    unread="iptables shows an nft rule that it has no words for as an empty one"
                )
            return rule
        if (
            self._chains is None
            or target.options
            or target.name in VERDICTS
            or target.name in TARGETS
        ):
            return rule
        if target.name in self._chains:
            return rule
        return rule._replace(
            unread=(
                f"{target.name} is no chain of the table, nor a target that iptables knows: it may "
                "be cut"
            )
        )

    def spell(self) -> list[str] | None:
        """Return the lines without counters; None where a rule is no whole line."""
        if isinstance(self._texts, RuleLines):
            return self._texts.spell()
        return None

    def pick(self, places: Sequence[int]) -> LazyRules:
        """Return some of the rules, by their places from 0."""
        texts = self._texts
        kept = texts.pick(places) if isinstance(texts, RuleLines) else [texts[at] for at in places]
        return LazyRules(kept, self._table, self._flavour, self._chains)

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rule, ...]: ...
    def __getitem__(self, index: int | slice) -> Rule | tuple[Rule, ...]:
        return self._read()[index]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (LazyRules, tuple)):
            return self._read() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._read())

    def __repr__(self) -> str:
        return f"<{len(self)} rules of {self._table}>"


class LazyChains(Mapping[str, Fact[Chain]]):
    """The chains of a table that one output shows, each made when it is first asked for."""

    __slots__ = ("_all", "_because", "_flavour", "_made", "_table", "_texts")

    def __init__(
        self,
        texts: Mapping[str, ChainText],
        table: str,
        flavour: str,
        *,
        whole: bool,
        because: str = "",
    ) -> None:
        """Take the chains' texts. `whole`: no other chain exists in the table."""
        self._texts = texts
        self._table = table
        self._flavour = flavour
        self._all = texts if whole else None
        self._because = because
        self._made: dict[str, Fact[Chain]] = {}

    def __getitem__(self, name: str) -> Fact[Chain]:
        made = self._made.get(name)
        if made is None:
            text = self._texts[name]
            chain = assemble_chain(text, self._table, self._flavour, self._all)
            made = self._made[name] = Known(chain, text.span, self._because)
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"<{len(self)} chains of {self._table}>"


class OverlaidChains(Mapping[str, Fact[Chain]]):
    """The chains of one output, some of them replaced by what several outputs say together, and
    some added.
    """

    __slots__ = ("_base", "_overlay")

    def __init__(self, base: Mapping[str, Fact[Chain]], overlay: Mapping[str, Fact[Chain]]) -> None:
        """Lay one mapping over the other; neither is copied."""
        self._base = base
        self._overlay = overlay

    def __getitem__(self, name: str) -> Fact[Chain]:
        found = self._overlay.get(name)
        return self._base[name] if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._overlay or name in self._base

    def __iter__(self) -> Iterator[str]:
        yield from self._base
        yield from (name for name in self._overlay if name not in self._base)

    def __len__(self) -> int:
        return len(self._base) + sum(name not in self._base for name in self._overlay)

    def __repr__(self) -> str:
        return f"<{len(self)} chains, {len(self._overlay)} of several outputs>"


def assemble_chain(
    text: ChainText, table: str, flavour: str, chains: Container[str] | None = None
) -> Chain:
    """Translate a chain; its rules stay unread until they are asked for."""
    return Chain(
        name=text.name,
        rules=LazyRules(text.rules, table, flavour, chains),
        policy=text.policy,
        complete=text.whole,
        span=text.span,
        packets=text.packets,
        in_line=text.in_line,
    )
