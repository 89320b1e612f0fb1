"""`podpath reach` beside the published approach of Batfish, on rules that both can express.

    python -m bench.acl_diagrams [--lines 5 20 50 100]

Batfish turns each line of a list into a decision diagram of the headers that it matches, and takes
what a line matches out of what later lines can meet (`IpAccessListToBdd.reachAndMatchLines`, Apache
License 2.0); this is that approach, restated in pure Python as what is compared is. Of iptables it
reads the lines of mangle's PREROUTING and POSTROUTING that accept or drop, by addresses, protocol,
device and single ports (`IptablesVendorConfiguration`): so those are the rules here. The number of
headers that each line drops has to be the same by both.

Where they differ. A list's diagrams tell which line takes a header; a walk tells what becomes of
its connection: routes, later tables, NAT, the answer's way back. A match that its reader does not
know (`-m set`, `-m conntrack`, `-m mark`, `-m statistic`) it warns of and leaves out, so that the
line takes every header that its other matches take; podpath leaves open what such a line does. A
jump to a chain is refused there, as is `!` before an address. Its engine has the whole network's
devices to reason about, where podpath has one node.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import reduce
from random import Random
from typing import NamedTuple

from bench.converse import assemble_node
from podpath.flows.flow import FlowSet
from podpath.library.case import Case, NodeCase
from podpath.library.memory import collecting_seldom
from podpath.net.addresses import Prefix
from podpath.node.case import Case as Facts
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reached import ReachResult, reach

FIELDS = {"dst": 32, "src": 32, "dport": 16, "sport": 16}
"""The fields of a header by their bits, in the order of variables. All is TCP."""
BITS = sum(FIELDS.values())
CLIENTS = Prefix.parse("203.0.113.0/24")
SERVERS = Prefix.parse("10.244.0.0/16")
PORTS = (80, 443, 5432, 8080)
QUESTION = FlowSet((f"{CLIENTS} in eth0",), (str(SERVERS),), ("tcp",))


class AclLine(NamedTuple):
    """A line that both can express."""

    drops: bool
    src: Prefix | None
    dst: Prefix | None
    dport: int | None

    def spell(self) -> str:
        """Return it as iptables-save prints it."""
        parts = ["-A PREROUTING"]
        parts += [f"-s {self.src}"] if self.src is not None else []
        parts += [f"-d {self.dst}"] if self.dst is not None else []
        parts += [f"-p tcp -m tcp --dport {self.dport}"] if self.dport is not None else []
        return " ".join([*parts, "-j", "DROP" if self.drops else "ACCEPT"])


class Diagrams:
    """Reduced ordered decision diagrams of headers: a diagram is a number, 0 holds none and 1 all
    (Bryant 1986).
    """

    def __init__(self) -> None:
        """Start with no node but the two ends."""
        self._nodes: list[tuple[int, int, int]] = [(BITS, 0, 0), (BITS, 1, 1)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._joined: dict[tuple[bool, int, int], int] = {}
        self._counts: dict[int, int] = {0: 0, 1: 1}

    @property
    def size(self) -> int:
        """Return how many nodes there are."""
        return len(self._nodes)

    def of_range(self, field: str, first: int, last: int) -> int:
        """Return the headers whose field is in a range, both ends included."""
        start = sum(width for name, width in FIELDS.items() if _is_before(name, field))
        return self._of_bits(start, FIELDS[field], first, last)

    def both(self, one: int, other: int) -> int:
        """Return the headers that are in both."""
        return self._join(one, other, without=False)

    def without(self, one: int, other: int) -> int:
        """Return the headers of the first that are not in the second."""
        return self._join(one, other, without=True)

    def count(self, diagram: int) -> int:
        """Return how many headers it holds."""
        return self._count(diagram) << self._nodes[diagram][0]

    def _of_bits(self, start: int, width: int, first: int, last: int) -> int:
        if first > last:
            return 0
        if first == 0 and last == (1 << width) - 1:
            return 1
        half = 1 << (width - 1)
        low = self._of_bits(start + 1, width - 1, first, min(last, half - 1))
        high = self._of_bits(start + 1, width - 1, max(first - half, 0), last - half)
        return self._make(start, low, high)

    def _make(self, bit: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = (bit, low, high)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return number

    def _join(self, one: int, other: int, *, without: bool) -> int:
        if one == 0 or other == without:
            return 0
        if other == 1 - without:
            return one
        if one == other:
            return 0 if without else one
        key = (without, one, other)
        found = self._joined.get(key)
        if found is None:
            bit = min(self._nodes[one][0], self._nodes[other][0])
            low, high = self._split(one, bit), self._split(other, bit)
            parts = (self._join(a, b, without=without) for a, b in zip(low, high, strict=True))
            found = self._joined[key] = self._make(bit, *parts)
        return found

    def _split(self, diagram: int, bit: int) -> tuple[int, int]:
        own, low, high = self._nodes[diagram]
        return (low, high) if own == bit else (diagram, diagram)

    def _count(self, diagram: int) -> int:
        """Return how many values of the bits from its own on it holds."""
        found = self._counts.get(diagram)
        if found is None:
            bit, *ends = self._nodes[diagram]
            skipped = (self._nodes[end][0] - bit - 1 for end in ends)
            counts = map(self._count, ends)
            found = sum(count << gap for count, gap in zip(counts, skipped, strict=True))
            self._counts[diagram] = found
        return found


def _is_before(name: str, field: str) -> bool:
    order = list(FIELDS)
    return order.index(name) < order.index(field)


def draw_lines(count: int, seed: int = 1) -> list[AclLine]:
    """Draw lines about clients and servers, as many that accept as that drop."""
    chance = Random(f"{seed} {count}")  # noqa: S311 - a benchmark's input
    return [
        AclLine(
            chance.random() < 0.5,
            _draw_network(CLIENTS, 32, chance) if chance.random() < 0.5 else None,
            _draw_network(SERVERS, 28, chance),
            chance.choice((*PORTS, None)),
        )
        for _ in range(count)
    ]


def _draw_network(inside: Prefix, longest: int, chance: Random) -> Prefix:
    length = chance.randint(inside.length + 4, longest)
    host = chance.getrandbits(32 - inside.length) >> (32 - length) << (32 - length)
    return Prefix(4, inside.network | host, length)


def count_by_diagrams(
    lines: Sequence[AclLine], spaces: Sequence[HeaderRegion]
) -> tuple[list[int], int]:
    """Return how many of some headers each line takes that none before it does, and how many nodes
    there are.
    """
    made = Diagrams()
    counts = [0] * len(lines)
    for space in spaces:
        fields = space._asdict().items()
        left = _of_product(made, {name: ends for name, (ends,) in fields})
        for place, line in enumerate(lines):
            matched = made.both(left, _of_line(made, line))
            counts[place] += made.count(matched)
            left = made.without(left, matched)
    return counts, made.size


def _of_line(made: Diagrams, line: AclLine) -> int:
    named = {"src": line.src, "dst": line.dst}
    ranges = {name: _ends(prefix) for name, prefix in named.items() if prefix is not None}
    if line.dport is not None:
        ranges["dport"] = (line.dport, line.dport)
    return _of_product(made, ranges)


def _of_product(made: Diagrams, ranges: dict[str, tuple[int, int]]) -> int:
    parts = (made.of_range(name, *ends) for name, ends in ranges.items())
    return reduce(made.both, parts, 1)


def _ends(prefix: Prefix) -> tuple[int, int]:
    first = prefix.network
    return first, first + (1 << (32 - prefix.length)) - 1


def count_by_walks(lines: Sequence[AclLine]) -> tuple[list[int], ReachResult]:
    """Return how many headers each line drops by the classes of `podpath reach`."""
    text = ["*mangle", ":PREROUTING ACCEPT [0:0]", *(line.spell() for line in lines), "COMMIT"]
    node = assemble_node("\n".join(text) + "\n")
    case = Case(nodes=(NodeCase(name="", facts=Facts(node=node)),))
    result = reach(case, QUESTION)
    counts = [0] * len(lines)
    for one in result.sets:
        row = one.answer.row
        if row.line is not None and row.text.endswith("DROP"):
            counts[row.line - 3] += one.size
    return counts, result


def compare(count: int) -> None:
    """Count by both, and print what each took."""
    lines = draw_lines(count)
    with collecting_seldom():
        started = time.process_time()
        walked, result = count_by_walks(lines)
        between = time.process_time()
        spaces = [space.region for space, _ in result.enumerations]
        drawn, nodes = count_by_diagrams(lines, spaces)
        ended = time.process_time()
    dropped = [size if line.drops else 0 for size, line in zip(drawn, lines, strict=True)]
    classes = sum(len(found.classes) for _, found in result.enumerations)
    print(
        f"{count} lines: the same headers dropped by each line: {walked == dropped} "
        f"({sum(map(bool, dropped))} lines drop any; all walked: {result.complete}); "
        f"diagrams {ended - between:.2f} s, {nodes:,} nodes; "
        f"walks {between - started:.2f} s, {classes:,} classes",
        flush=True,
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lines", type=int, nargs="+", default=[5, 20, 50, 100])
    for asked_for in options.parse_args().lines:
        compare(asked_for)
