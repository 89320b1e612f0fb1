"""Several outputs of one listing to one: whole ones, fragments, repeats, and ones that disagree.

A fragment that a whole listing holds says nothing new. Fragments without a whole listing add up.
Whole listings that differ, and fragments that hold more than the whole, show different states, and
so does a listing on either side of a command that changes it: the likeliest state is taken, and the
others stay as ways that the node may have been.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from podpath.assembly.drafts.disputes import DisputeClaim, Disputes
from podpath.assembly.scenes.labels import StateLikelihood
from podpath.assembly.scenes.scene import stands_after
from podpath.net.provenance import Span

T = TypeVar("T")
Items = Mapping[Hashable, T]
"""Things of a listing in its order, by what makes two of them the same thing."""


class ListingSnapshot(NamedTuple, Generic[T]):
    """What one output shows of a listing."""

    items: Items[T]
    whole: bool
    span: Span
    standing: StateLikelihood = StateLikelihood.PLAIN


class ListingCommand(NamedTuple, Generic[T]):
    """A command between outputs that changes the listing."""

    span: Span
    command: str
    apply: Callable[[Items[T]], Items[T]]
    undo: Callable[[Items[T]], Items[T]]


class MergedListing(NamedTuple, Generic[T]):
    """The listing in the state that was taken."""

    items: tuple[T, ...]
    whole: bool
    span: Span | None


class _ListingState(NamedTuple):
    """A state of the listing: equal where it holds the same things."""

    keys: frozenset[Hashable]
    whole: bool


def merge_snapshots(
    fact: str,
    ask: str,
    snapshots: Sequence[ListingSnapshot[T]],
    disputes: Disputes,
    turns: Sequence[ListingCommand[T]] = (),
) -> MergedListing[T]:
    """Return the listing in its likeliest state (or the one that this run is told to take)."""
    pool: dict[Hashable, T] = {}
    for snapshot in snapshots:
        for key, item in snapshot.items.items():
            pool[key] = item if key not in pool else _richer(pool[key], item)
    later = [_place(snapshot, turns) for snapshot in snapshots]
    claims = list(_claim_states(later))
    if not claims:
        return MergedListing((), False, None)
    claims += _claim_turns(claims, pool, turns)
    if all(claim.standing is StateLikelihood.ELSEWHERE for claim in claims):
        claims.append(
            DisputeClaim(
                _ListingState(frozenset(), False),
                None,
                StateLikelihood.PLAIN,
                "not shown of this node",
                shown=False,
            )
        )
    state = disputes.decide(fact, ask, claims)
    span = next((claim.span for claim in claims if claim.value == state), None)
    order = [key for snapshot in later for key in snapshot.items] + list(pool)
    return MergedListing(
        tuple(pool[key] for key in dict.fromkeys(order) if key in state.keys), state.whole, span
    )


def _place(snapshot: ListingSnapshot[T], turns: Iterable[ListingCommand[T]]) -> ListingSnapshot[T]:
    """Mark an output that stands below a command which changes the listing as of a later state."""
    if snapshot.standing is StateLikelihood.PLAIN and any(
        stands_after(snapshot.span, turn.span) for turn in turns
    ):
        return snapshot._replace(standing=StateLikelihood.AFTER)
    return snapshot


def _claim_states(snapshots: Sequence[ListingSnapshot[T]]) -> Iterable[DisputeClaim[_ListingState]]:
    """Yield each state that outputs of one standing show together."""
    for standing in dict.fromkeys(snapshot.standing for snapshot in snapshots):
        same = [snapshot for snapshot in snapshots if snapshot.standing is standing]
        wholes = [snapshot for snapshot in same if snapshot.whole]
        parts = [snapshot for snapshot in same if not snapshot.whole]
        if not wholes:
            keys = frozenset[Hashable]().union(*(part.items for part in parts))
            yield DisputeClaim(_ListingState(keys, False), parts[0].span, standing)
            continue
        first = frozenset[Hashable](wholes[0].items)
        for snapshot in same:
            keys = frozenset(snapshot.items)
            if snapshot.whole:
                yield DisputeClaim(_ListingState(keys, True), snapshot.span, standing)
            elif not any(keys <= frozenset(whole.items) for whole in wholes):
                yield DisputeClaim(_ListingState(keys | first, True), snapshot.span, standing)


def _claim_turns(
    claims: Sequence[DisputeClaim[_ListingState]],
    pool: dict[Hashable, T],
    turns: Sequence[ListingCommand[T]],
) -> list[DisputeClaim[_ListingState]]:
    """Return the state on the other side of the commands that change the listing."""
    if not turns:
        return []
    known = min(claims, key=lambda claim: claim.standing)
    turned: Items[T] = {key: pool[key] for key in known.value.keys}
    after = known.standing is StateLikelihood.AFTER
    for turn in reversed(turns) if after else turns:
        turned = (turn.undo if after else turn.apply)(turned)
    for key, item in turned.items():
        pool.setdefault(key, item)
    place = turns[0] if after else turns[-1]
    meaning = f"{'before' if after else 'after'} `{place.command}` at {place.span}"
    standing = StateLikelihood.PLAIN if after else StateLikelihood.AFTER
    return [
        DisputeClaim(
            _ListingState(frozenset(turned), known.value.whole),
            place.span,
            standing,
            meaning,
            shown=False,
        )
    ]


def _richer(one: T, other: T) -> T:
    """Return the one of two spellings of a thing that shows more: `ip route` prints what `route -n`
    does not.
    """
    if _shown_fields(other) > _shown_fields(one):
        return other
    return one


def _shown_fields(item: object) -> int:
    names = getattr(item, "__dataclass_fields__", {})
    return sum(getattr(item, name) not in {None, "", ()} for name in names if name in _TELLING)


_TELLING = frozenset({"protocol", "prefsrc", "scope", "broadcast", "mtu"})
