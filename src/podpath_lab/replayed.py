"""A kept drop on this kernel: the node that was saved is built anew, the packet comes in where it
came in, and the kernel frees it for some reason, or does not.
"""

from __future__ import annotations

import socket
from functools import partial
from typing import NamedTuple

from podpath.net.addresses import IfName, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Known
from podpath.node.links import Peer
from podpath.node.node import Node
from podpath_lab.apply import LabError, apply, has_openvswitch, inside
from podpath_lab.cases.crafted import encode_frame
from podpath_lab.conversation import Timeouts
from podpath_lab.drops import DropTracer
from podpath_lab.twin import observe_frame, plan_twin

QUIET = Timeouts(1.0)
"""How long nothing must happen before the packet is taken for done."""
_HEADER = 14
"""Bytes of an Ethernet header."""
_LOOPBACK = "lo"


class KernelAnswer(NamedTuple):
    """What this kernel did to the packet."""

    reasons: tuple[str, ...]
    """Of the IPv4 packets that it freed meanwhile, in order."""
    notes: tuple[str, ...]
    """What the twin holds otherwise than the node, one sentence each."""


def replay_packet(
    node: Node, netns: str, device: str, packet: Packet, tracer: DropTracer
) -> KernelAnswer:
    """Build the node here (a private world), and put the packet where it came in: on a device, or
    where that is empty or `lo` as one that the namespace sends. The caller ends the world.
    """
    if packet.family != 4:
        raise LabError("expected an IPv4 packet: others are not sent here")
    plan = plan_twin(node, None, openvswitch=has_openvswitch())
    apply(plan.commands)
    if device in ("", _LOOPBACK):
        send = partial(_send_from, netns, packet)
    else:
        send = partial(_send_to, plan.wired.node, netns, device, packet)
    seen = observe_frame(plan.wired.node, send, tracer, QUIET)
    return KernelAnswer(seen.drops, plan.notes)


def _send_to(node: Node, netns: str, device: str, packet: Packet) -> None:
    """Put a frame on the far end of a device."""
    links = {link.name: link for link in node.namespaces[netns].links.items}
    link = links.get(IfName(device))
    peer = link.peer if link is not None else None
    if link is None or not isinstance(peer, Known):
        raise LabError(f"{device} of {netns} has no far end here to send from")
    far: Peer = peer.value
    smac = next(
        (each.mac for each in node.namespaces[far.netns].links.items if each.name == far.link), None
    )
    frame = packet._replace(dmac=packet.dmac or link.mac, smac=packet.smac or smac)
    with inside(far.netns):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    with raw:
        raw.bind((str(far.link), 0))
        raw.send(encode_frame(frame))


def _send_from(netns: str, packet: Packet) -> None:
    """Send a packet as the namespace itself would, with the header that it has (raw(7))."""
    nobody = packet._replace(dmac=Mac("00:00:00:00:00:00"), smac=Mac("00:00:00:00:00:00"))
    with inside(netns):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    with raw:
        try:
            raw.sendto(encode_frame(nobody)[_HEADER:], (str(packet.dst), 0))
        except PermissionError:
            return  # that is how OUTPUT's drop is told to a sender
