"""What outputs count of each device: packets in and out, and what was lost, with the lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from podpath.checks.stated import statements_of
from podpath.net.provenance import Span
from podpath.net.statements import DeviceCount
from podpath.node.case import Case


@dataclass(frozen=True, slots=True)
class DeviceTraffic:
    """The counters of one device of one namespace, by the kernel's names (`rx_packets`); of several
    outputs, the last.
    """

    link: str
    netns: str
    counts: dict[str, tuple[int, Span]]

    def count(self, name: str) -> int | None:
        """Return a counter; None where no output has it."""
        found = self.counts.get(name)
        return None if found is None else found[0]

    def span(self, name: str) -> Span:
        """Return the lines of a counter that some output has."""
        return self.counts[name][1]

    @property
    def hears_nothing(self) -> bool:
        """Whether it sent packets, and received none at all."""
        return self.count("rx_packets") == 0 and (self.count("tx_packets") or 0) >= ENOUGH


ENOUGH = 10
"""Packets sent that are more than what a device says by itself when it comes up: router
solicitations, multicast reports, duplicate address detection.
"""


def list_traffic(case: Case) -> Iterator[DeviceTraffic]:
    """Yield the devices of which an output has counters."""
    found: dict[tuple[str, str], dict[str, tuple[int, Span]]] = defaultdict(dict)
    for count, stated in statements_of(case, DeviceCount):
        found[stated.netns, count.link][count.name] = (count.value, stated.span)
    for (netns, link), counts in found.items():
        yield DeviceTraffic(link, netns, counts)
