"""One fact that is otherwise on another node: what differs, in words and lines, and what would take
it over.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from podpath.diagnosis.difference.chains import ChainDifference
from podpath.net.addresses import Family
from podpath.net.provenance import Listing, Span
from podpath.node.change import Change
from podpath.node.netfilter import Chain, Table
from podpath.node.node import HOST, Netns, Node
from podpath.xtables.legality import TableFlavour

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChainPlace:
    """A chain on both nodes, for the rules that are taken over. Compared by identity: the rules of
    one chain share it.
    """

    netns: str
    family: Family
    flavour: TableFlavour
    table: str
    here: Chain
    there: Chain
    theirs: Table
    """The table on the other node: a rule that is taken over brings along the chains that it
    calls.
    """
    ours: Table | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Difference:
    """One fact that is otherwise on the other node."""

    kind: str
    """`sysctl`, `module`, `cilium option`, `link`, `address`, `neighbour`, `route`, `policy rule`,
    `rule`, `chain policy`, `set`, `nft table`.
    """
    netns: str
    words: str
    """What differs, the node in trouble being `here`."""
    here: tuple[Span, ...] = ()
    there: tuple[Span, ...] = ()
    commands: tuple[str, ...] = ()
    """What makes it here as it is there; empty where no single command does."""
    changes: tuple[Change, ...] = ()
    """The same on the model."""
    place: ChainPlace | None = None
    """Of a `rule`: its chain."""
    rule: ChainDifference | None = None

    @property
    def can_be_taken(self) -> bool:
        """Tell whether the model has a word for taking it over."""
        return bool(self.changes) or self.rule is not None


def paired_namespaces(bad: Node, good: Node) -> Iterator[tuple[Netns, Netns]]:
    """Yield the namespaces that both nodes have by one name; the hosts first."""
    names = sorted(
        bad.namespaces.keys() & good.namespaces.keys(), key=lambda name: (name != HOST, name)
    )
    yield from ((bad.namespaces[name], good.namespaces[name]) for name in names)


def inside(netns: str, command: str) -> str:
    """Return the command as it is typed on the host."""
    return command if netns == HOST else f"ip netns exec {netns} {command}"


def unpaired(
    here: Listing[T],
    there: Listing[T],
    identity: Callable[[T], Hashable],
    family: Callable[[T], Family],
) -> Iterator[tuple[T, bool]]:
    """Yield what only one listing has, with whether it is the other node's.

    A listing in part cannot tell what it lacks, and one without an item of a family may have been
    asked for the other.
    """
    for one, other, is_there in ((here, there, True), (there, here, False)):
        if not one.complete:
            continue
        listed, families = set(map(identity, one.items)), set(map(family, one.items))
        for item in other.items:
            if identity(item) not in listed and family(item) in families:
                yield item, is_there


@dataclass(frozen=True, slots=True, kw_only=True)
class OnOneNode:
    """A thing that only one of two nodes has."""

    kind: str
    netns: str
    spelled: str
    """As `ip` takes it."""
    command: str
    """What adds or deletes it: `ip addr`."""
    span: Span | None
    taken: bool
    """True where the other node has it."""

    def tell(self, change: Change) -> Difference:
        """Return the difference that the change evens out."""
        verb = "add" if self.taken else "del"
        lines = spans_of(self.span)
        return Difference(
            kind=self.kind,
            netns=self.netns,
            words=f"the {self.kind} {self.spelled} {tell_owner(taken=self.taken)}",
            here=() if self.taken else lines,
            there=lines if self.taken else (),
            commands=(inside(self.netns, f"{self.command} {verb} {self.spelled}"),),
            changes=(change,),
        )


def tell_owner(*, taken: bool) -> str:
    """Say which node has a thing that only one has; `taken` where it is the other one."""
    return "is missing here and present where it works" if taken else "is absent where it works"


def spans_of(*spans: Span | None) -> tuple[Span, ...]:
    """Return those lines that there are, each once."""
    return tuple(dict.fromkeys(span for span in spans if span is not None))
