"""Drops counted for Prometheus: by reason and function, and by the kind of line that decides.

What stands in a label is bounded in number: the first so many combinations have a counter of their
own, and whatever comes beyond is counted as `other`. No label holds an address, a port or a name of
a pod.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from podpath_protect.agent.keeper import Sample

MOST_CAUSES, MOST_KINDS = 256, 32
OTHER, NONE = "other", "none"
_REASON = re.compile(r"[A-Z0-9_]{1,64}")
_FUNCTION = re.compile(r"([A-Za-z_][\w.]{0,79})(?:\+0x[0-9a-f]+.*)?")
_KIND = re.compile(r"([a-z][a-z0-9-]{0,39})\.(?:txt|json)")
Cause = tuple[str, str]
"""A reason, and the function of the kernel's."""


class DropCounts:
    """The counters; they only grow."""

    def __init__(self) -> None:
        """Begin at nought."""
        self.causes: Counter[Cause] = Counter()
        self.kinds: Counter[str] = Counter()
        self.left_out = 0
        self.losses: Counter[str] = Counter()

    def take(self, turn: Mapping[str, object]) -> None:
        """Add what a turn counted (a line `flows` of `podpath/drops/v1`)."""
        flows = turn.get("flows")
        for flow in flows if isinstance(flows, list) else ():
            if isinstance(flow, dict):
                self._add(flow)
        self.left_out += _number(turn.get("left_out"))

    def note_losses(self, before: Mapping[str, object], after: Mapping[str, object]) -> None:
        """Add what was lost between two lines of one process, which counts from its beginning."""
        for name in ("missed", "uncounted"):
            self.losses[name] += max(0, _number(after.get(name)) - _number(before.get(name)))

    def _add(self, flow: Mapping[str, object]) -> None:
        packets = _number(flow.get("packets"))
        reason = _REASON.fullmatch(str(flow.get("reason") or ""))
        function = _FUNCTION.fullmatch(str(flow.get("function") or ""))
        cause = (
            reason[0] if reason is not None else OTHER,
            function[1] if function is not None else OTHER,
        )
        full = cause not in self.causes and len(self.causes) >= MOST_CAUSES
        self.causes[(OTHER, OTHER) if full else cause] += packets
        self.kinds[self._kind_of(flow)] += packets

    def _kind_of(self, flow: Mapping[str, object]) -> str:
        said = flow.get("decided_by")
        if said is None:
            return NONE
        found = _KIND.fullmatch(str(said))
        kind = found[1] if found is not None else OTHER
        full = kind not in self.kinds and len(self.kinds) >= MOST_KINDS
        return OTHER if full else kind

    def list_samples(self) -> Iterator[Sample]:
        """Yield the counters."""
        for (reason, function), packets in sorted(self.causes.items()):
            labels = (("reason", reason), ("function", function))
            yield _counter(
                "drops", packets, "Packets that the kernel dropped, by its reason.", labels
            )
        for kind, packets in sorted(self.kinds.items()):
            by_line = (("line", kind),)
            yield _counter(
                "drops_decided", packets, "The same by the kind of line that decides.", by_line
            )
        yield _counter("drops_left_out", self.left_out, "Drops that are the daily life of a node.")
        for how in ("missed", "uncounted"):
            yield _counter(
                "drops_lost", self.losses[how], "Drops that no flow counts.", (("how", how),)
            )


def _counter(
    name: str, value: float, text: str, labels: tuple[tuple[str, str], ...] = ()
) -> Sample:
    return Sample(name, value, labels, "counter", text)


def _number(value: object) -> int:
    if isinstance(value, int) and value > 0:
        return value
    return 0
