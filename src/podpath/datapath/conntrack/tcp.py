"""The TCP state machine of conntrack, as a table, and the checks around it
(nf_conntrack_proto_tcp.c v6.12).

Windows: a walk's packets are taken to fit the advertised windows, so of `tcp_in_window` only one
check is left: an ACK of data that conntrack has not seen, which is what a one-way bypass of
conntrack looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from podpath.datapath.conntrack.connection import Connection, TcpTracking
from podpath.datapath.conntrack.settings import ConntrackSettings
from podpath.datapath.reasons import tracking
from podpath.datapath.reasons.tracking import InvalidReason, TrackingNote
from podpath.net import protocols
from podpath.net.packet import Packet

NONE = "NONE"
SYN_SENT = "SYN_SENT"
SYN_RECV = "SYN_RECV"
ESTABLISHED = "ESTABLISHED"
FIN_WAIT = "FIN_WAIT"
CLOSE_WAIT = "CLOSE_WAIT"
LAST_ACK = "LAST_ACK"
TIME_WAIT = "TIME_WAIT"
CLOSE = "CLOSE"
SYN_SENT2 = "SYN_SENT2"
STATES = (
    NONE, SYN_SENT, SYN_RECV, ESTABLISHED, FIN_WAIT, CLOSE_WAIT, LAST_ACK, TIME_WAIT, CLOSE,
    SYN_SENT2,
)  # fmt: skip
INVALID, IGNORE = "sIV", "sIG"

_NAMES: Mapping[str, str] = {
    "NO": NONE, "SS": SYN_SENT, "SR": SYN_RECV, "ES": ESTABLISHED, "FW": FIN_WAIT, "CW": CLOSE_WAIT,
    "LA": LAST_ACK, "TW": TIME_WAIT, "CL": CLOSE, "S2": SYN_SENT2, "IV": INVALID, "IG": IGNORE,
}  # fmt: skip
_TABLE = """
           NO SS SR ES FW CW LA TW CL S2
original
syn        SS SS IG IG IG IG IG SS SS S2
syn-ack    IV IV SR IV IV IV IV IV IV SR
fin        IV IV FW FW LA LA LA TW CL IV
ack        ES IV ES ES CW CW TW TW CL IV
rst        IV CL CL CL CL CL CL CL CL CL
none       IV IV IV IV IV IV IV IV IV IV
reply
syn        IV S2 IV IV IV IV IV SS IV S2
syn-ack    IV SR IG IG IG IG IG IG IG SR
fin        IV IV FW FW LA LA LA TW CL IV
ack        IV IG SR ES CW CW TW TW CL IG
rst        IV CL CL CL CL CL CL CL CL CL
none       IV IV IV IV IV IV IV IV IV IV
"""
"""`tcp_conntracks`: by direction and kind of packet, the next state for each state in the first
line.
"""


def _read_table() -> dict[tuple[bool, str, str], str]:
    table: dict[tuple[bool, str, str], str] = {}
    columns: list[str] = []
    reply = False
    for line in _TABLE.strip().splitlines():
        words = line.split()
        if not columns:
            columns = [_NAMES[word] for word in words]
        elif len(words) == 1:
            reply = words[0] == "reply"
        else:
            table.update(
                {
                    (reply, words[0], state): _NAMES[word]
                    for state, word in zip(columns, words[1:], strict=True)
                }
            )
    return table


TRANSITIONS: Mapping[tuple[bool, str, str], str] = _read_table()
"""(reply direction, kind of packet, state) to the next state, `sIV` (invalid) or `sIG` (ignored,
let through).
"""

_URG = protocols.URG
VALID_FLAGS = frozenset(
    flags | urgent
    for flags, urgents in (
        (protocols.SYN, (0, _URG)), (protocols.SYN | protocols.ACK, (0,)), (protocols.RST, (0,)),
        (protocols.RST | protocols.ACK, (0,)), (protocols.FIN | protocols.ACK, (0, _URG)),
        (protocols.ACK, (0, _URG)),
    )
    for urgent in urgents
)  # fmt: skip
"""`tcp_valid_flags`: every other combination is invalid."""
_CHECKED_FLAGS = protocols.FIN | protocols.SYN | protocols.RST | protocols.ACK | protocols.URG


class Ruling(NamedTuple):
    """What the tracker says of one segment."""

    valid: bool
    invalid: InvalidReason | None = None
    """Why it is invalid."""
    note: TrackingNote | None = None
    """What else there is to say of one that is valid."""
    repeat: bool = False
    """The old entry is to be deleted, and the packet looked up again (NF_REPEAT)."""
    kill: bool = False
    """The entry ends with this packet: a reset before any reply."""


OK = Ruling(valid=True)


def segment_kind(flags: int) -> str:
    """Return the table's row for a segment's flags (`get_conntrack_index`)."""
    if flags & protocols.RST:
        return "rst"
    if flags & protocols.SYN:
        return "syn-ack" if flags & protocols.ACK else "syn"
    if flags & protocols.FIN:
        return "fin"
    return "ack" if flags & protocols.ACK else "none"


def check_flags(packet: Packet) -> Ruling:
    """Tell whether the flags are a combination that TCP knows (`tcp_error`)."""
    if packet.flags & _CHECKED_FLAGS in VALID_FLAGS:
        return OK
    return Ruling(False, tracking.BadFlags())


def open_connection(connection: Connection, packet: Packet, settings: ConntrackSettings) -> Ruling:
    """Begin to track a connection with its first segment (`tcp_new`)."""
    kind = segment_kind(packet.flags)
    new_state = TRANSITIONS[False, kind, NONE]
    if new_state in {INVALID, IGNORE}:
        return Ruling(False, tracking.OfNoConnection(kind))
    if new_state != SYN_SENT and not settings.loose:
        return Ruling(False, tracking.NotPickedUp())
    connection.state = NONE
    connection.progress = progress = TcpTracking()
    progress.liberal = new_state != SYN_SENT
    progress.ends[0] = _end(packet)
    return OK


def track_segment(
    connection: Connection, packet: Packet, settings: ConntrackSettings, *, reply: bool
) -> Ruling:
    """Move the connection on by one segment (`nf_conntrack_tcp_packet`)."""
    progress = connection.progress or TcpTracking()
    connection.progress = progress
    kind = segment_kind(packet.flags)
    old_state = connection.state or NONE
    new_state = TRANSITIONS[reply, kind, old_state]
    if new_state == INVALID:
        return Ruling(False, tracking.OutOfState(kind, old_state, reply))
    if new_state == SYN_SENT and old_state in {TIME_WAIT, CLOSE}:
        if _may_reopen(connection, progress, reply=reply):
            return Ruling(True, note=tracking.OpenedAnew(), repeat=True)
        new_state = IGNORE
    if new_state == IGNORE and not _is_in_step(progress, packet, kind, reply=reply):
        progress.last_kind, progress.last_reply = kind, reply
        return Ruling(True, note=tracking.LetThrough(kind, old_state))
    if new_state == IGNORE or (
        new_state == SYN_RECV and kind == "ack" and reply and progress.simultaneous
    ):
        new_state = SYN_RECV if new_state == IGNORE else ESTABLISHED
    if new_state == CLOSE and kind == "rst":
        ruling, new_state = _judge_reset(connection, packet, settings, reply=reply)
        if not ruling.valid:
            return ruling
    ruling = _judge_window(progress, packet, settings, reply=reply)
    if not ruling.valid:
        return ruling
    return _settle(connection, progress, (kind, reply, old_state, new_state))


def _settle(
    connection: Connection, progress: TcpTracking, change: tuple[str, bool, str, str]
) -> Ruling:
    kind, reply, old_state, new_state = change
    progress.last_kind, progress.last_reply = kind, reply
    connection.state = new_state
    progress.simultaneous = progress.simultaneous or new_state == SYN_SENT2
    if new_state == FIN_WAIT and old_state != new_state:
        progress.close_init = True
    if not connection.seen_reply:
        if kind == "rst":
            return Ruling(True, note=tracking.EndedByReset(), kill=True)
        return OK
    if old_state in {SYN_RECV, ESTABLISHED} and new_state == ESTABLISHED:
        connection.assured = True
    return OK


def _may_reopen(connection: Connection, progress: TcpTracking, *, reply: bool) -> bool:
    if connection.span is not None and progress.last_kind == "none":
        # An entry of the evidence that is closing has seen a FIN or a reset.
        return True
    return progress.close_init or (progress.last_kind == "rst" and progress.last_reply is reply)


def _is_in_step(progress: TcpTracking, packet: Packet, kind: str, *, reply: bool) -> bool:
    """Tell whether a SYN-ACK answers the SYN that was ignored before: conntrack gets in step with
    it then.
    """
    answers = kind == "syn-ack" and progress.last_kind == "syn" and progress.last_reply is not reply
    return answers and packet.ack == 1


def _judge_reset(
    connection: Connection, packet: Packet, settings: ConntrackSettings, *, reply: bool
) -> tuple[Ruling, str]:
    progress = connection.progress or TcpTracking()
    highest = progress.max_acks[not reply]
    if (
        highest is None
        or progress.last_kind == "syn"
        or connection.state not in {SYN_RECV, ESTABLISHED, SYN_SENT}
    ):
        return OK, CLOSE
    if packet.seq < highest and not settings.ignore_invalid_rst:
        return Ruling(False, tracking.ResetBehind(packet.seq, highest)), CLOSE
    if connection.state != ESTABLISHED or packet.seq == highest:
        return OK, CLOSE
    return OK, connection.state


def _judge_window(
    progress: TcpTracking, packet: Packet, settings: ConntrackSettings, *, reply: bool
) -> Ruling:
    """Check that the segment acknowledges no data that conntrack has not seen (`tcp_in_window`)."""
    receiver_end = progress.ends[not reply]
    if packet.flags & protocols.ACK:
        if receiver_end is None:
            progress.ends[not reply] = receiver_end = packet.ack
        liberal = progress.liberal or packet.flags & protocols.RST
        if packet.ack > receiver_end and not liberal and not settings.be_liberal:
            return Ruling(False, tracking.UnseenData(packet.ack, receiver_end))
        progress.max_acks[reply] = max(packet.ack, progress.max_acks[reply] or 0)
    progress.ends[reply] = max(_end(packet), progress.ends[reply] or 0)
    return OK


def _end(packet: Packet) -> int:
    return (
        packet.seq + packet.payload + (1 if packet.flags & (protocols.SYN | protocols.FIN) else 0)
    )
