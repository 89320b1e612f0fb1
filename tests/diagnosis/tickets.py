"""Tickets with lines of a log, whose one finding is looked at."""

from __future__ import annotations

import podpath
from podpath.checks.finding import Finding
from podpath.library.given import Pasted

PROSE = "A host fails to fetch packages since it went to another rack."
HANG = "[   23.710467] tg3 0000:02:00.0 enp2s0f0: transmit timed out, resetting"


def find(check: str, *lines: str, command: str = "", prose: str = PROSE) -> Finding:
    """Return the finding of a check in a ticket with these lines, and an output behind them."""
    text = "\n".join(lines)
    more = f"```\n# {command}\n```\n" if command else ""
    ticket = Pasted(f"{prose}\n\n```\n# dmesg\n{text}\n```\n\n{more}", "ticket.md")
    return next(one for one in podpath.diagnose(ticket).findings if one.check == check)
