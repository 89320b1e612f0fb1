"""What checks find only because of a guess: such a finding is possible, and its cure is described,
never commanded.

A check looks at the node as if all of it were listed. Which facts of it a finding rests on no check
has to say: it is run again on the node without what was guessed, and what it does not find there
hangs on a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from podpath.checks.finding import Finding, Repair
from podpath.checks.registry import find_check
from podpath.net.provenance import Inferred, Known, Listing
from podpath.node.case import Case
from podpath.node.links import Link
from podpath.node.node import Netns, Node

POSSIBLE = 0.5
"""The certainty above which no finding goes that hangs on a guess."""
TRIED = 16
"""Guesses that are taken away one by one to tell which of them a finding hangs on; all pods of a
node are guessed alike.
"""


class _Inferable(Protocol):
    @property
    def inferred(self) -> Inferred | None: ...


ThingT = TypeVar("ThingT", bound=_Inferable)


def lower_guessed(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return what checks found, each that is gone without the guesses made a possibility."""
    guesses = tuple(dict.fromkeys(_list_guesses(case.node)))
    if not guesses or not findings:
        return tuple(findings)
    names = {finding.check for finding in findings}
    stated = _run(case, names, guesses)
    gone = [finding for finding in findings if _key(finding) not in stated]
    if not gone:
        return tuple(findings)
    names = {finding.check for finding in gone}
    without = {guess: _run(case, names, (guess,)) for guess in guesses[:TRIED]}
    lowered = {_key(finding): _lower(finding, without, guesses) for finding in gone}
    return tuple(lowered.get(_key(finding), finding) for finding in findings)


def describe_cure(repair: Repair) -> Repair:
    """Return a cure as a description: nobody runs a command for a thing that may not be there, and
    its proof shares the guess.
    """
    return Repair(title=repair.title, commands=())


def strip_guesses(node: Node, guesses: Iterable[Inferred]) -> Node:
    """Return the node without the namespaces and the facts that were guessed so."""
    dropped = frozenset(guesses)
    kept = {
        name: _strip(one, dropped)
        for name, one in node.namespaces.items()
        if one.inferred not in dropped
    }
    pods = tuple(
        replace(pod, netns=None) if pod.netns is not None and pod.netns not in kept else pod
        for pod in node.pods
    )
    return replace(node, namespaces=kept, pods=pods)


def _lower(
    finding: Finding, without: dict[Inferred, frozenset[object]], guesses: tuple[Inferred, ...]
) -> Finding:
    decisive = tuple(guess for guess, left in without.items() if _key(finding) not in left)
    return replace(
        finding,
        certainty=min(finding.certainty, POSSIBLE),
        repairs=tuple(map(describe_cure, finding.repairs)),
        rests_on=decisive or guesses[:1],
        proves=frozenset(),
    )


def _run(case: Case, names: Iterable[str], dropped: Sequence[Inferred]) -> frozenset[object]:
    """Run checks on the node without some guesses."""
    stripped = replace(case, node=strip_guesses(case.node, dropped))
    checks = (find_check(name) for name in names)
    runs = (check.run for check in checks if check is not None and check.run is not None)
    return frozenset(_key(finding) for run in runs for finding in run(stripped))


def _key(finding: Finding) -> object:
    return finding.check, finding.severity, finding.claim, finding.evidence, finding.certainty


def _list_guesses(node: Node) -> Iterator[Inferred]:
    for namespace in node.namespaces.values():
        listed: tuple[_Inferable, ...] = (
            namespace,
            *namespace.links.items,
            *namespace.addresses.items,
            *namespace.routes.items,
            *namespace.neighbours.items,
        )
        peers = (link.peer for link in namespace.links.items if isinstance(link.peer, Known))
        origins = (*(thing.inferred for thing in listed), *(peer.inferred for peer in peers))
        yield from (origin for origin in origins if origin is not None and origin.is_guess)


def _strip(namespace: Netns, dropped: frozenset[Inferred]) -> Netns:
    links = _without(namespace.links, dropped)
    return replace(
        namespace,
        links=links._replace(items=tuple(_unpaired(link, dropped) for link in links.items)),
        addresses=_without(namespace.addresses, dropped),
        routes=_without(namespace.routes, dropped),
        neighbours=_without(namespace.neighbours, dropped),
    )


def _without(listing: Listing[ThingT], dropped: frozenset[Inferred]) -> Listing[ThingT]:
    return listing._replace(
        items=tuple(item for item in listing.items if item.inferred not in dropped)
    )


def _unpaired(link: Link, dropped: frozenset[Inferred]) -> Link:
    return (
        replace(link, peer=None)
        if isinstance(link.peer, Known) and link.peer.inferred in dropped
        else link
    )
