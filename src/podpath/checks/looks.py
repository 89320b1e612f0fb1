"""The checks that look at captures alone, without the ones that look at nodes: who has only
captures need not load those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from podpath.checks.finding import Finding
from podpath.checks.links import (
    checksum_received,
    duplicate_address,
    gratuitous_arp,
    mac_flap,
    wrong_mac,
)
from podpath.checks.tunnels import checksum_offload, vxlan_outer
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


def look_at_captures(
    case: Case, traffic: CapturedTraffic | None = None, *, alone: bool = False
) -> Iterator[Finding]:
    """Say what the captures of a case show by themselves, the faults in the manual's order;
    `alone`, where nothing else tells of what fails. `traffic` where it was gathered already.
    """
    traffic = gather_traffic(case.sightings) if traffic is None else traffic
    if not (traffic.flows or case.arps or case.lost):  # what is lost need not be shown besides
        return
    for look in LOOKS:
        if look in SYMPTOMS and not alone:
            continue
        yield from (ALONE.get(look, look) if alone else look)(case, traffic)
