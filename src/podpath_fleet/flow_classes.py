"""Connections that take the same walk, found by what the walk of one of them looked at.

Theory of operation. The header of a connection is one number: its addresses and ports side by side.
A walk of it is given numbers that note which of their bits anybody looks at (`net.watched`), and
runs as every walk does. Its mask then says what decided: whoever agrees with it in these bits, and
in what is not part of the header (protocol, family, where it starts, how it is sent), was asked the
same questions, gave the same answers, and so has the same walk. So a class is a mask and the header
under it, and the classes of a mask are a dictionary: to find that of a flow takes a lookup for each
mask that there is (tuple space search; Open vSwitch's megaflows).

```text
     src               dst               dport   sport
    [0a f4 fa 05       0a 60 00 11       01 bb   c8 db]     the flow that was walked
    [ff ff ff ff       ff ff ff ff       ff ff   00 00]     what its walk looked at
    [0a f4 fa 05       0a 60 00 11       01 bb   .. ..]     its class: whatever the source port is
```

Classes of different masks may overlap; both then hold the same answer, since each is what the walk
of any of its flows would give. An answer may name the flow's own addresses and ports
(`FlowHeader.hole`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from podpath.net.addresses import WIDTH, Address, Family
from podpath.net.probe import Probe, Sending
from podpath.net.watched import Looked, Watched

PORT = 16
"""Bits of a port."""
MOST_CLASSES = 1 << 20
"""Classes that are kept; when there are more, all are forgotten, and found again as they are
needed.
"""
HOLES = ("src", "sport", "dst", "dport")
"""What of a flow an answer may name, in the order in which it is spelled."""

A = TypeVar("A")


class Place(NamedTuple):
    """What of a probe is no part of its header: flows that differ in it are never of one class."""

    protocol: int
    family: Family
    netns: str | None
    in_dev: str | None
    sending: Sending


class FlowHeader:
    """The header of one flow under way, whose fields note who looks at them."""

    __slots__ = ("_looked", "_names", "probe")

    def __init__(self, probe: Probe, looked: Looked | None = None) -> None:
        """Watch the addresses and ports of a probe; `looked` hears what is asked of them."""
        self._looked = looked if looked is not None else Looked()
        width = WIDTH[probe.src.family]
        offsets = list_offsets(probe.src.family)
        self._names = {offset: name for name, offset in offsets.items()}
        family = probe.src.family
        src = Watched(probe.src.value, width, offsets["src"], self._looked)
        dst = Watched(probe.dst.value, width, offsets["dst"], self._looked)
        sport = Watched(probe.sport, PORT, offsets["sport"], self._looked)
        dport = Watched(probe.dport, PORT, offsets["dport"], self._looked)
        self.probe = probe._replace(
            src=Address(family, _number(src)),
            dst=Address(family, _number(dst)),
            sport=_number(sport),
            dport=_number(dport),
        )
        """The probe to walk."""

    @property
    def mask(self) -> int:
        """Return the bits that were looked at so far."""
        return self._looked.mask

    def hole(self, number: object) -> str | None:
        """Return which of the flow's own fields a number is, as `HOLES` names them; None for any
        other number.
        """
        if type(number) is not Watched or not number.is_whole(self._looked):
            return None
        return self._names[number.offset]


def _number(watched: Watched) -> int:
    number: Any = watched
    return number  # type: ignore[no-any-return]  # to whoever calculates with it


def list_offsets(family: Family) -> dict[str, int]:
    """Return where each field begins in a header, from its lowest bit."""
    return {"sport": 0, "dport": PORT, "dst": 2 * PORT, "src": 2 * PORT + WIDTH[family]}


def join_header(src: int, dst: int, sport: int, dport: int, family: Family) -> int:
    """Return a flow's header as one number."""
    return (src << WIDTH[family] | dst) << 2 * PORT | dport << PORT | sport


class ClassTable(Generic[A]):
    """The classes of one place, by mask."""

    __slots__ = ("levels",)

    def __init__(self) -> None:
        """Start without any."""
        self.levels: list[tuple[int, dict[int, A]]] = []
        """Masks with their classes; those with most classes first."""

    def find(self, header: int) -> tuple[int, A] | None:
        """Return the mask and answer of the class that a header is in, None where none is known."""
        for mask, known in self.levels:
            found = known.get(header & mask)
            if found is not None:
                return mask, found
        return None

    def keep(self, header: int, mask: int, answer: A) -> None:
        """Keep what the walk of a header gave, for all that agree with it under a mask."""
        known = next((known for other, known in self.levels if other == mask), None)
        if known is None:
            known = {}
            self.levels.append((mask, known))
        known[header & mask] = answer
        self.levels.sort(key=lambda level: -len(level[1]))


class FlowClasses(Generic[A]):
    """All classes of a node that were met so far, each with the answer for its flows."""

    __slots__ = ("_answer", "_tables", "count", "walked")

    def __init__(self, answer: Callable[[FlowHeader], A]) -> None:
        """Start without any; `answer` walks the probe of a header, and says what came of it."""
        self._answer = answer
        self._tables: dict[Place, ClassTable[A]] = {}
        self.count = 0
        """How many classes there are."""
        self.walked = 0
        """How many walks it took to find them."""

    def table(self, probe: Probe) -> ClassTable[A]:
        """Return the classes of the place that a probe starts at."""
        place = Place(probe.protocol, probe.src.family, probe.netns, probe.in_dev, probe.sending)
        found = self._tables.get(place)
        if found is None:
            found = self._tables[place] = ClassTable()
        return found

    def find(self, probe: Probe) -> tuple[int, A]:
        """Return the mask and answer of the class that a flow is in; if none is known, walk it."""
        header = join_header(
            probe.src.value, probe.dst.value, probe.sport, probe.dport, probe.src.family
        )
        table = self.table(probe)
        return table.find(header) or self._walk(probe, header, table)

    def _walk(self, probe: Probe, header: int, table: ClassTable[A]) -> tuple[int, A]:
        watched = FlowHeader(probe)
        answer = self._answer(watched)
        self.walked += 1
        if self.count >= MOST_CLASSES:
            for other in self._tables.values():
                other.levels.clear()
            self.count = 0
        table.keep(header, watched.mask, answer)
        self.count += 1
        return watched.mask, answer
