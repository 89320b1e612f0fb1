"""The paths through the stack that a packet can be on, and what a stage may answer."""

from __future__ import annotations

from enum import StrEnum

from podpath.datapath.tracing.trace import Outcome


class PathName(StrEnum):
    """A way through the stack, from one decision about it to the next."""

    RECEIVE = "receive"
    LOCAL = "local delivery"
    FORWARD = "forward"
    OUTPUT = "local output"
    TRANSMIT = "transmit"
    REDIRECT = "redirect"
    BRIDGE = "bridge"
    EMIT = "emit"
    RESET = "reset by a bridge port"


RECEIVE, LOCAL, FORWARD, OUTPUT, TRANSMIT, REDIRECT, BRIDGE, EMIT, RESET = PathName

Next = PathName | Outcome | None
"""What a stage answers: None to go on with the next stage, a path's name to change to it, or the
outcome that ends the walk.
"""
