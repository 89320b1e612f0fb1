"""The paths through the stack that a packet can be on, and what a stage may answer."""

from __future__ import annotations

from podpath.datapath.tracing.trace import Outcome

RECEIVE, LOCAL, FORWARD, OUTPUT, TRANSMIT, REDIRECT, BRIDGE, EMIT = (
    "receive", "local delivery", "forward", "local output", "transmit", "redirect", "bridge", "emit",
)  # fmt: skip

Next = str | Outcome | None
"""What a stage answers: None to go on with the next stage, a path's name to change to it, or the
outcome that ends the walk.
"""
