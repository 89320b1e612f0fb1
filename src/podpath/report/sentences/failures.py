"""How a conversation fails, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import failures
from podpath.datapath.reasons.failures import EndPlace, Failure
from podpath.net import protocols
from podpath.report.sentences.reasons import spell_reason


def spell_failure(failure: Failure | None) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each failure
    """Say in one line how a conversation fails; nothing where it does not."""
    match failure:
        case failures.PacketDropped(name, netns, stage, reason):
            return f"{name} dropped in {netns} at {stage}: {spell_reason(reason)}"
        case failures.PacketRejected(name, netns, stage, answer, reason):
            return f"{name} rejected in {netns} at {stage} ({answer}): {spell_reason(reason)}"
        case failures.PacketUndecided(name, netns, stage, reason):
            return f"{name} undecided in {netns} at {stage}: {spell_reason(reason)}"
        case failures.FrameEnded(reason):
            return spell_reason(reason)
        case failures.NobodyListens(name, netns, packet):
            return f"{name} refused in {netns}: nobody listens on {packet}"
        case failures.OuterDelivered(name):
            return f"{name} misdelivered: a process received the outer packet of a tunnel"
        case failures.Misdelivered(name, reached, wanted, reply):
            who = "the client is" if reply else "the connection is with"
            return (
                f"{name} misdelivered: it reached {spell_end(reached)}, but {who} "
                f"{spell_end(wanted)}"
            )
        case failures.CameByOther(name, came, bound):
            return (
                f"{name} not accepted: it comes in on {came}, but the client's socket is bound to "
                f"{bound}"
            )
        case failures.NotTranslatedBack(name, packet, asked):
            if packet.protocol == protocols.TCP:
                does = "resets the connection"
            else:
                does = "does not recognize it as an answer"
            return (
                f"{name} not translated back: the client sent {asked}, receives {packet} and {does}"
            )
        case failures.StrayPacket(name, packet, seen):
            return (
                f"{name} stray: it reached the server as {packet}, but the connection began with "
                f"{seen}, so it is reset"
            )
        case failures.LeftForOwnPod(name, link, address):
            return f"{name} left the node on {link}, though {address} is a pod on it"
        case failures.LeftForPodOf(name, link, address, node):
            return f"{name} left the cluster on {link}, though {address} is a pod on {node}"
        case failures.LeftUntranslated(name, packet):
            return f"{name} left the node as {packet}: nobody out there can reply to {packet.src}"
        case None:
            return ""
        case _:
            assert_never(failure)


def spell_end(end: EndPlace) -> str:
    """Say where an end of a connection is."""
    if end.link is None:
        return f"a process in {end.netns}"
    return f"a host behind {end.link}"
