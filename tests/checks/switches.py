"""Tickets of a sentence and the values of some sysctls."""

from __future__ import annotations

from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.node.case import Case


def case_of(said: str, *values: str, rules: str = "") -> Case:
    """Read a ticket of a sentence and the values of some sysctls."""
    keys = " ".join(value.partition(" ")[0] for value in values)
    shown = "\n".join((f"# sysctl {keys}", *values))
    return read_together([Pasted(f"{said}\n\n```\n{shown}{rules}\n```\n", "ticket.md")]).facts
