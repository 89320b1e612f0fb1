"""What forbids the all-clear, as values.

"Nothing wrong" is a promise: at least one connection in question was walked to its end on stated
facts, works in every branch, and no line that could have decided was unread, cut or not modeled.
Each way to break that promise is a class here, with the lines that it stands on; `report` makes
sentences of them, and the verdict follows from whether there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.checks.topology import find_link, known_rules
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.conversations.places import UNSEEN
from podpath.datapath.reasons.devices import TooLongForEnd
from podpath.datapath.reasons.routes import MtuExceeded, ReversePathFailed
from podpath.datapath.tracing.trace import Branch, Conversation, Delivered, Step, Undecided
from podpath.datapath.vocabulary import ConversationFailure, Reachability
from podpath.diagnosis.complained import Complained
from podpath.diagnosis.forbids import (
    BranchesTruncated,
    ComplaintUnexplained,
    FailsOtherwise,
    Forbids,
    NothingWalked,
    NotShown,
    NotWalkedToTheEnd,
    RestsOnInference,
    RulesLeftOut,
    SomeBranchesFail,
)
from podpath.diagnosis.left_for_service import forbid_left_for_services
from podpath.diagnosis.next_nodes import guess_next_nodes
from podpath.diagnosis.resting import (
    list_far_ends,
    list_guesses,
    list_routes_taken_for_best,
)
from podpath.diagnosis.unmodelled import find_unmodelled
from podpath.diagnosis.unread import NotModelled, forbid_by_gaps
from podpath.diagnosis.untranslated import list_translations_left_out
from podpath.net import nft
from podpath.net.probe import Probe
from podpath.net.provenance import Basis, Inferred
from podpath.node.case import Case
from podpath.node.node import Netns, Node

REFUSED = ConversationFailure.REFUSED
"""The kind of a branch that ends where nobody listens."""


class WalkedConnection(NamedTuple):
    """A connection in question, walked under every likely answer to what is not known."""

    probe: Probe
    conversation: Conversation
    works: bool | None = None
    """What the evidence says became of it; None where it says nothing."""
    asked: bool = True
    """False where nobody names it, and it is one that any such node carries: then the node is in
    question, and no other.
    """


def forbid_all_clear(
    case: Case, walked: Sequence[WalkedConnection], suggested: Iterable[Probe] = ()
) -> tuple[Forbids, ...]:
    """Return everything that forbids the all-clear; empty where it may be given."""
    found: list[Forbids] = []
    if not any(one.conversation.branches for one in walked):
        found.append(NothingWalked(suggested=tuple(suggested)))
    for one in walked:
        found += _judge(one)
        found += judge_alternatives(case, one)
        guesses = list_guesses(case.node, one.conversation)
        if not one.asked:
            beyond = set(list_far_ends(one.conversation))
            guesses = tuple(guess for guess in guesses if guess not in beyond)
        else:
            guesses = (*guesses, *guess_next_nodes(case, one.conversation))
        found += (
            [RestsOnInference(probe=one.probe, guesses=guesses)]
            if guesses and not one.works
            else []
        )
    found += _find_unlisted_devices(case.node, walked)
    found += forbid_left_for_services(case, [one.conversation for one in walked if not one.works])
    passed = {trace_netns for one in walked for trace_netns in _passed(one.conversation)}
    found += forbid_by_gaps(case.gaps)
    found += _find_unshown(case.node, walked, passed)
    found += (
        NotModelled(what=item.what, ask=item.ask, spans=item.spans)
        for item in find_unmodelled(case.node, passed)
    )
    return tuple(found)


def forbid_failure(conversation: Conversation) -> tuple[Forbids, ...]:
    """Return what forbids to say that a connection never works: a branch in which it fails only if
    rules that the evidence leaves out do not let it pass, routes do not lead it elsewhere, an MTU
    is what it is taken for, or it comes in on a device that nothing shows.
    """
    for branch in conversation.branches:
        if branch.works is not False or not branch.last.steps:
            continue
        step = branch.last.deciding
        assumed = (*step.assumed, *list_translations_left_out(branch))
        if assumed:
            return (RulesLeftOut(probe=conversation.probe, assumed=assumed, spans=step.spans),)
        guesses = (
            *list_routes_taken_for_best(branch),
            *_list_guessed_lengths(step),
            *_list_unseen_devices(step),
        )
        if guesses:
            return (RestsOnInference(probe=conversation.probe, guesses=guesses),)
    return ()


def _list_guessed_lengths(step: Step) -> Iterator[Inferred]:
    """Yield that the MTU is guessed which a packet is too long for."""
    guess = step.rests_on
    if isinstance(step.reason, MtuExceeded | TooLongForEnd) and guess is not None:
        yield from (guess,) if guess.is_guess else ()


def _list_unseen_devices(step: Step) -> Iterator[Inferred]:
    """Yield that nothing shows the device which the reverse-path filter refuses a packet on."""
    if isinstance(step.reason, ReversePathFailed) and step.link == UNSEEN.name:
        why = f"that {step.before.src} does not come in on the device of the route back to it"
        yield Inferred(Basis.GUESSED, why, ask=f"tcpdump -eni any host {step.before.src}")


def forbid_by_complaints(case: Case, complained: Sequence[Complained]) -> Iterator[Forbids]:
    """Yield what people say that fails, where nothing was found: what the walk delivers, or what
    nobody can place.
    """
    failing = [complaint.span for complaint in case.complaints if not complaint.works]
    if complained:
        yield from (ComplaintUnexplained(probe=one.probe, spans=(one.span,)) for one in complained)
    elif failing:
        yield ComplaintUnexplained(probe=None, spans=tuple(failing[:1]))


def _judge(one: WalkedConnection) -> Iterator[Forbids]:
    conversation, branches = one.conversation, one.conversation.branches
    failing = [
        branch
        for branch in branches
        if branch.works is False and not (one.works and _is_settled(branch))
    ]
    if failing:
        turned = tuple(made for made in failing[0].assumptions if made.rank)
        yield SomeBranchesFail(
            probe=one.probe,
            failing=len(failing),
            of=len(branches),
            turned=turned,
            spans=failing[0].last.deciding.spans,
        )
    undecided = next((branch for branch in branches if branch.works is None), None)
    if undecided is not None and isinstance(undecided.last.outcome, Undecided):
        yield NotWalkedToTheEnd(
            probe=one.probe,
            outcome=undecided.last.outcome,
            spans=undecided.last.deciding.spans if undecided.last.steps else (),
        )
    if conversation.truncated:
        yield BranchesTruncated(probe=one.probe, walked=len(branches))


def _is_settled(branch: Branch) -> bool:
    """Tell whether a branch fails by a fact that a connection which was seen to work rules out:
    chance rules nothing out.
    """
    return any(made.rank and not made.random for made in branch.assumptions)


def judge_alternatives(
    case: Case, one: WalkedConnection, wanted: Reachability = Reachability.ALWAYS
) -> Iterator[Forbids]:
    """Yield a state of the node that the evidence leaves possible, and in which another thing
    becomes of a connection than is wanted.
    """
    for other in case.alternatives:
        if other.good or one.works:
            continue
        lacking = one.probe.netns is not None and one.probe.netns not in other.node.namespaces
        conversation = converse(
            other.node, one.probe._replace(netns=None) if lacking else one.probe, deviations=0
        )
        if conversation.verdict is not wanted:
            yield FailsOtherwise(
                probe=one.probe,
                fact=other.fact,
                meaning=other.meaning,
                ask=other.ask,
                spans=(other.span,) if other.span is not None else (),
            )
            return


def _passed(conversation: Conversation) -> Iterator[str]:
    """Yield the namespaces that a connection passes."""
    for branch in conversation.branches:
        for trace in branch.traces:
            yield trace.start
            yield from (step.netns for step in trace.steps)


def _find_unshown(
    node: Node, walked: Sequence[WalkedConnection], passed: Iterable[str]
) -> Iterator[Forbids]:
    """Yield the listings that a walk took for whole and no output shows whole, in the namespaces
    that it passed.
    """
    families = {one.probe.src.family for one in walked}
    names = sorted(set(passed) & set(node.namespaces))
    for name in names:
        netns = node.namespaces[name]
        for family in sorted(families):
            filtered = netns.netfilter.get(family)
            if filtered is None or not filtered.complete:
                tool = "iptables-save" if family == 4 else "ip6tables-save"
                yield NotShown(what=f"the {tool.partition('-')[0]} rules", netns=name, ask=tool)
        yield from find_unlisted(netns)
        entries = netns.conntrack
        if entries.span is not None and not entries.complete and _depends_on_entries(netns):
            yield NotShown(
                what="the tracked connections", netns=name, ask=entries.ask, spans=(entries.span,)
            )
    delivered = {
        (branch.traces[0].outcome.netns, one.probe.protocol)
        for one in walked
        if not one.works
        for branch in one.conversation.branches
        if branch.traces and isinstance(branch.traces[0].outcome, Delivered)
    }
    hidden = {
        name
        for name, protocol in delivered
        if protocol in _WITH_SOCKETS and not node.namespaces[name].shows_sockets(protocol)
    }
    for name in sorted(hidden):
        yield NotShown(
            what="the listening sockets", netns=name, ask=node.namespaces[name].sockets.ask
        )


def _depends_on_entries(netns: Netns) -> bool:
    """Tell whether a rule translates addresses or goes by the state of a connection: what is
    tracked decides there.
    """
    for table in netns.tables:
        for rule in known_rules(table):
            stateful = any(match.name in _STATEFUL for match in rule.matches)
            if stateful or rule.table == "nat":
                return True
    return any(_asks_for_connection(netns))


def _asks_for_connection(netns: Netns) -> Iterator[bool]:
    """Yield, for each native table, whether it translates or a rule of it goes by the
    connection.
    """
    for table in netns.nftables.items:
        chains = table.chains.values()
        yield any(chain.type == "nat" for chain in chains)
        yield any(_names_connection(rule.statements) for chain in chains for rule in chain.rules)


def _names_connection(term: object) -> bool:
    """Tell whether what is tracked of a connection stands anywhere in a statement."""
    if isinstance(term, nft.Ct):
        return True
    return isinstance(term, tuple) and any(map(_names_connection, term))


_STATEFUL = frozenset({"conntrack", "state"})
"""Matches that ask for the state of a connection."""
_WITH_SOCKETS = frozenset({6, 17})
"""Protocols in which somebody has to listen: TCP and UDP."""


def _find_unlisted_devices(node: Node, walked: Sequence[WalkedConnection]) -> Iterator[NotShown]:
    """Yield the devices that a walk passed and no listing has: a route names one that is not
    there.
    """
    used = {
        (step.netns, step.link)
        for one in walked
        if not one.works
        for branch in one.conversation.branches
        for trace in branch.traces
        for step in trace.steps
        if step.link is not None and step.netns in node.namespaces
    }
    for name, link in sorted(used):
        place = node.namespaces[name].place
        known = find_link(node.namespaces[name], link)
        if known is None or known.stands_for:
            listing = f"{place}ip -d link show"
            yield NotShown(what="a device that no output names", netns=name, ask=listing)
        elif known.inferred is not None and link != "lo":
            ask = f"{place}ip -d link show dev {link}"
            yield NotShown(what=f"the device {link}", netns=name, ask=ask)


def find_unlisted(netns: Netns) -> Iterator[NotShown]:
    """Yield the listings of a namespace that no output shows whole."""
    listings = (
        ("native nftables", netns.nftables.complete, netns.nftables.ask),
        ("the policy rules", netns.rules.complete, netns.rules.ask),
        ("the routes", netns.routes.complete, netns.routes.ask),
        ("the addresses", netns.addresses.complete, netns.addresses.ask),
        ("the devices", netns.links.complete, netns.links.ask),
        ("the neighbours", netns.neighbours.complete, netns.neighbours.ask),
    )
    for what, complete, ask in listings:
        if not complete:
            yield NotShown(what=what, netns=netns.name, ask=ask)
