"""The checks that look at captures alone, without the ones that look at nodes: who has only
captures need not load those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType

from podpath.capture.connections import gather_traffic
from podpath.checks.captured import CapturedTraffic
from podpath.checks.captures import (
    answered_from_elsewhere,
    asymmetric_path,
    handshake_repeated,
    icmp_error,
    lost_ack,
    lost_between,
    one_way,
    path_mtu,
    refused,
    reset_storm,
    unanswered,
    untranslated_reply,
)
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.links import (
    checksum_received,
    duplicate_address,
    gratuitous_arp,
    mac_flap,
    wrong_mac,
)
from podpath.checks.tunnels import checksum_offload, vxlan_outer
from podpath.net.provenance import Gap, GapKind
from podpath.node.case import Case

Look = Callable[[Case, CapturedTraffic], Iterator[Finding]]

LOOKS: tuple[Look, ...] = (
    untranslated_reply.look,
    answered_from_elsewhere.look,
    duplicate_address.look,
    wrong_mac.look,
    one_way.look,
    lost_between.look,
    lost_ack.look,
    handshake_repeated.look,
    path_mtu.look,
    reset_storm.look,
    refused.look,
    unanswered.look,
    icmp_error.look,
    mac_flap.look,
    gratuitous_arp.look,
    vxlan_outer.look,
    asymmetric_path.look,
    checksum_received.look,
    checksum_offload.look,
)
"""In the order of the manual, which `checks.registry` keeps."""
SYMPTOMS = frozenset({refused.look, unanswered.look})
"""Failures that a diagnosis explains by itself, by walks: they are told of captures alone."""
ALONE: Mapping[Look, Look] = MappingProxyType(
    {handshake_repeated.look: handshake_repeated.look_alone}
)
"""What looks in the place of another at captures alone."""
PRESENT = frozenset(
    {
        duplicate_address.look,
        refused.look,
        icmp_error.look,
        mac_flap.look,
        gratuitous_arp.look,
        vxlan_outer.look,
        checksum_received.look,
        checksum_offload.look,
    }
)
"""What rests on packets that are there; all else rests on some that are not."""
POSSIBLE = 0.5
"""The certainty of what rests on packets that whoever captured or exported them may have left
out.
"""
ASK_FOR_ALL = FollowUp(
    "whether the packets that are missing passed here",
    "tcpdump -nni DEVICE -s 0 -B 16384 -w FILE  # no filter, no sample, nothing exported from it",
    "they are in the whole capture: nothing is wrong here; they are not: it is as reported",
)


def look_at_captures(
    case: Case, traffic: CapturedTraffic | None = None, *, alone: bool = False
) -> Iterator[Finding]:
    """Say what the captures of a case show by themselves, the faults in the manual's order;
    `alone`, where nothing else tells of what fails. `traffic` where it was gathered already.
    """
    traffic = gather_traffic(case.sightings) if traffic is None else traffic
    if not (traffic.flows or case.arps or case.lost):  # what is lost need not be shown besides
        return
    gaps = _list_left_out(case.gaps)
    for look in LOOKS:
        if look in SYMPTOMS and not alone:
            continue
        found = (ALONE.get(look, look) if alone else look)(case, traffic)
        if look in PRESENT or not gaps:
            yield from found
            continue
        known = {GapKind.DROPPED} if look is lost_between.look else frozenset()
        asks = (ASK_FOR_ALL,) if alone else ()  # else walks ask for what decides
        yield from (_doubt(one, gaps, known, asks) for one in found)


def _list_left_out(gaps: Iterable[Gap]) -> Mapping[str, list[Gap]]:
    """Return by source what says that packets of it are missing."""
    found: dict[str, list[Gap]] = defaultdict(list)
    for gap in gaps:
        if gap.kind in (GapKind.DROPPED, GapKind.SELECTED):
            found[gap.span.source.name].append(gap)
    return found


def _doubt(
    found: Finding,
    gaps: Mapping[str, list[Gap]],
    known: AbstractSet[GapKind],
    asks: tuple[FollowUp, ...],
) -> Finding:
    """Return a finding, possible only where it quotes a capture that packets are missing from,
    other than those of the kinds that its check `known` reckons with.
    """
    quoted = dict.fromkeys(span.source.name for span in found.evidence)
    why = [gap for name in quoted for gap in gaps.get(name, ()) if gap.kind not in known]
    if not why:
        return found
    return replace(
        found,
        certainty=min(found.certainty, POSSIBLE),
        evidence=(*found.evidence, *(gap.span for gap in why if gap.span.text.strip())),
        reasoning=(
            *found.reasoning,
            *(f"{gap.span.source.name} may lack what is missed here: {gap.why}." for gap in why),
        ),
        asks=found.asks or asks,
    )
