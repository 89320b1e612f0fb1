"""Services and programs that have a hand in a node's network, by all the names that logs call them.

systemd names a unit by its description (`Dynamic System Tuning Daemon`), audit by the unit, the
service itself by its program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.net.word_file import read_word_file
from podpath.timeline.mark_kinds import MarkKind


class NodeService(NamedTuple):
    """A service, and what it can do to the network."""

    subject: str
    """Its name, as its manual has it."""
    kind: MarkKind
    """What it writes."""
    names: re.Pattern[str]
    """Names of its units and programs, and their descriptions."""


def _read_service(row: Sequence[str]) -> NodeService:
    subject, kind, names = row
    pattern = re.compile(rf"(?<![\w@/])(?:{names})(?![\w@])", re.IGNORECASE)
    return NodeService(subject, MarkKind(kind), pattern)


_FILE = read_word_file("podpath.timeline", "services.toml")
SERVICES: tuple[NodeService, ...] = tuple(map(_read_service, _FILE["services"]))
"""The first whose names stand in a text is meant."""


_BESIDE = re.compile(rf"(?<![\w@/-])(?:{_FILE['beside']})(?![\w@-])", re.IGNORECASE)
_ANY = re.compile("|".join(service.names.pattern for service in SERVICES), re.IGNORECASE)
"""Most texts name none of them: that is seen at once."""


def find_service(text: str) -> NodeService | None:
    """Return the service that a unit, a description or a program stands for; None where none of
    these is named.
    """
    if _ANY.search(text) is None:
        return None
    text = _BESIDE.sub("", text)
    return next((service for service in SERVICES if service.names.search(text)), None)
