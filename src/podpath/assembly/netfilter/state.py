"""Readings of iptables, ipset and conntrack of one network namespace to what netfilter holds in it.

Several outputs may mention one chain, in part, at different times, or on different hosts. Where
they agree they are one known chain; where they differ the chain is an unknown fact whose options
say which output shows what. What no output shows is marked as not complete, so that a walk asks for
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podpath.assembly.netfilter.conntrack import assemble_conntrack
from podpath.assembly.netfilter.nftables import assemble_nftables
from podpath.assembly.netfilter.rulesets import assemble_rulesets
from podpath.assembly.netfilter.sets import assemble_sets
from podpath.evidence.records import Reading
from podpath.net.addresses import Family
from podpath.net.provenance import Gap, Listing, Source
from podpath.node.case import Contradiction
from podpath.node.netfilter import ConntrackEntry, Netfilter
from podpath.node.nftables import NftTable
from podpath.node.node import HOST

_FAMILIES: tuple[Family, ...] = (4, 6)


class NetfilterAssembly(NamedTuple):
    """What the evidence says about netfilter in one namespace."""

    netfilter: Mapping[Family, Netfilter]
    """By family; a family that no output speaks of is missing."""
    conntrack: Listing[ConntrackEntry]
    gaps: tuple[Gap, ...]
    """What could not be translated; the readers' own gaps are not among them."""
    contradictions: tuple[Contradiction, ...]
    nftables: Listing[NftTable] = Listing((), False, "nft -a list ruleset")
    """Native tables."""


def assemble_netfilter(
    readings: Iterable[tuple[Source, Reading]], *, netns: str = HOST
) -> NetfilterAssembly:
    """Put together all that the readings of one namespace say about iptables tables, sets and
    tracked connections.

    Readings of other formats may be among them and are passed over. `netns` is the namespace's
    name, for the questions.
    """
    read = tuple(readings)
    sets = assemble_sets(read)
    conntrack = assemble_conntrack(read)
    gaps = [*sets.gaps, *conntrack.gaps]
    contradictions: list[Contradiction] = []
    families: dict[Family, Netfilter] = {}
    for family in _FAMILIES:
        rulesets = assemble_rulesets(read, family, netns)
        gaps += rulesets.gaps
        contradictions += rulesets.contradictions
        own_sets = sets.by_family.get(family, {})
        if rulesets.tables or rulesets.complete or own_sets:
            families[family] = Netfilter(
                tables=rulesets.tables,
                complete=rulesets.complete,
                ask=rulesets.ask,
                sets=own_sets,
                sets_complete=sets.complete,
            )
    native = assemble_nftables(read, families)
    gaps += native.gaps
    return NetfilterAssembly(
        families, conntrack.listing, tuple(gaps), tuple(contradictions), native.listing
    )
