"""A table of iptables while commands change it: what each command does to it, and which ones
iptables 1.8.9 or the kernel refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from podpath.evidence.iptables.options import TARGETS, VERDICTS
from podpath.net.provenance import Fact, Gap, Known, Span
from podpath.node.netfilter import Chain, Rule, Table, Target
from podpath.xtables import registry
from podpath.xtables.alike import is_same_rule
from podpath.xtables.legality import BASE_CHAINS, DROP_TABLES, ChainPolicy

_VERDICTS = frozenset({"ACCEPT", "DROP", "RETURN", "QUEUE"})
"""Targets that are numbers to the kernel."""
_LONGEST = 28
"""`XT_EXTENSION_MAXNAMELEN` less its end."""
_POLICIES = frozenset(ChainPolicy)


class RefusedError(ValueError):
    """A command that would fail, or of which nobody can tell what it does."""


class TableDraft:
    """One table, which commands change one after the other. Mutable, local to one block."""

    __slots__ = (
        "_base",
        "_chains",
        "_emptied",
        "_new",
        "_noflush",
        "_policies_set",
        "_renamed",
        "_table",
        "_touched",
        "replaced",
    )

    def __init__(self, table: Table, *, noflush: bool) -> None:
        """Take the table as the commands find it."""
        self._noflush = noflush
        self._table = table
        self._chains: dict[str, Fact[Chain]] = dict(table.chains)
        self._base = frozenset(BASE_CHAINS[table.name])
        self._new: set[Span] = set()
        """Rules that the same block added."""
        self._emptied: set[str] = set()
        """Chains with rules that the same block emptied."""
        self._policies_set = False
        self._renamed: set[str] = set()
        """New names of chains that the same block renamed."""
        self._touched: set[str] = set()
        """Chains that lines of the same block named."""
        self.replaced: list[tuple[Span, Span]] = []
        """Rules that are gone, each with the line that took it away."""

    def close(self) -> Table:
        """Return the table as the commands leave it."""
        return replace(self._table, chains=dict(self._chains))

    def note_emptied(self, chain: Chain, line: Span) -> None:
        """Keep which line took all rules of a chain away."""
        if chain.rules or not chain.complete:
            self._emptied.add(chain.name)
        self._note_gone(chain.rules, line)

    def _note_gone(self, rules: Iterable[Rule], line: Span) -> None:
        self.replaced += [(rule.span, line) for rule in rules]

    def demand(self, name: str) -> Chain:
        """Return a chain that has to be there."""
        fact = self._chains.get(name)
        self._demand_old_name(name)
        self._touched.add(name)
        if fact is None:
            if self._table.complete:
                raise RefusedError(f"iptables-restore refuses it: there is no chain {name}")
            raise RefusedError(f"no output shows chain {name} of table {self._table.name}")
        if not isinstance(fact, Known):
            raise RefusedError(f"outputs disagree about chain {name}")
        chain: Chain = fact.value
        return chain

    def declare(self, name: str, policy: str, line: Span) -> None:
        """Do what `:NAME POLICY` does: a user chain is made or emptied."""
        self._touched.add(name)
        if name in self._base:
            if policy != "-":
                self.set_policy(name, policy, line)
            return
        if policy != "-":
            raise RefusedError(f"a user chain takes no policy, saw {policy}")
        self._check_name(name, VERDICTS)
        if name in self._chains:
            if self._table.flavour == "legacy" and not self._noflush:
                raise RefusedError(f"iptables-restore refuses it: chain {name} exists")
            self.flush(name, line)
        self._chains[name] = Known(Chain(name=name, rules=(), span=line), line)

    def create(self, name: str, line: Span) -> None:
        """Do what `-N` does."""
        self._touched.add(name)
        self._check_name(name, VERDICTS | TARGETS.keys())
        if name in self._chains or name in self._base:
            raise RefusedError(f"iptables-restore refuses it: chain {name} exists")
        if not self._table.complete:
            raise RefusedError(f"no output shows whether chain {name} is there")
        self._chains[name] = Known(Chain(name=name, rules=(), span=line), line)

    def remove(self, name: str) -> None:
        """Do what `-X NAME` does: the chain has to be empty, and no rule may lead to it."""
        chain = self.demand(name)
        if name in self._base:
            raise RefusedError(f"deleting the base chain {name} is not modeled")
        if chain.rules or not chain.complete:
            raise RefusedError(f"iptables-restore refuses it: chain {name} has rules")
        if name in self._list_led_to():
            raise RefusedError(f"iptables-restore refuses it: a rule leads to chain {name}")
        del self._chains[name]

    def rename(self, name: str, new: str) -> None:
        """Do what `-E` does: rules that lead to the chain still do."""
        touched = name in self._touched
        chain = self.demand(name)
        if name in self._base:
            raise RefusedError(f"renaming the base chain {name} is not modeled")
        self._check_name(new, VERDICTS | TARGETS.keys())
        if new in self._chains or new in self._base:
            raise RefusedError(f"iptables-restore refuses it: chain {new} exists")
        if not self._table.complete:
            raise RefusedError(f"no output shows whether chain {new} is there")
        if self._table.flavour == "nft" and touched:
            why = "iptables-nft 1.8.9 may fail to rename"
            raise RefusedError(f"{why} {name}: the same file names it before")
        if not all(isinstance(fact, Known) for fact in self._chains.values()):
            raise RefusedError("outputs disagree about a chain")
        del self._chains[name]
        self._chains[new] = Known(replace(chain, name=new), chain.span)
        self._renamed.add(new)
        for other in list(self._chains.values()):
            if isinstance(other, Known):
                self._put(other.value, [_lead(rule, name, new) for rule in other.value.rules])

    def _demand_old_name(self, name: str) -> None:
        """Refuse a name that the same block gave: iptables-nft 1.8.9 does not know it yet."""
        if name in self._renamed and self._table.flavour == "nft":
            raise RefusedError(f"iptables-nft 1.8.9 does not find {name}: the same file renamed it")

    def remove_all(self) -> None:
        """Do what `-X` does: every user chain goes, in no order that matters."""
        self._demand_policies_kept("-X")
        if not self._table.complete:
            raise RefusedError(f"no output shows every chain of table {self._table.name}")
        users = [name for name in self._chains if name not in self._base]
        for name in users:
            if self.demand(name).rules or not self.demand(name).complete:
                raise RefusedError(f"iptables-restore refuses it: chain {name} has rules")
        led = self._list_led_to()
        for name in users:
            if name in led:
                raise RefusedError(f"iptables-restore refuses it: a rule leads to chain {name}")
            del self._chains[name]

    def flush(self, name: str, line: Span) -> None:
        """Do what `-F` does, of every chain where none is named."""
        if name:
            self._empty(self.demand(name), line)
            return
        self._demand_older_rules()
        for fact in list(self._chains.values()):
            if not isinstance(fact, Known):
                raise RefusedError("outputs disagree about a chain")
            self._empty(fact.value, line)

    def set_policy(self, name: str, policy: str, line: Span) -> None:
        """Do what `-P` does."""
        if name not in self._base:
            raise RefusedError(f"iptables-restore refuses it: {name} is no base chain")
        if policy not in _POLICIES:
            raise RefusedError(f"iptables-restore refuses it: {policy} is no policy")
        self._policies_set = True
        chain = replace(self.demand(name), policy=ChainPolicy(policy), span=line)
        self._chains[name] = Known(chain, line)

    def zero(self, name: str) -> None:
        """Do what `-Z` does: nothing that a walk looks at."""
        chain = self.demand(name) if name else None
        self._demand_policies_kept("-Z")
        if chain is None or name not in self._base or self._table.flavour != "nft":
            return
        if not chain.rules and chain.policy != "DROP":
            raise RefusedError(f"nobody can tell whether nftables has the base chain {name}")

    def insert(self, name: str, rule: Rule, number: int | None) -> None:
        """Do what `-I` does, and without a number what `-A` does."""
        chain = self.demand(name)
        self._check_rule(name, rule)
        rules = list(chain.rules)
        if number is None:
            rules.append(rule)
            in_line = chain.in_line
        else:
            if number > 1:
                self._demand_count(name)
            if not chain.complete and number > 1:
                raise RefusedError(f"no output shows all rules of chain {name}")
            if not 1 <= number <= len(rules) + 1:
                raise RefusedError(f"iptables-restore refuses it: {name} has no place {number}")
            rules.insert(number - 1, rule)
            in_line = None if chain.in_line is None else chain.in_line + 1
        self._new.add(rule.span)
        self._put(replace(chain, in_line=in_line), rules)

    def replace(self, name: str, rule: Rule, number: int) -> None:
        """Do what `-R` does."""
        chain = self.demand(name)
        self._check_rule(name, rule)
        old = self._pick(chain, number)
        if old.span in self._new and self._table.flavour == "nft":
            raise RefusedError("iptables-nft-restore 1.8.9 crashes: the same file adds that rule")
        rules = [rule if place == number else one for place, one in enumerate(chain.rules, 1)]
        self._note_gone([old], rule.span)
        self._new.add(rule.span)
        self._put(chain, rules)

    def delete_number(self, name: str, number: int, line: Span) -> None:
        """Do what `-D CHAIN NUMBER` does."""
        chain = self.demand(name)
        self._remove_rule(chain, self._pick(chain, number), number, line)

    def delete(self, name: str, rule: Rule) -> None:
        """Do what `-D CHAIN RULE` does: the first rule that is the same goes."""
        chain, place = self.find(name, rule)
        self._remove_rule(chain, chain.rules[place - 1], place, rule.span)

    def find(self, name: str, rule: Rule) -> tuple[Chain, int]:
        """Find the first rule of a chain that is the same, and its place."""
        chain = self.demand(name)
        self._check_rule(name, rule)
        self._demand_count(name)
        for place, other in enumerate(chain.rules, 1):
            if not chain.complete and place > (chain.in_line or 0):
                break
            same = is_same_rule(other, rule)
            if same:
                return chain, place
            if same is None:
                why = f"nobody can tell whether it is rule {place} of {name}"
                raise RefusedError(f"{why}: spell it as iptables-save does")
        if not chain.complete:
            raise RefusedError(f"no output shows all rules of chain {name}")
        raise RefusedError(f"iptables-restore refuses it: chain {name} has no such rule")

    def find_loops(self) -> Iterator[Gap]:
        """Yield the rules that close a loop of chains which a base chain leads to."""
        done: set[str] = set()
        for base in self._base:
            yield from self._follow(base, (), done)

    def _follow(self, name: str, above: tuple[str, ...], done: set[str]) -> Iterator[Gap]:
        if name in done:
            return
        fact = self._chains.get(name)
        for rule in fact.value.rules if isinstance(fact, Known) else ():
            led = rule.target.name if rule.target is not None else ""
            if led in (*above, name):
                yield Gap(rule.span, f"the kernel refuses it: {led} leads back to itself")
            elif led in self._chains:
                yield from self._follow(led, (*above, name), done)
            elif self._ends_walk(rule):
                break
        done.add(name)

    def _ends_walk(self, rule: Rule) -> bool:
        """Tell whether the kernel looks for no loop behind a rule
        (`net/ipv4/netfilter/ip_tables.c:mark_source_chains v6.12`).
        """
        selectors = (rule.src, rule.dst, rule.protocol, rule.in_link, rule.out_link, rule.fragment)
        bare = not rule.matches and all(selector is None for selector in selectors)
        verdict = rule.target is not None and rule.target.name in _VERDICTS
        return self._table.flavour == "legacy" and bare and verdict

    def _demand_policies_kept(self, option: str) -> None:
        """Refuse what takes back the policies that the same block sets, as seen with iptables-nft
        1.8.9.
        """
        if self._policies_set and self._table.flavour == "nft":
            raise RefusedError(f"{option} behind a policy: iptables-nft 1.8.9 takes that back")

    def _demand_older_rules(self) -> None:
        """Refuse what empties all chains where the same block has added rules: iptables-nft 1.8.9
        keeps these where the table is new or the block has emptied it, and else does not.
        """
        known = (fact.value for fact in self._chains.values() if isinstance(fact, Known))
        added = any(rule.span in self._new for chain in known for rule in chain.rules)
        if added and self._table.flavour == "nft":
            raise RefusedError("iptables-nft 1.8.9 may keep the rules that the same file adds")

    def _demand_count(self, name: str) -> None:
        """Refuse what counts rules of a chain that the same block emptied: iptables-nft 1.8.9 may
        still count those that are gone.
        """
        if name in self._emptied and self._table.flavour == "nft":
            raise RefusedError(f"iptables-nft 1.8.9 may still count the old rules of {name}")

    def _pick(self, chain: Chain, number: int) -> Rule:
        self._demand_count(chain.name)
        if not chain.complete and number > (chain.in_line or 0):
            raise RefusedError(f"no output shows rule {number} of chain {chain.name}")
        if not 1 <= number <= len(chain.rules):
            raise RefusedError(f"iptables-restore refuses it: {chain.name} has no rule {number}")
        return chain.rules[number - 1]

    def _remove_rule(self, chain: Chain, old: Rule, number: int, line: Span) -> None:
        rules = [one for place, one in enumerate(chain.rules, 1) if place != number]
        self._note_gone([old], line)
        in_line = None if chain.in_line is None else chain.in_line - 1
        self._put(replace(chain, in_line=in_line), rules)

    def _empty(self, chain: Chain, line: Span) -> None:
        self.note_emptied(chain, line)
        self._put(replace(chain, complete=True, in_line=None), [])

    def _put(self, chain: Chain, rules: list[Rule]) -> None:
        numbered = tuple(
            rule if rule.position == place else rule._replace(position=place)
            for place, rule in enumerate(rules, 1)
        )
        self._chains[chain.name] = Known(replace(chain, rules=numbered), chain.span)

    def _list_led_to(self) -> frozenset[str]:
        known = [fact.value for fact in self._chains.values() if isinstance(fact, Known)]
        rules = (rule for chain in known for rule in chain.rules)
        return frozenset(rule.target.name for rule in rules if rule.target is not None)

    def _check_name(self, name: str, taken: Iterable[str]) -> None:
        if len(name) > _LONGEST:
            raise RefusedError(f"iptables-restore refuses it: {name} is too long for a chain")
        if name in taken or name[:1] in "!-":
            raise RefusedError(f"iptables-restore refuses it: {name} is no name of a chain")

    def _check_rule(self, name: str, rule: Rule) -> None:
        """Refuse what the program refuses of a rule by itself (`do_parse`)."""
        inward = rule.in_link is not None and name in {"OUTPUT", "POSTROUTING"}
        outward = rule.out_link is not None and name in {"INPUT", "PREROUTING"}
        if inward or outward:
            option = "-i" if inward else "-o"
            raise RefusedError(f"iptables-restore refuses it: {option} in {name}")
        self._check_target(rule.target)

    def _check_target(self, target: Target | None) -> None:
        if target is not None:
            self._demand_old_name(target.name)
            self._touched.add(target.name)
        if target is None or target.name in self._chains:
            return
        if target.name == "DROP" and self._table.name not in DROP_TABLES:
            raise RefusedError(f"iptables-restore refuses it: {self._table.name} takes no DROP")
        if target.name in VERDICTS:
            return
        known = registry.TARGETS.get(target.name)
        if known is None:
            if self._table.complete:
                raise RefusedError(f"iptables-restore refuses it: there is no chain {target.name}")
            raise RefusedError(f"no output shows chain {target.name}")
        if self._table.name not in known.tables:
            raise RefusedError(f"the kernel refuses it: {target.name} in {self._table.name}")


def _lead(rule: Rule, name: str, new: str) -> Rule:
    """Let a rule that leads to a chain lead to it by its new name; each knows its chain."""
    target = rule.target
    if target is not None and target.name == name:
        rule = rule._replace(target=target._replace(name=new))
    if rule.chain == name:
        return rule._replace(chain=new)
    return rule
