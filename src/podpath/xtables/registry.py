"""Every extension that is whole in one module. A new one is its module and a line here."""

from __future__ import annotations

from podpath.xtables import length, mark, pkttype, tos, ttl
from podpath.xtables.extension import MatchExtension

MATCHES: tuple[MatchExtension, ...] = (
    mark.MATCH,
    length.MATCH,
    pkttype.MATCH,
    ttl.TTL,
    ttl.HL,
    tos.TOS,
    tos.DSCP,
)
