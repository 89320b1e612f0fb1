"""Sets of headers as products of ranges: one set of ranges for each field.

A walk's watched header tells what it was asked (`net.watched`): the mask of bits is one account of
it, the ranges here are another. They say more where a walk was told what a field is not: "no
service has this destination" is one set of ranges, and would be thousands of masks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.net.watched import Looked

Ranges = tuple[tuple[int, int], ...]
"""First and last numbers, apart and in order."""
_ORDER = ("src", "dst", "dport", "sport")
"""By which field a rest is cut first."""


class HeaderRegion(NamedTuple):
    """Headers whose every field is in its ranges."""

    src: Ranges
    dst: Ranges
    dport: Ranges
    sport: Ranges

    @property
    def size(self) -> int:
        """Return how many headers it holds."""
        product = 1
        for ranges in self:
            product *= count_numbers(ranges)
        return product

    def __bool__(self) -> bool:
        """Tell whether it holds any header."""
        return all(self)

    def meet(self, other: HeaderRegion) -> HeaderRegion:
        """Return what is in both."""
        fields = (intersect(one, two) for one, two in zip(self, other, strict=True))
        return HeaderRegion(*fields)

    def without(self, part: HeaderRegion) -> Iterator[HeaderRegion]:
        """Yield the rest beside a part of it, in regions that have nothing in common."""
        left = self
        for name in _ORDER:
            own, gone = getattr(left, name), getattr(part, name)
            rest = subtract(own, gone)
            if rest:
                yield left._replace(**{name: rest})
            left = left._replace(**{name: gone})


def holds(ranges: Ranges, number: int) -> bool:
    """Tell whether a number is in ranges."""
    place = bisect_left(ranges, number, key=_last)
    return place < len(ranges) and ranges[place][0] <= number


def count_numbers(ranges: Ranges) -> int:
    """Return how many numbers are in ranges."""
    return sum(last - first + 1 for first, last in ranges)


def intersect(one: Ranges, two: Ranges) -> Ranges:
    """Return what is in both sets of ranges."""
    few, many = (one, two) if len(one) <= len(two) else (two, one)
    found = []
    for first, last in few:
        place = bisect_left(many, first, key=_last)
        while place < len(many) and many[place][0] <= last:
            found.append((max(first, many[place][0]), min(last, many[place][1])))
            place += 1
    return tuple(found)


def subtract(ranges: Ranges, gone: Ranges) -> Ranges:
    """Return what is in the first set of ranges and not in the second."""
    found = []
    for first, last in ranges:
        place, start = bisect_left(gone, first, key=_last), first
        while place < len(gone) and gone[place][0] <= last:
            if gone[place][0] > start:
                found.append((start, gone[place][0] - 1))
            start = gone[place][1] + 1
            place += 1
        if start <= last:
            found.append((start, last))
    return tuple(found)


def join_ranges(parts: Iterable[tuple[int, int]]) -> Ranges:
    """Return what is in any of some ranges, in order and as few ranges as it takes."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def _last(part: tuple[int, int]) -> int:
    return part[1]


class LookedRanges(Looked):
    """What a walk was told of its header, field by field."""

    __slots__ = ("_calculated", "_differing", "_facts", "_names", "_nones", "_told")

    def __init__(self, offsets: Mapping[str, int]) -> None:
        """Start with nothing told; `offsets` says where each field begins."""
        super().__init__()
        self._names = {offset: name for name, offset in offsets.items()}
        self._facts: dict[tuple[int, int, int, bool], None] = {}
        self._nones: dict[tuple[int, int, int], Sequence[int]] = {}
        self._differing: dict[tuple[tuple[int, int], tuple[int, int]], None] = {}
        self._told: set[int] = set()
        self._calculated: set[int] = set()

    def learn(self, offset: int, first: int, last: int, *, inside: bool) -> None:
        """Keep that a field is in a range, or not in it."""
        self._facts[offset, first, last, inside] = None

    def learn_none(self, offset: int, numbers: Sequence[int], shift: int) -> None:
        """Keep that a field, shifted, is none of some numbers, which do not change any more."""
        self._nones[offset, id(numbers), shift] = numbers

    def learn_differing(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Keep that source and destination are not the same; of other fields that says nothing."""
        if {self._names[one[0]], self._names[other[0]]} != _ENDS:
            return False
        self._differing[one, other] = None
        return True

    def learn_told(self, offset: int) -> None:
        """Keep that somebody was told a whole field, and not what for."""
        self._told.add(offset)
        self._calculated.add(offset)

    def learn_hashed(self, offset: int) -> None:
        """Keep that a whole field was compared, and not with what."""
        self._told.add(offset)

    def is_told(self, offset: int) -> bool:
        """Tell whether a field was used for more than comparisons."""
        return offset in self._told

    def is_calculated(self, offset: int) -> bool:
        """Tell whether a field was used for more than comparisons and lookups."""
        return offset in self._calculated

    def narrow_field(self, offset: int, ranges: Ranges, pinned: int | None = None) -> Ranges:
        """Return the numbers of a field of which the same would have been told; that it is the
        pinned number does not count.
        """
        for place, first, last, inside in self._facts:
            if place == offset and inside and not first == last == pinned:
                ranges = intersect(ranges, ((first, last),))
        for place, first, last, inside in self._facts:
            if place == offset and not inside and first <= last:
                ranges = subtract(ranges, ((first, last),))
        for (place, _, shift), numbers in self._nones.items():
            if place == offset:
                ranges = subtract(ranges, _spread(numbers, shift, ranges))
        for one, other in self._differing:
            if offset in (one[0], other[0]):  # of whoever has the other field as it is here
                number = other[1] if offset == one[0] else one[1]
                ranges = subtract(ranges, ((number, number),))
        return ranges

    def narrow(self, region: HeaderRegion) -> HeaderRegion:
        """Return the headers of a region of which the same would have been told."""
        for offset, first, last, inside in self._facts:
            if inside:
                region = self._keep(region, offset, ((first, last),))
        for offset, first, last, inside in self._facts:
            if not inside and first <= last:
                region = self._drop(region, offset, ((first, last),))
        for (offset, _, shift), numbers in self._nones.items():
            own = getattr(region, self._names[offset])
            region = self._drop(region, offset, _spread(numbers, shift, own))
        for one, other in self._differing:
            region = self._part_ends(region, one, other)
        return region

    def _part_ends(
        self, region: HeaderRegion, one: tuple[int, int], other: tuple[int, int]
    ) -> HeaderRegion:
        """Leave headers whose two fields differ: where each may be many numbers, those that agree
        with the header's as far as these do with each other, and one bit further.
        """
        for (offset, number), (place, _) in ((one, other), (other, one)):
            if getattr(region, self._names[offset]) == ((number, number),):
                return self._drop(region, place, ((number, number),))
        shift = (one[1] ^ other[1]).bit_length() - 1
        for offset, number in (one, other):
            first = number >> shift << shift
            region = self._keep(region, offset, ((first, first + (1 << shift) - 1),))
        return region

    def _keep(self, region: HeaderRegion, offset: int, ranges: Ranges) -> HeaderRegion:
        name = self._names[offset]
        return region._replace(**{name: intersect(getattr(region, name), ranges)})

    def _drop(self, region: HeaderRegion, offset: int, ranges: Ranges) -> HeaderRegion:
        name = self._names[offset]
        return region._replace(**{name: subtract(getattr(region, name), ranges)})


_ENDS = {"src", "dst"}


def _spread(numbers: Sequence[int], shift: int, within: Ranges) -> Ranges:
    """Return the ranges that shifted numbers stand for, as far as they touch others."""
    found: list[tuple[int, int]] = []
    past = 0
    for first, last in within:
        start = max(past, bisect_left(numbers, first >> shift))
        past = bisect_right(numbers, last >> shift)
        block = (1 << shift) - 1
        found += [(one << shift, (one << shift) + block) for one in numbers[start:past]]
    return tuple(found)
