"""Random extensions that rules seldom use: what is outside the packet is set so that every packet
of a case is answered alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from podpath.net import protocols
from podpath.node.netfilter import Match, ProtocolMatch, Target
from podpath.xtables.extension import Draw
from podpath.xtables.registry import EXTENSIONS, MATCHES, TARGETS

RARE = 0.04
"""How many rules have one of these."""
_UNSPOKEN = frozenset({protocols.SCTP, protocols.DCCP, protocols.ESP, protocols.AH})
"""Protocols that none of the cases speaks."""


class _Drawn(NamedTuple):
    """A match or target as it may be drawn."""

    name: str
    draw: Draw


_MATCHES = tuple(_Drawn(match.name, draw) for match in MATCHES.values() for draw in match.draws)
_TARGETS = tuple(_Drawn(target.name, draw) for target in TARGETS.values() for draw in target.draws)
NOT_GENERATED: Mapping[str, str] = {
    extension.name: extension.not_drawn for extension in EXTENSIONS if extension.not_drawn
}
"""Matches and targets that the model knows and no case has, each with the reason."""


def draw_rare_match(chance: Random, table: str, chain: str, protocol: int) -> Match | None:
    """Draw a match that a rule of this place and protocol may have, now and then."""
    found = _draw(chance, _MATCHES, table, chain, protocol)
    if found is None:
        return None
    return Match(found.name, found.draw.options)


def draw_rare_target(
    chance: Random, table: str, chain: str, fields: dict[str, object]
) -> Target | None:
    """Draw a target likewise, and give the rule the match that it needs beside it."""
    held = fields.get("protocol")
    protocol = held.number if isinstance(held, ProtocolMatch) and not held.negated else 0
    found = _draw(chance, _TARGETS, table, chain, protocol)
    if found is None:
        return None
    if found.draw.beside is not None:
        matches = fields.get("matches")
        fields["matches"] = (*(matches if isinstance(matches, tuple) else ()), found.draw.beside)
    return Target(found.name, found.draw.options)


def _draw(
    chance: Random, extensions: tuple[_Drawn, ...], table: str, chain: str, protocol: int
) -> _Drawn | None:
    if chance.random() >= RARE:
        return None
    allowed = [each for each in extensions if _may_stand(each, table, chain, protocol)]
    return chance.choice(allowed)


def _may_stand(each: _Drawn, table: str, chain: str, protocol: int) -> bool:
    draw = each.draw
    if draw.chains and chain not in draw.chains:
        return False
    if draw.tables and table not in draw.tables:
        return False
    return draw.protocol in {0, protocol}


def draw_rare_protocol(chance: Random) -> tuple[int, Match] | None:
    """Draw a protocol that none of the cases speaks with its own match, now and then: neither ever
    matches.
    """
    if chance.random() >= RARE / 2:
        return None
    found = chance.choice([each for each in _MATCHES if each.draw.protocol in _UNSPOKEN])
    return found.draw.protocol, Match(found.name, found.draw.options)
