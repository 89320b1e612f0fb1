"""Where a capture was taken, by the command that printed or wrote it: apart from the reader of its
text, which captures of packets do without.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command

_FILE_LINK = re.compile(
    r"(?:.*/)?(?P<name>(?!(?:cap|capture|dump|out|test|node|pod|host|trace|tmp|file|pcap|good|bad|"
    r"client|server|before|after|tcpdump|worker|master)[-_.]?\d*\.)[A-Za-z][\w.-]{0,13}\d)\."
    r"(?:pcap|pcapng|cap|dump)$"
)


class _Point(NamedTuple):
    """Where a capture was taken, as far as its command says."""

    link: str | None
    absolute: bool
    """True with `-S`: sequence numbers are never relative."""
    text: bool
    """True with `-A`: any line between packets may be payload."""


def parse_point(command: str | None) -> _Point:
    """Say where a capture was taken by its command; the name of a file that it was written to is a
    hint.
    """
    parsed = parse_command(command)
    link: str | None = None
    clusters = [word for word in parsed.arguments if re.fullmatch(r"-[A-Za-z]+", word)]
    for place, word in enumerate(parsed.arguments):
        following = parsed.arguments[place + 1] if place + 1 < len(parsed.arguments) else ""
        named = re.fullmatch(r"-[a-zA-Z]*i(?P<glued>.*)|--interface(?:=(?P<long>.*))?", word)
        if named is not None:
            link = named["glued"] or named["long"] or following
        elif re.fullmatch(r"-[a-zA-Z]*r", word) and link is None:
            found = _FILE_LINK.fullmatch(following)
            link = found["name"] if found is not None else None
    return _Point(
        None if link in {"any", ""} else link,
        any("S" in word for word in clusters),
        any("A" in word for word in clusters),
    )
