"""What `wg show` tells of WireGuard devices to those devices: keys, ports, and peers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.records import HeadingRecord, StatementRecord
from podpath.net.addresses import Address
from podpath.net.statements import WireguardInterface, WireguardPeer
from podpath.node.links import KeyedPeer, Wireguard

_NEVER = ("", "(none)", "Never")


def assemble_wireguard(draft: NodeDraft, evidence: ReadSources) -> None:
    """Put what is shown of a device's keys to it; of two outputs that differ neither counts."""
    found: dict[tuple[str, str], list[Wireguard]] = {}
    for scene in evidence.scenes:
        if scene.is_elsewhere:
            continue
        for name, device in _read_devices(scene):
            found.setdefault((scene.netns, name), []).append(device)
    for (netns, name), devices in found.items():
        drafted = draft.netns(netns).links
        link = next((one for one in drafted.values() if one.name == name), None)
        if link is None or link.kind not in {"", "wireguard"}:
            continue
        if all(_says(device) == _says(devices[0]) for device in devices):
            drafted[link.name] = replace(link, kind="wireguard", wireguard=devices[0])


def _says(device: Wireguard) -> object:
    """Return what of a device does not depend on when and where it was shown."""
    peers = [replace(peer, span=None, shook_hands=False) for peer in device.peers]
    return replace(device, span=None, peers=()), peers


def _read_devices(scene: ReadSource) -> Iterator[tuple[str, Wireguard]]:
    """Yield the devices of one output, each with its peers."""
    stated = scene.reading.of(StatementRecord)
    headings = scene.reading.of(HeadingRecord)
    whole = not scene.reading.gaps and not any(heading.partial for heading in headings)
    for record in stated:
        device = record.statement
        if not isinstance(device, WireguardInterface):
            continue
        peers = tuple(_make_peers(stated, device))
        yield (
            device.link,
            Wireguard(
                key=device.key,
                port=device.port,
                mark=device.mark,
                peers=peers,
                complete=whole,
                span=record.span,
            ),
        )


def _make_peers(
    stated: Sequence[StatementRecord], device: WireguardInterface
) -> Iterator[KeyedPeer]:
    for record in stated:
        peer = record.statement
        if not isinstance(peer, WireguardPeer) or peer.link != device.link:
            continue
        endpoint, port = _parse_endpoint(peer.endpoint)
        yield KeyedPeer(
            key=peer.key,
            endpoint=endpoint,
            port=port,
            allowed=peer.allowed,
            preshared=peer.preshared,
            shook_hands=peer.handshake not in _NEVER,
            span=record.span,
        )


def _parse_endpoint(text: str) -> tuple[Address | None, int]:
    """Read `192.0.2.2:51820` or `[fd00::2]:51820`; none where it has none."""
    address, _, port = text.rpartition(":")
    try:
        return Address.parse(address.strip("[]")), int(port)
    except ValueError:
        return None, 0
