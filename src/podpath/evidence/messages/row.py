"""A row of the table of messages: how a line is known, and what it says."""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.net.messages import MessageKind


class MessagePattern(NamedTuple):
    """One way in which a kind of message is spelled."""

    kind: MessageKind
    sign: str
    """Words that every such line holds, as they stand there: a text without them has none, which is
    seen at once.
    """
    pattern: re.Pattern[str]
    """Found in the line; its named groups are the message's values."""


def make_row(kind: MessageKind, sign: str, pattern: str = "") -> MessagePattern:
    """Return the row of a sign; the pattern, where one is given, has to be found in the line
    too.
    """
    return MessagePattern(kind, sign, re.compile(pattern or re.escape(sign)))
