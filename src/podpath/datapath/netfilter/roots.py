"""Base chains that the evidence leaves out, where it shows chains that something must lead to.

People paste `iptables -nvL KUBE-FORWARD` alone. That chain is called from somewhere, and what it
does to a packet may be all there is to find. A chain that no shown rule leads to is taken to be
called from a base chain that is not shown: for sure from none where the kernel would refuse it,
likely where the chain's own name or targets say so, and as a fork in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podpath.net.provenance import Span, Unknown
from podpath.node.netfilter import Chain, Table
from podpath.xtables.legality import ALL_HOOKS, BASE_CHAINS
from podpath.xtables.registry import TARGETS

WORDS: Mapping[str, str] = {
    **{name: name for names in BASE_CHAINS.values() for name in names},
    "FWD": "FORWARD", "PRE": "PREROUTING", "POST": "POSTROUTING", "IN": "INPUT", "OUT": "OUTPUT",
}  # fmt: skip
"""Words in chain names that name a hook."""
MOST_RULES = 20_000
"""A listing of more rules than this is not searched for chains that nobody calls."""


class Root(NamedTuple):
    """A chain that no shown rule leads to, and that a base chain may call."""

    name: str
    span: Span
    likely: bool


def _targets(chain: Chain) -> set[str]:
    return {rule.target.name for rule in chain.rules if rule.target is not None}


def find_roots(table: Table, hook: str) -> tuple[Root, ...]:
    """Find the chains that a base chain which is not shown may lead to, in the order in which they
    are shown.
    """
    if table.complete or hook in table.chains or hook not in BASE_CHAINS.get(table.name, ()):
        return ()
    chains = {
        name: shown for name, fact in table.chains.items() if (shown := _shown(fact)) is not None
    }
    if sum(len(chain.rules) for chain in chains.values()) > MOST_RULES:
        return ()
    leads = {name: _targets(chain) for name, chain in chains.items()}
    called: set[str] = set()
    for name, targets in leads.items():
        called |= targets - {name}
    roots = (
        _judge(chains[name], hook, _reach(name, leads))
        for name in chains
        if name not in called and name not in WORDS
    )
    return tuple(root for root in roots if root is not None)


def _shown(fact: object) -> Chain | None:
    """Return a chain as it is likeliest."""
    if isinstance(fact, Unknown):
        fact = fact.options[0]
    chain = getattr(fact, "value", None)
    return chain if isinstance(chain, Chain) else None


def _reach(name: str, leads: Mapping[str, set[str]]) -> set[str]:
    """Return every target that a chain leads to."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for target in leads.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def _judge(chain: Chain, hook: str, targets: Iterable[str]) -> Root | None:
    """Say whether a base chain may lead to a chain, and how likely it does."""
    if not len(chain.rules):
        return None
    span = chain.span or chain.rules[0].span
    allowed = [TARGETS[target].hooks for target in targets if target in TARGETS]
    if any(hook not in hooks for hooks in allowed):
        return None
    named = {WORDS[word] for word in re.findall(r"[A-Z]+", chain.name.upper()) if word in WORDS}
    if named:
        if hook in named:
            return Root(chain.name, span, likely=True)
        return None
    return Root(chain.name, span, likely=any(_tells(target) for target in targets))


def _tells(name: str) -> bool:
    """Tell whether a target makes it likely that each of its hooks leads to it: it changes the path
    and stands at few of them.
    """
    target = TARGETS.get(name)
    return target is not None and "filter" not in target.tables and target.hooks != ALL_HOOKS
