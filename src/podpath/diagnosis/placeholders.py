"""Commands without made-up names: where no output shows a device, an address or a namespace, a word
in capitals stands in the command, followed by what to put there.

A walk needs a name for everything it passes, so the assembly gives one to what no output shows
(`veth-of-10-244-1-7`). Nobody can type such a name: the node does not know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from podpath.checks.finding import Finding, FollowUp, Repair
from podpath.checks.topology import known_rules
from podpath.datapath.tracing.trace import Branch, Conversation, Trace, Undecided
from podpath.diagnosis.diagnosis import Question
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import Netns, NetnsRole, Node

DEVICE, ADDRESS, NETNS, CHAIN = "DEVICE", "ADDRESS", "NETNS", "CHAIN"
_UNNAMED_CHAIN = re.compile(r"\?\d+")
"""How the reader of listings calls a chain whose heading is not shown."""
_ENTERS = re.compile(r"\bnetns exec\b|\bnsenter\b|\bkubectl exec\b")
"""What runs a command in another namespace than the host's: the devices that it names are there."""
_IN_WORDS = "in the network namespace of "
"""What stands before a command where words, not the command, say in which namespace it runs."""


_CHAIN_MEANT = "the chain that the rule stands in, which `iptables-save` tells"


class MadeUp(NamedTuple):
    """A name that the assembly made up."""

    name: str
    word: str
    """What stands in a command in its place."""
    meaning: str
    """What a person has to put there."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what finds the name in a command, also within a sysctl's key; it is neither a part
        of a longer name nor the device of a VLAN (`eth0.100`).
        """
        return re.compile(rf"(?<![\w-])(?<!\d\.){re.escape(self.name)}(?![\w-])(?!\.\d)")


class Placeholders:
    """What no command of a case may name."""

    def __init__(self, case: Case) -> None:
        """Look at the node, and at every other that the case may be about."""
        self._nodes = (case.node, *(other.node for other in case.alternatives))
        self._stated: dict[MadeUp, bool] = {}
        self._filled: dict[int, tuple[Branch, Branch]] = {}
        """By identity, each branch that was filled in, and what it became: a finding shows a branch
        of a conversation, and reports look for that very branch.
        """

    def of_question(self, question: Question) -> Question:
        """Return a question with a command that can be typed."""
        fact = question.fact
        told = self._tell_chains(fact) if isinstance(fact, str) else fact
        return replace(question, fact=told, ask=self.fill_in(question.ask))

    def of_finding(self, finding: Finding) -> Finding:
        """Return a finding with repairs and questions that can be typed, which names no chain that
        has no name.
        """
        claim = finding.claim
        return replace(
            finding,
            claim=self._tell_chains(claim) if isinstance(claim, str) else claim,
            repairs=tuple(map(self._of_repair, finding.repairs)),
            asks=tuple(map(self._of_ask, finding.asks)),
            shown_by=None if finding.shown_by is None else self._of_branch(finding.shown_by),
        )

    def _of_ask(self, ask: FollowUp) -> FollowUp:
        fact, command = self._tell_chains(ask.fact), self.fill_in(ask.command)
        return ask._replace(fact=fact, command=command)

    def _tell_chains(self, text: str) -> str:
        """Return a sentence that says of a chain without a name that it is not shown."""
        for name in self._unnamed_chains:
            text = re.sub(rf"{re.escape(name)}\b", "a chain whose heading is not shown", text)
        return text

    def _of_repair(self, repair: Repair) -> Repair:
        return replace(repair, commands=tuple(map(self.fill_in, repair.commands)))

    def of_conversation(self, conversation: Conversation) -> Conversation:
        """Return a conversation whose branches ask for what can be typed."""
        return replace(conversation, branches=tuple(map(self._of_branch, conversation.branches)))

    def _of_branch(self, branch: Branch) -> Branch:
        if id(branch) not in self._filled:
            self._filled[id(branch)] = (branch, self._fill_in_branch(branch))
        return self._filled[id(branch)][1]

    def _fill_in_branch(self, branch: Branch) -> Branch:
        assumed = tuple(made._replace(ask=self.fill_in(made.ask)) for made in branch.assumptions)
        traces = tuple(map(self._of_trace, branch.traces))
        return replace(branch, assumptions=assumed, traces=traces)

    def _of_trace(self, trace: Trace) -> Trace:
        outcome = trace.outcome
        if not isinstance(outcome, Undecided):
            return trace
        return replace(trace, outcome=replace(outcome, ask=self.fill_in(outcome.ask)))

    def fill_in(self, command: str) -> str:
        """Return a command with a word in capitals for each made-up name, and a comment of the
        shell that says what to put there.
        """
        if _IN_WORDS in command:
            return command
        names = self._namespaces if _ENTERS.search(command) else self._on_host
        meanings: dict[str, str] = {}
        for made in names:
            if made.pattern.search(command) and (made.word == CHAIN or not self._is_stated(made)):
                word = _number(made.word, meanings)
                command = made.pattern.sub(word, command)
                meanings[word] = made.meaning
        if not meanings:
            return command
        told = "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())
        return f"{command}  # {told}"

    @cached_property
    def _on_host(self) -> tuple[MadeUp, ...]:
        """The names of the host's devices and addresses, the longest first."""
        found = dict.fromkeys(made for node in self._nodes for made in _list_made_up(node))
        chains = (MadeUp(name, CHAIN, _CHAIN_MEANT) for name in self._unnamed_chains)
        return tuple(sorted((*found, *chains), key=lambda made: -len(made.name)))

    @cached_property
    def _unnamed_chains(self) -> tuple[str, ...]:
        """What chains are called here whose headings no output shows."""
        hosts = (host for node in self._nodes for host in _list_hosts(node))
        names = (name for host in hosts for table in host.tables for name in table.chains)
        return tuple(dict.fromkeys(name for name in names if _UNNAMED_CHAIN.fullmatch(name)))

    @cached_property
    def _namespaces(self) -> tuple[MadeUp, ...]:
        """The names of namespaces that no output shows."""
        names = (
            namespace.name
            for node in self._nodes
            for namespace in node.namespaces.values()
            if namespace.inferred is not None and namespace.inferred.is_guess
        )
        return tuple(
            MadeUp(name, NETNS, f"the network namespace that is called {name} here")
            for name in dict.fromkeys(names)
        )

    def _is_stated(self, made: MadeUp) -> bool:
        """Tell whether the evidence has the name all the same; it is only looked for in rules where
        a command holds it, for most rules of a long listing are never read.
        """
        if made not in self._stated:
            self._stated[made] = any(_states(node, made.name) for node in self._nodes)
        return self._stated[made]


def _number(word: str, taken: dict[str, str]) -> str:
    """Return DEVICE for the first device of a command, DEVICE2 for the second."""
    before = sum(other.startswith(word) for other in taken)
    return f"{word}{before + 1}" if before else word


def _list_hosts(node: Node) -> Iterator[Netns]:
    yield from (one for one in node.namespaces.values() if one.role is NetnsRole.HOST)


def _list_made_up(node: Node) -> Iterator[MadeUp]:
    for host in _list_hosts(node):
        for link in host.links.items:
            if link.stands_for:
                yield MadeUp(link.name, DEVICE, link.stands_for)
        for item in host.addresses.items:
            if item.stands_for:
                yield MadeUp(str(item.address), ADDRESS, item.stands_for)


def _states(node: Node, name: str) -> bool:
    """Tell whether a node has a device or an address of a name that another one was given, or a
    rule that names it, though no listing shows it.
    """
    for host in _list_hosts(node):
        shown = [str(link.name) for link in host.links.items if not link.stands_for]
        shown += [str(item.address) for item in host.addresses.items if not item.stands_for]
        if name in shown or any(_names(span, name) for span in _list_rules(host)):
            return True
    return False


def _list_rules(host: Netns) -> Iterator[Span]:
    for table in host.tables:
        yield from (rule.span for rule in known_rules(table))
    for native in host.nftables.items:
        for chain in native.chains.values():
            yield from (rule.span for rule in chain.rules)


def _names(span: Span, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", span.text) is not None
