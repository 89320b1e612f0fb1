"""Frames of captures, each placed: in which namespace, on which device, and in which capture it was
seen.

Articles print one capture twice, once as it is and once with words for its MACs (`GATEWAY_MAC`):
the frames are the same, so they are kept once, and the pairs tell what the words stand for. A word
that no pair explains stays as its own MAC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, groupby
from types import MappingProxyType
from typing import NamedTuple

from podpath.assembly.captures.networks import join_networks
from podpath.assembly.devices.names import looks_like_device
from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.capture.connections import CapturedConnection, CapturedFlow, gather_flows, join_flows
from podpath.evidence.records import PacketRecord
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.node.case import ArpOperation, ArpSighting, Sighting

BROADCAST = Mac("ff:ff:ff:ff:ff:ff")
_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}", re.IGNORECASE)
_NOWHERE = Address(4, 0)
_OPERATIONS = {operation.value: operation for operation in ArpOperation}
_SMAC = Packet._fields.index("smac")
"""The place of the source's MAC in a packet; the destination's follows."""


class CaptureOrigin(NamedTuple):
    """Where and how one capture was taken."""

    number: int
    netns: str
    link: str | None
    """The one device that it was taken on; None for `-i any` and where the evidence does not
    say.
    """


class Sightings(NamedTuple):
    """All frames of a case, in the order of the evidence."""

    packets: tuple[Sighting, ...]
    arps: tuple[ArpSighting, ...]
    captures: tuple[CaptureOrigin, ...]
    elsewhere: frozenset[int] = frozenset()
    """Captures that were taken on another host."""
    connections: tuple[CapturedConnection[Sighting], ...] = ()
    """What each capture of this host shows by itself: NAT between two captures joins nothing."""
    words: Mapping[str, Mac] = MappingProxyType({})
    """The MACs behind words that are printed in their place."""


def assemble_sightings(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> Sightings:
    """Place all frames that the evidence shows."""
    shown = list(evidence.records(PacketRecord))
    records = [record for _, record in shown]
    words = _explain_words(draft, records) if _has_words(records) else {}
    captures: dict[tuple[str, object], CaptureOrigin] = {}
    elsewhere: set[int] = set()
    frames = _FrameDraft(words, disputes)
    place = 0
    for _, run in groupby(shown, key=lambda one: id(one[0])):
        together = list(run)
        scene = together[0][0]
        capture = _find_capture(scene, draft, evidence, captures)
        if scene.is_elsewhere:
            elsewhere.add(capture.number)
        for _, record in together:
            frames.add(record, capture, place)
            place += 1
    packets = join_networks(tuple(frames.packets.values()))
    ours = _connect(seen for seen in packets if seen.capture not in elsewhere)
    return Sightings(
        packets=packets,
        arps=tuple(frames.arps.values()),
        captures=tuple(captures.values()),
        elsewhere=frozenset(elsewhere),
        connections=ours,
        words=words,
    )


class _FrameDraft:
    """The frames read so far, each once however often it is printed."""

    def __init__(self, words: Mapping[str, Mac], disputes: Disputes) -> None:
        self._words = words
        self._macs: dict[str | None, Mac | None] = {}
        self._disputes = disputes
        self._askers: dict[tuple[int, Address], Address] = {}
        self.packets: dict[tuple[object, ...], Sighting] = {}
        self.arps: dict[tuple[object, ...], ArpSighting] = {}

    def add(self, record: PacketRecord, capture: CaptureOrigin, place: int) -> None:
        """Add a frame of a capture; what says nothing of a packet's path is a gap."""
        key = (capture.number, *_identity(record), place if record.time is None else None)
        if record.arp is not None:
            arp = _make_arp(record, capture, self._words, self._askers)
            if arp is None:
                why = "expected an ARP frame with its sender, saw none"
                self._disputes.gap(record.span, why)
            else:
                self.arps.setdefault(key, arp)
        elif record.packet is None:
            why = "a frame that is neither IP nor ARP: it says nothing about the path of a packet"
            self._disputes.gap(record.span, why)
        else:
            self._add_packet(key, record, record.packet, capture)

    def _read_mac(self, text: str | None) -> Mac | None:
        if text not in self._macs:
            self._macs[text] = _read_mac(text, self._words)
        return self._macs[text]

    def _add_packet(
        self,
        key: tuple[object, ...],
        record: PacketRecord,
        packet: Packet,
        capture: CaptureOrigin,
    ) -> None:
        """Add a packet; of two printings of it, the first with its MAC counts."""
        smac, dmac = (self._read_mac(text) for text in (record.smac, record.dmac))
        known = self.packets.get(key)
        if known is not None and (known.packet.smac is not None or smac is None):
            return
        if (packet.smac, packet.dmac) != (smac, dmac):
            packet = packet._replace(smac=smac, dmac=dmac)
        self.packets[key] = Sighting(
            packet=packet,
            span=record.span,
            time=record.time,
            netns=capture.netns,
            link=record.link or capture.link,
            direction=record.direction.lower() if record.direction else None,
            capture=capture.number,
            tunnel=record.tunnel,
            mtu=record.mtu,
            wrong_sum=record.wrong_sum,
        )


def _connect(frames: Iterable[Sighting]) -> tuple[CapturedConnection[Sighting], ...]:
    """Put frames together to connections, those of each capture by themselves."""
    by_capture: dict[int, list[CapturedFlow[Sighting]]] = {}
    for flow in gather_flows(frames):
        by_capture.setdefault(flow.point.capture, []).append(flow)
    return tuple(chain.from_iterable(join_flows(flows) for flows in by_capture.values()))


def _find_capture(
    scene: ReadSource,
    draft: NodeDraft,
    evidence: ReadSources,
    captures: dict[tuple[str, object], CaptureOrigin],
) -> CaptureOrigin:
    """Return the capture that a source shows: two printings of one file are one capture."""
    file = scene.command.option("-r")
    key = (scene.netns, file if file is not None else scene.number)
    if key not in captures:
        captures[key] = CaptureOrigin(
            len(captures), scene.netns, _captured_link(scene, file, draft, evidence)
        )
    return captures[key]


def _captured_link(
    scene: ReadSource, file: str | None, draft: NodeDraft, evidence: ReadSources
) -> str | None:
    named = scene.command.option("-i", "--interface")
    if named is None:
        named = next(
            (
                word[2:]
                for word in scene.command.arguments
                if word.startswith("-i") and len(word) > 2
            ),
            None,
        )
    if named is None and file is not None:
        named = _written_on(evidence, file)
    if named is None and file is not None:
        stem = file.rpartition("/")[2].partition(".")[0]
        netns = draft.namespaces.get(scene.netns)
        known = netns is not None and stem in netns.links
        named = stem if known or looks_like_device(stem) else None
    return None if named in {None, "any"} else named


def _written_on(evidence: ReadSources, file: str) -> str | None:
    """Return the device of the capture that was written into a file (`tcpdump -i eth0 -w
    eth0.pcap`).
    """
    for scene in evidence.scenes:
        if scene.command.program == "tcpdump" and scene.command.option("-w") == file:
            return scene.command.option("-i", "--interface")
    return None


def _identity(record: PacketRecord) -> tuple[object, ...]:
    """Return what makes two lines of one capture the same frame, MACs left out."""
    packet = None if record.packet is None else _leave_out_macs(record.packet)
    arp = None if record.arp is None else record.arp._replace(sender_mac=None, target_mac=None)
    return record.time, record.link, record.direction, packet, arp


def _leave_out_macs(packet: Packet) -> tuple[object, ...]:
    return (*packet[:_SMAC], *packet[_SMAC + 2 :])


def _has_words(records: Iterable[PacketRecord]) -> bool:
    """Tell whether words are printed in place of MACs."""
    printed = {text for record in records for text in (record.smac, record.dmac)}
    return any(text is not None and not _MAC.fullmatch(text) for text in printed)


def _explain_words(draft: NodeDraft, records: Iterable[PacketRecord]) -> Mapping[str, Mac]:
    """Find the MAC behind each word: that of the same frame printed with its MACs, else of the
    device the word names.
    """
    twins: dict[tuple[object, ...], list[PacketRecord]] = {}
    for record in records:
        if record.time is not None and (record.smac is not None or record.dmac is not None):
            twins.setdefault(_identity(record), []).append(record)
    words: dict[str, Mac] = {}
    for same in twins.values():
        for one in same:
            for other in same:
                for word, mac in ((one.smac, other.smac), (one.dmac, other.dmac)):
                    if (
                        word is not None
                        and mac is not None
                        and not _MAC.fullmatch(word)
                        and _MAC.fullmatch(mac)
                    ):
                        words.setdefault(word, Mac(mac.lower()))
    for record in [record for same in twins.values() for record in same]:
        for word in (record.smac, record.dmac):
            if word is not None and word not in words and not _MAC.fullmatch(word):
                mac = _mac_of_named(draft, word)
                if mac is not None:
                    words[word] = mac
    return words


def _mac_of_named(draft: NodeDraft, word: str) -> Mac | None:
    parts = {part.lower() for part in re.split(r"[\W_]+", word) if part}
    return next(
        (
            link.mac
            for link in draft.host.links.values()
            if link.name.lower() in parts and link.mac is not None
        ),
        None,
    )


def _read_mac(text: str | None, words: Mapping[str, Mac]) -> Mac | None:
    if text is None:
        return None
    if _MAC.fullmatch(text):
        return Mac(text.lower())
    if text.lower() == "broadcast":
        return BROADCAST
    return words.get(text, Mac(text))


def _make_arp(
    record: PacketRecord,
    capture: CaptureOrigin,
    words: Mapping[str, Mac],
    askers: dict[tuple[int, Address], Address],
) -> ArpSighting | None:
    """Make the sighting of an ARP frame; a reply, which tcpdump prints without its target, goes to
    the latest who asked.
    """
    arp = record.arp
    operation = None if arp is None else _OPERATIONS.get(arp.operation.lower())
    if arp is None or arp.sender is None or operation is None:
        return None
    target = arp.target
    if target is None:
        target = askers.get((capture.number, arp.sender), _NOWHERE)
    elif operation is ArpOperation.REQUEST:
        askers[capture.number, target] = arp.sender
    smac, dmac = _read_mac(record.smac, words), _read_mac(record.dmac, words)
    return ArpSighting(
        operation=operation,
        sender=arp.sender,
        target=target,
        sender_mac=_read_mac(arp.sender_mac, words) or smac,
        target_mac=_read_mac(arp.target_mac, words),
        span=record.span,
        time=record.time,
        smac=smac,
        dmac=dmac,
        netns=capture.netns,
        link=record.link or capture.link,
        direction=record.direction.lower() if record.direction else None,
        capture=capture.number,
    )
