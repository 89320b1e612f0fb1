"""Drops as terminal text: what the kernel did to a packet, what of the model did it, and how
often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from podpath.diagnosis.freed import FILTERED, DropAgreement, DropExplanation
from podpath.drops.events import DropKey, DropNames, DropNotes
from podpath.drops.tally import FlowCount
from podpath.net import protocols
from podpath.report.escape import escape
from podpath.report.owner_words import render_owned
from podpath.report.quotes import quote
from podpath.report.sentences import spell_failure, spell_reason
from podpath.report.style import Style

MEANINGS: dict[str, str] = {
    "TCP_CSUM": "the TCP checksum is wrong: the packet was damaged, or an offload is broken",
    "UDP_CSUM": "the UDP checksum is wrong: the packet was damaged, or an offload is broken",
    "ICMP_CSUM": "the ICMP checksum is wrong",
    "IP_CSUM": "the checksum of the IP header is wrong",
    "SKB_CSUM": "the checksum could not be computed",
    "SOCKET_RCVBUFF": "the socket's receive buffer is full: its program does not read fast enough",
    "SOCKET_BACKLOG": "the socket's backlog is full",
    "PROTO_MEM": "the protocol's memory is used up (net.ipv4.tcp_mem, udp_mem)",
    "TCP_LISTEN_OVERFLOW": (
        "the queue of the listening socket is full: its program accepts too slowly"
    ),
    "TRANSPORT": (
        "its protocol dropped it without a reason; if it opened a connection, the listening "
        "socket's queue may be full (ss -ltn)"
    ),
    "QDISC_DROP": "the device's qdisc dropped it (tc -s qdisc)",
    "QDISC_OVERLIMIT": "the device's qdisc is full or over its rate (tc -s qdisc)",
    "QDISC_CONGESTED": "the device's qdisc is congested (tc -s qdisc)",
    "CPU_BACKLOG": "the CPU's backlog is full (net.core.netdev_max_backlog)",
    "FULL_RING": "the ring of a tun or veth device is full",
    "TC_INGRESS": "a program or filter on the device's ingress dropped it (tc filter show ingress)",
    "TC_EGRESS": "a program or filter on the device's egress dropped it (tc filter show egress)",
    "XDP": "the XDP program of the device dropped it (ip link, bpftool net)",
    "BRIDGE_CHAIN": (
        "a chain of the bridge family may have dropped it; podpath does not walk those (nft list "
        "tables bridge)"
    ),
    "XFRM_POLICY": "an IPsec policy blocks it, or wants it encrypted (ip xfrm policy)",
    "BPF_CGROUP_EGRESS": "a BPF program of the process's cgroup dropped it",
    "VXLAN_VNI_NOT_FOUND": "no VXLAN device on that port of the node has the packet's VNI",
    "NEIGH_FAILED": "the next hop does not answer neighbor resolution on the device (ip neigh)",
    "NEIGH_QUEUEFULL": "too many packets wait for the neighbor's answer",
    "NEIGH_DEAD": "the neighbor entry was removed while it waited",
    "PKT_TOO_SMALL": "the packet is shorter than its headers",
    "IP_NOPROTO": "nothing handles that protocol number",
    "NOMEM": "the kernel was out of memory",
    "DEV_READY": "the device is down",
}
"""What reasons outside the model mean."""
SUMMARY_ROWS = 20
BARE = DropNotes()
OLD = 60.0
"""Seconds since the node was read from which on every answer says so."""
_UNFIT = (DropAgreement.DISAGREES, DropAgreement.OTHERWISE)
_NO_PORT = re.compile(r":0(?= |$)")
_WITH_PORTS = (protocols.TCP, protocols.UDP, protocols.SCTP)


def render_drop(
    key: DropKey,
    function: str,
    found: DropExplanation,
    style: Style,
    *,
    clock: str,
    notes: DropNotes = BARE,
) -> str:
    """Render a drop: when, why in the kernel's word, where, which packet, and what did it.

    What a model says that was read before the drop may be out of date: its age is told.
    """
    names, age = notes.names, notes.age
    netns = names.pod or found.netns
    place = f" in {escape(netns)}" if netns else ""
    device = f" on {escape(found.link)}" if found.link else ""
    reason = style.paint("bad", escape(key.reason))
    head = f"{clock} {reason} {escape(str(key))}{spell_ends(names)}{place}{device} "
    head += f"({escape(function)})"
    said = spell_drop(key, found)
    if age > OLD or (age and found.agreement in _UNFIT):
        said = f"by the node's state read {age:.0f} s earlier: {said}"
    elif found.agreement is DropAgreement.DISAGREES and not _is_full(key, found):
        said += ": podpath and this kernel disagree (--save DIR keeps what shows it)"
    lines = [head, *style.wrap(said, "    ")]
    lines += [
        f"    {style.paint('dim', escape(quote(span)))}" for span in dict.fromkeys(found.spans)
    ]
    lines += render_owned(found.owners.list_owned(found.spans), style, "    ")
    return "\n".join(lines) + "\n"


def _is_full(key: DropKey, found: DropExplanation) -> bool:
    """Tell whether the lines of a drop that the model does not have are those of a full table."""
    return key.reason == FILTERED and bool(found.spans)


def spell_ends(names: DropNames) -> str:
    """Spell which pods a packet is from and to, as far as the node knows them."""
    source = f" from {escape(names.source)}" if names.source else ""
    return source + (f" to {escape(names.target)}" if names.target else "")


def spell_drop(key: DropKey, found: DropExplanation) -> str:
    """Say in words what the model makes of a drop."""
    step = found.step
    said = "" if step is None else f"{escape(step.stage)}: {escape(spell_reason(step.reason))}"
    match found.agreement:
        case DropAgreement.NAMED if found.unheard is not None:
            return escape(spell_failure(found.unheard))
        case DropAgreement.NAMED:
            return said
        case DropAgreement.OTHERWISE:
            place = escape(step.netns) if step is not None else ""
            return f"the model ends it too, but in another way, in {place}: {said}"
        case DropAgreement.UNDECIDED:
            return f"undecided: {said}"
        case DropAgreement.DISAGREES if _is_full(key, found):
            return "no rule of the model drops it, and the connection tracking table is full"
        case DropAgreement.DISAGREES:
            return "the model lets it pass"
        case DropAgreement.ELSEWHERE if found.netns:
            return "not an IP packet that the model can walk"
        case DropAgreement.ELSEWHERE if not key.inode:
            return "in a namespace that is not known"
        case DropAgreement.ELSEWHERE:
            return "in none of this node's namespaces"
        case DropAgreement.OUTSIDE:
            return MEANINGS.get(found.reason or key.reason, "a reason outside the model")


def spell_place(names: DropNames) -> str:
    """Spell where a packet was dropped; empty where the node does not know."""
    if names.netns:
        return f" in {escape(names.pod or names.netns)}"
    return ""


def spell_flow(key: DropKey) -> str:
    """Spell a flow of drops, with `*` for the ports that clients drew."""
    if key.protocol in _WITH_PORTS:
        return _NO_PORT.sub(":*", str(key))
    return str(key)


def render_rates(
    flows: Sequence[FlowCount],
    names: Iterable[DropNames],
    seconds: float,
    style: Style,
    clock: str,
) -> str:
    """Render what a turn came to, a line for each flow, with the names of each."""
    lines = [
        f"{clock} {one.packets / max(seconds, 0.001):8.1f}/s {escape(one.key.reason)} "
        f"{escape(spell_flow(one.key))}{spell_ends(name)}{spell_place(name)}"
        for one, name in zip(flows, names, strict=False)
    ]
    left = len(flows) - len(lines)
    if left > 0:
        lines.append(f"{clock} and {left} more flows")
    return "".join(f"{style.paint('dim', line)}\n" for line in lines)


def render_losses(unheard: int, uncounted: int, unsent: int) -> str:
    """Say what of the drops was not told in full; empty where all was."""
    parts = [
        f"{unheard} not received" if unheard else "",
        f"{uncounted} not counted for any flow" if uncounted else "",
        f"{unsent} flows counted without a sample packet" if unsent else "",
    ]
    return ", ".join(part for part in parts if part)
