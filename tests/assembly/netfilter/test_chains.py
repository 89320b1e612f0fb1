"""Chains whose rules are read when a walk first looks at them."""

from __future__ import annotations

from collections.abc import Iterator

from podpath.assembly.netfilter.chains import LazyChains, LazyRules, OverlaidChains
from podpath.evidence.iptables.ruleset import ChainText, ExtensionText, RuleText
from podpath.net.provenance import Known
from podpath.node.netfilter import Chain
from tests.netfilter_strategies import NOWHERE


def jump(target: str | None) -> RuleText:
    """Make a rule of a chain A that goes to a target."""
    return RuleText(NOWHERE, "A", target=None if target is None else ExtensionText(target))


def chain(*targets: str) -> ChainText:
    """Make a chain of jumps."""
    return ChainText("A", NOWHERE, None, tuple(map(jump, targets)), whole=True)


def test_rules_are_counted_before_they_are_read() -> None:
    """And read once, all together."""
    read: list[RuleText] = []

    class Watched(tuple[RuleText, ...]):
        """Tells when its rules are looked at."""

        __slots__ = ()

        def __iter__(self) -> Iterator[RuleText]:
            read.append(self[0])
            return super().__iter__()

    rules = LazyRules(Watched((jump("ACCEPT"), jump("DROP"))), "filter", "nft")

    assert (len(rules), read) == (2, [])
    assert [rule.position for rule in rules] == [1, 2]
    assert rules[1] is rules[1]
    assert len(read) == 1


def test_rules_are_equal_to_a_tuple_of_them() -> None:
    """A lazy chain and a plain one compare equal."""
    rules = LazyRules((jump("ACCEPT"),), "filter", "nft")

    assert rules == tuple(rules)
    assert rules == LazyRules((jump("ACCEPT"),), "filter", "nft")
    assert rules != LazyRules((jump("DROP"),), "filter", "nft")
    assert hash(rules) == hash(tuple(rules))
    assert rules[:1] == tuple(rules)


def test_a_jump_to_nowhere_is_doubted() -> None:
    """In a whole table a target that is neither chain nor extension was cut off."""
    whole = LazyRules(
        tuple(map(jump, ("B", "B-cut", "MARK", "ACCEPT"))), "filter", "legacy", {"A", "B"}
    )
    part = LazyRules((jump("B-cut"),), "filter", "legacy")

    assert [bool(rule.unread) for rule in whole] == [False, True, False, False]
    assert not part[0].unread


def test_an_empty_rule_of_nft_is_doubted() -> None:
    """iptables-nft 1.8.9 prints a rule that it cannot express without a word."""
    assert LazyRules((jump(None),), "filter", "nft")[0].unread
    assert not LazyRules((jump(None),), "filter", "legacy")[0].unread


def test_chains_are_made_once() -> None:
    """A mapping of known facts."""
    chains = LazyChains({"A": chain("ACCEPT")}, "filter", "nft", whole=True, because="a guess")

    assert (list(chains), len(chains), "A" in chains, "B" in chains) == (["A"], 1, True, False)
    assert chains["A"] is chains["A"]
    fact = chains["A"]
    assert isinstance(fact, Known)
    assert (fact.because, fact.span, fact.value.complete) == ("a guess", NOWHERE, True)


def test_an_overlay_replaces_and_adds_chains() -> None:
    """Neither mapping is copied."""
    base = LazyChains({"A": chain("ACCEPT"), "B": chain("DROP")}, "filter", "nft", whole=True)
    other = Known(Chain(name="A", rules=()))
    chains = OverlaidChains(base, {"B": other, "C": other})

    assert (list(chains), len(chains)) == (["A", "B", "C"], 3)
    assert (chains["B"], chains["C"], chains["A"]) == (other, other, base["A"])
    assert ("C" in chains, "D" in chains) == (True, False)


def test_some_of_the_rules_keep_what_the_table_knows() -> None:
    """Rules that were no lines are not spelled; a jump to nowhere is doubted as before."""
    rules = LazyRules((jump("KNOWN"), jump("NOWHERE")), "filter", "nft", {"KNOWN"})
    kept = rules.pick([1])

    assert rules.spell() is None
    assert [rule.target.name for rule in kept if rule.target is not None] == ["NOWHERE"]
    assert "is no chain of the table" in kept[0].unread
