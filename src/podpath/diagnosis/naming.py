"""What a step's reason names: chains, devices and settings, by which evidence lines and differences
are found again.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.neighbours import ForeignSenderAsked
from podpath.datapath.reasons.rules import PolicyDecided, RuleDecided
from podpath.datapath.tracing.trace import Step
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule


def names_of(step: Step) -> Iterator[str]:
    """Yield every name in a step's stage and reason, however deep it stands."""
    yield from step.stage.split()
    yield from _names_in(step.reason)


def _names_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Rule, NftRule)):
        yield value.chain
    elif isinstance(value, tuple):
        for part in value:
            yield from _names_in(part)


def words_of(reason: Reason) -> Iterator[str]:
    """Yield the words that a reason and the evidence line that decided have in common."""
    match reason:
        case PolicyDecided(chain=chain):
            yield chain
        case RuleDecided(rule=Rule() as rule):
            yield from _words_in(rule)
        case ForeignSenderAsked(found=found, request=request, owner=owner):
            yield from words_of(found)
            yield from (request.link, owner)
        case _:
            for value in reason:
                yield from _words_in(value)


def _words_in(value: object) -> Iterator[str]:
    if isinstance(value, Rule):
        yield from (value.chain, str(value.position))
    elif isinstance(value, (str, int)) and not isinstance(value, bool):
        yield str(value)
