"""What the readers of curl, ping and their like share: who tried, from where, and what to do
without an address.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.evidence.records import AttemptRecord
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.addresses import Address
from podpath.net.failures import Ending, Result
from podpath.net.probe import USUALLY, Sending
from podpath.net.provenance import Source

UNADDRESSED = "it failed, but its destination is only a name: no output shows the address"
"""Why the line of a failure is a gap: there is nothing to walk to."""


class AttemptOutcome(NamedTuple):
    """What came of an attempt, and which lines say so."""

    result: Result
    detail: str
    first: int
    last: int


def origin_of(source: Source) -> str | None:
    """Say where a typed command ran: the namespace that its wrapper names, else the host; None for
    a log.
    """
    if source.netns is not None:
        return source.netns
    return "host" if source.command is not None else None


def add_attempt(
    ledger: LineLedger,
    who: str,
    target: tuple[int, Address | None, int],
    outcome: AttemptOutcome,
    sending: Sending = USUALLY,
) -> None:
    """Keep an attempt; one whose destination is only a name is a gap, for no walk can start without
    its address.
    """
    protocol, dst, dport = target
    if dst is None:
        why = (
            UNADDRESSED
            if outcome.result is not Ending.OK
            else "expected the address of the destination, saw only its name"
        )
        ledger.gap(outcome.first, why, outcome.last)
        return
    ledger.add(
        AttemptRecord(
            span=ledger.span(outcome.first, outcome.last),
            protocol=protocol,
            dst=dst,
            dport=dport,
            result=outcome.result,
            who=who,
            origin=origin_of(ledger.source),
            detail=outcome.detail,
            sending=sending,
        )
    )
