"""Connections that the conntrack table shows to hang: a SYN that passed, and no reply that
conntrack saw.

Any node has such entries for a moment. Who asked for the entries of one address, by a grep or a
selector, looked for this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.records import ConntrackRecord
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import FailureKind, breaks_path
from podpath.net.probe import EPHEMERAL, Probe
from podpath.node.case import Attempt

_SELECTORS = frozenset(
    [
        "-s",
        "-d",
        "-r",
        "-q",
        "-p",
        "-g",
        "-j",
        "--src",
        "--dst",
        "--orig-src",
        "--orig-dst",
        "--reply-src",
        "--reply-dst",
        "--sport",
        "--dport",
        "--orig-port-src",
        "--orig-port-dst",
        "--dst-nat",
        "--any-nat",
        "--state",
    ]
)
"""Options of conntrack(8) that pick entries."""


def find_tracked(
    draft: NodeDraft, evidence: ReadSources, shown: Iterable[Attempt]
) -> Iterator[Attempt]:
    """Yield the hanging connections that a selected part of the table shows, unless an attempt
    shows them already.
    """
    known = {
        (item.probe.src, item.probe.dst, item.probe.dport)
        for item in shown
        if breaks_path(item.result)
    }
    for scene, record in evidence.records(ConntrackRecord):
        if not _hangs(record) or scene.is_elsewhere or not is_selected(scene):
            continue
        original = record.original
        key = (original.src, original.dst, original.dport or 0)
        if key in known:
            continue
        known.add(key)
        owner = draft.owner(original.src)
        probe = Probe(
            record.protocol,
            original.src,
            original.dst,
            original.sport or EPHEMERAL,
            original.dport or 0,
            netns=None if owner is None else owner.name,
        )
        who = "conntrack: the SYN passed, no reply was seen"
        yield Attempt(
            probe=probe, result=FailureKind.TIMEOUT, span=record.span, who=who, passed=True
        )


def is_selected(scene: ReadSource) -> bool:
    """Tell whether the output shows the entries that somebody looked for."""
    return bool(scene.command.filters) or any(
        word in _SELECTORS for word in scene.command.arguments
    )


def _hangs(record: ConntrackRecord) -> bool:
    return (
        record.unreplied
        and record.protocol == protocols.TCP
        and record.state in {"SYN_SENT", "SYN_SENT2"}
        and record.original.dport is not None
        and _is_unicast(record.original.dst)
    )


def _is_unicast(address: Address) -> bool:
    return not (address.is_multicast or address.is_unspecified)
