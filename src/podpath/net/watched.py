"""Numbers of a header that note which of their bits somebody looked at.

A walk that is given such numbers in place of a packet's addresses and ports walks as ever; what it
looked at afterward says which other headers would have gone the same way: all that agree in these
bits, as in the megaflows of Open vSwitch (Pfaff and others, The Design and Implementation of Open
vSwitch, NSDI 2015). Nothing sees such a number but through a method that notes what it tells: it is
no `int` to the interpreter's own code, which has to ask `__index__` for it. A comparison notes the
bits that decide it, from the highest down; whatever else is asked, every bit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from typing import Any, TypeVar

from podpath.net.addresses import Address


class Looked:
    """The bits of one header that were looked at: a mask over all its fields."""

    __slots__ = ("mask",)

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.mask = 0

    def learn(self, offset: int, first: int, last: int, *, inside: bool) -> None:
        """Hear that the field at an offset is in a range, or not in it; bits alone say less."""

    def learn_none(self, offset: int, numbers: Sequence[int], shift: int) -> None:
        """Hear that the field at an offset, shifted, is none of some sorted numbers."""

    def learn_told(self, offset: int) -> None:
        """Hear that somebody was told the field at an offset, and may do anything with it."""

    def learn_hashed(self, offset: int) -> None:
        """Hear that the field at an offset was looked up in a dictionary or set: it was compared
        with keys that nobody names.
        """
        self.learn_told(offset)

    def learn_differing(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Hear that two fields, each an offset and a number, are not the same; return False to be
        told the first of them instead.
        """
        return one[1] != other[1]


class Watched:
    """A field of a header, or some of its bits: a number to whoever calculates with it."""

    __slots__ = ("_bits", "_looked", "_offset", "_shift", "_value", "_width")

    def __init__(self, value: int, width: int, offset: int, looked: Looked) -> None:
        """Watch a field of so many bits, which begins at an offset of the header."""
        self._value, self._width, self._offset, self._looked = value, width, offset, looked
        self._bits, self._shift = (1 << width) - 1, 0

    @property  # type: ignore[misc]  # isinstance(port, int) has to hold
    def __class__(self) -> type:
        return int

    def is_whole(self, looked: Looked) -> bool:
        """Tell whether this is a whole field of that header, and not a part of one."""
        whole = not self._shift and self._bits == (1 << self._width) - 1
        return self._looked is looked and whole

    @property
    def offset(self) -> int:
        """Where the field begins in the header."""
        return self._offset

    def peek(self) -> int:
        """Return the number without noting it: for whoever notes by itself what it means."""
        return (self._value & self._bits) >> self._shift

    def note(self, lowest: int = 0) -> None:
        """Note that all bits from the lowest on have been looked at."""
        self._learn_bits(self._mark(lowest))

    def _learn_bits(self, bits: int) -> None:
        if bits:
            low = _count_zeros(bits)
            first = self._value >> low << low
            self._looked.learn(self._offset, first, first + (1 << low) - 1, inside=True)

    def _mark(self, lowest: int) -> int:
        bits = self._bits >> (self._shift + lowest) << (self._shift + lowest)
        self._looked.mask |= bits << self._offset
        return bits

    def tell(self) -> int:
        """Return the number; every bit counts as looked at."""
        self.note()
        self._looked.learn_told(self._offset)
        return self.peek()

    def _tell_for_comparison(self) -> int:
        """Return the number to whoever compares it with another field, and no more than that."""
        self.note()
        return self.peek()

    def _tell_apart(self, other: int, first: int, last: int, *, inside: bool) -> None:
        """Note what says whether this is a number, or above or below it, and that it is thereby
        from `first` to `last`, or not.
        """
        if type(other) is not int:
            self.note()  # a number that answers by itself, as a drawn port does
            return
        self._mark_apart(other)
        low = _count_zeros(self._bits)
        if self._bits != (1 << self._width) - (1 << low):
            self._learn_bits(self._bits)  # its numbers are no range of the field's
            return
        start = -(-(first << self._shift) >> low) << low
        end = (last << self._shift >> low << low) + (1 << low) - 1
        self._looked.learn(self._offset, start, end, inside=inside)

    def _mark_apart(self, other: int) -> None:
        differing = self.peek() ^ other
        self._mark(differing.bit_length() - 1 if differing else 0)

    def _learn_order(self, number: int, *, below: bool) -> None:
        """Note that this is below a number, or that it is not."""
        first, last = (0, number - 1) if below else (number, self._bits >> self._shift)
        self._tell_apart(number, first, last, inside=True)

    def is_one_of(self, numbers: Sequence[int]) -> bool:
        """Tell whether this is one of some sorted numbers; the bits are noted that say so."""
        number = self.peek()
        place = bisect_left(numbers, number)
        if place < len(numbers) and numbers[place] == number:
            self.note()
            return True
        for near in numbers[max(place - 1, 0) : place + 1]:
            self._mark_apart(near)
        if self._bits == (1 << self._width) - (1 << self._shift):
            self._looked.learn_none(self._offset, numbers, self._shift)
        else:
            self._learn_bits(self._bits)
        return False

    def _part(self, bits: int, shift: int) -> Any:
        if not bits:
            return 0
        part = Watched.__new__(Watched)
        part._value, part._width, part._offset = self._value, self._width, self._offset
        part._looked, part._bits, part._shift = self._looked, bits, shift
        return part

    def _is_same(self, other: object) -> bool:
        return (
            type(other) is Watched
            and other._looked is self._looked
            and (other._offset, other._bits, other._shift)
            == (self._offset, self._bits, self._shift)
        )

    def _is_other_field(self, other: Watched) -> bool:
        """Tell whether this is one whole field and the other another one with another number; noted
        are the bits down to the first that differs, which say so.
        """
        looked, differing = self._looked, self.peek() ^ other.peek()
        if not (differing and self.is_whole(looked) and other.is_whole(looked)):
            return False
        one, two = (self._offset, self._value), (other._offset, other._value)
        if not looked.learn_differing(*sorted((one, two), reverse=True)):
            return False
        for field in (self, other):
            field._mark(differing.bit_length() - 1)
        return True

    def __and__(self, other: Any) -> Any:
        if type(other) is not int or other < 0:
            return self.tell() & _tell(other)
        return self._part(self._bits & other << self._shift, self._shift)

    __rand__ = __and__

    def __rshift__(self, other: Any) -> Any:
        shift = self._shift + _tell(other)
        return self._part(self._bits >> shift << shift, shift)

    def __lshift__(self, other: Any) -> Any:
        count: int = _tell(other)
        if count <= self._shift:
            return self._part(self._bits, self._shift - count)
        return self.tell() << count

    def __eq__(self, other: object) -> bool:
        if self is other or self._is_same(other):
            return True
        if type(other) is Watched:
            if self._is_other_field(other):
                return False
            if other._offset < self._offset:
                # sources are asked about one by one, others are not
                return bool(other == self._tell_for_comparison())
            other = other._tell_for_comparison()
        if not isinstance(other, int):
            return False
        if (other << self._shift) & ~self._bits:
            return False  # it has bits that this never has
        same = self.peek() == other
        self._tell_apart(other, other, other, inside=same)
        return same

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        if self._is_same(other):
            return False
        number = _tell(other)
        below = bool(self.peek() < number)
        self._learn_order(number, below=below)
        return below

    def __le__(self, other: Any) -> bool:
        if self._is_same(other):
            return True
        number = _tell(other)
        if type(number) is int:
            return self < number + 1
        self.note()
        return bool(self.peek() <= number)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __hash__(self) -> int:
        self.note()
        self._looked.learn_hashed(self._offset)
        return hash(self.peek())

    def __bool__(self) -> bool:
        return self != 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tell(), name)

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (self.tell(),)

    def __index__(self) -> int:
        return self.tell()

    __int__ = __trunc__ = __floor__ = __ceil__ = __round__ = __index__

    def __float__(self) -> float:
        return float(self.tell())

    def __str__(self) -> str:
        return str(self.tell())

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self.tell(), spec)


def _count_zeros(bits: int) -> int:
    """Return how many zeros a number that is not 0 ends in."""
    return (bits & -bits).bit_length() - 1


def _tell(number: Any) -> Any:
    if type(number) is Watched:
        return number.tell()
    return number


def _calculate(name: str) -> Any:
    """Return a method that calculates with the number itself."""

    def calculate(self: Watched, *others: Any) -> Any:
        return getattr(self.tell(), name)(*map(_tell, others))

    return calculate


CALCULATIONS = (
    *(
        f"__{side}{name}__"
        for name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "divmod", "pow", "or",
        "xor") for side in ("", "r")
    ),
    "__rlshift__", "__rrshift__", "__neg__", "__pos__", "__abs__", "__invert__",
)  # fmt: skip
"""What tells every bit by calculating with it."""
for _name in CALCULATIONS:
    setattr(Watched, _name, _calculate(_name))


def is_watched(number: object) -> bool:
    """Tell whether a number notes who looks at it."""
    return type(number) is Watched


def peek(number: int) -> int:
    """Return a number without noting it where it is watched: for whoever notes by itself what it
    means.
    """
    held: Any = number
    return held.peek() if type(held) is Watched else number


def is_any_watched(*addresses: Address | None) -> bool:
    """Tell whether one of these addresses notes who looks at it."""
    return any(one is not None and is_watched(one.value) for one in addresses)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Compared(MutableMapping[K, V]):
    """A few keys, compared one by one: a dictionary would ask for a key's hash, and so for every
    bit of it.
    """

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        """Start empty."""
        self._pairs: list[tuple[K, V]] = []

    def __getitem__(self, key: K) -> V:
        return self._pairs[self._place(key)][1]

    def __setitem__(self, key: K, value: V) -> None:
        try:
            self._pairs[self._place(key)] = (key, value)
        except KeyError:
            self._pairs.append((key, value))

    def __delitem__(self, key: K) -> None:
        del self._pairs[self._place(key)]

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def values(self) -> Any:
        """Return what is kept, in the order in which it came."""
        return [value for _, value in self._pairs]

    def _place(self, key: K) -> int:
        for place, (other, _) in enumerate(self._pairs):
            if _are_same(key, other):
                return place
        raise KeyError("not there")


def _are_same(one: object, other: object) -> bool:
    """Compare two keys, of tuples first what nobody watches."""
    if not (isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other)):
        return one == other
    pairs = list(zip(one, other, strict=True))
    plain = [pair for pair in pairs if not _holds_watched(pair[0]) and not _holds_watched(pair[1])]
    return all(a == b for a, b in plain) and all(_are_same(a, b) for a, b in pairs)


def _holds_watched(part: object) -> bool:
    return type(part) is Watched or (
        isinstance(part, tuple) and any(_holds_watched(inner) for inner in part)
    )
