"""What conntrack says of a packet, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import tracking
from podpath.datapath.reasons.tracking import InvalidReason, TrackingNote, TrackingReason


def spell_tracking(reason: TrackingReason) -> str:
    """Say what conntrack made of a packet."""
    match reason:
        case tracking.TrackedAs():
            return _spell_tracked(reason)
        case tracking.ConntrackInvalid(why, connection):
            of = f" (of {connection})" if connection is not None else ""
            return f"{_spell_invalid(why)}{of}"
        case tracking.RelatedError(connection):
            return f"an ICMP error about {connection}"
        case tracking.ConntrackFull():
            return "nf_conntrack: table full, dropping packet"
        case tracking.TupleTaken(connection):
            return f"the new connection's tuple is already taken by {connection}"
        case _:
            assert_never(reason)


def _spell_tracked(reason: tracking.TrackedAs) -> str:
    direction = "" if reason.new else f", {_direction(reply=reason.reply)} direction"
    note = f"; {_spell_note(reason.note)}" if reason.note is not None else ""
    return f"{reason.connection}{direction}{note}"


def _direction(*, reply: bool) -> str:
    return "reply" if reply else "original"


def _spell_note(note: TrackingNote) -> str:
    match note:
        case tracking.OpenedAnew():
            return "the connection is reopened"
        case tracking.LetThrough(segment, state):
            return f"a {segment} in state {state} is let through without changing state"
        case tracking.EndedByReset():
            return "a reset before any reply ends the entry"
        case _:
            assert_never(note)


def _spell_invalid(why: InvalidReason) -> str:  # noqa: C901, PLR0911  # one arm for each reason
    match why:
        case tracking.BadChecksum():
            return "bad checksum"
        case tracking.BadFlags():
            return "invalid tcp flag combination"
        case tracking.OfNoConnection(segment):
            return f"a {segment} belongs to no connection that conntrack has seen"
        case tracking.NotPickedUp():
            return "nf_conntrack_tcp_loose is 0: connections are not picked up midway"
        case tracking.OutOfState("ack", "SYN_SENT", False):
            return "an ACK in state SYN_SENT: conntrack has seen the SYN, but no SYN-ACK"
        case tracking.OutOfState(segment, state, reply):
            return f"a {segment} in the {_direction(reply=reply)} direction in state {state}"
        case tracking.ResetBehind(seq, acknowledged):
            return (
                f"a reset with sequence number {seq}, where {acknowledged} is already acknowledged"
            )
        case tracking.UnseenData(ack, seen):
            return f"it acknowledges data that conntrack has not seen (up to {ack}, seen {seen})"
        case tracking.AnswersNoQuery():
            return "an ICMP message that answers no query conntrack has seen"
        case tracking.QuoteUnknown():
            return "an ICMP error whose quoted packet is not known"
        case tracking.QuotesIcmp():
            return "an ICMP error about an ICMP message"
        case tracking.QuotesNoConnection(quoted):
            return (
                f"an ICMP error about {quoted}, which belongs to no connection that conntrack has "
                "seen"
            )
        case tracking.ErrorAstray(address, sender):
            return (
                f"an ICMP error that went to {address}, though the connection's sender is {sender}"
            )
        case _:
            assert_never(why)
