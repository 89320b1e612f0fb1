"""Whether a line of a document goes on with the block above it, by its shape, by what stands round
it, and by its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.evidence.documents.blocks import Block
from podpath.evidence.documents.prose import is_heading, reads_as_prose, reads_as_sentence
from podpath.evidence.documents.regions import DocumentLine
from podpath.evidence.documents.shapes import OutputShape, continues, is_message, match_shape
from podpath.evidence.documents.steps import find_step
from podpath.evidence.text.tokenizer import is_ellipsis

_PLACE = re.compile(
    r"""\W*(?:(?:and|then|now|same|seen|captured|capture|tcpdump|taken|output)\s+)*
        (?: (?:on|from|at|inside|in|within|before|after)\b
          | (?:the\s+)?(?:(?:good|bad|ok|working|broken|healthy|faulty|other|first|second)\s+)?
            (?:host|node|pod|container|client|server|worker|master|namespace|netns)\b
          | (?:good|bad|ok|working|broken|healthy|faulty)\W*$
          | [\w.-]*\d:?$ )""",
    re.IGNORECASE | re.VERBOSE,
)
"""A note that says where or when an output was taken: what follows is another output."""
_PACKET_WORDS = re.compile(
    r"\b(?:SYN|ACK|RST|FIN|RESET|ARP|retransmi\w+|repl(?:y|ies)|request|handshake|packet)\b",
    re.IGNORECASE,
)
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+[A-Z`\"']")
ANNOTATION_WORDS = 5


class Context(NamedTuple):
    """What stands round a line."""

    lines: Sequence[DocumentLine]
    place: int
    fenced: bool
    after_blank: bool

    @property
    def line(self) -> DocumentLine:
        """The line itself."""
        return self.lines[self.place]

    @property
    def following(self) -> str:
        """The next line that is not blank; empty at the end."""
        return next(
            (
                line.text
                for line in self.lines[self.place + 1 : self.place + 4]
                if line.text.strip()
            ),
            "",
        )


def belongs(block: Block, context: Context, shape: OutputShape | None) -> bool:
    """Tell whether the line goes on with the block; `shape` is its own shape, if it has one."""
    text = context.line.text
    if is_ellipsis(text):
        return context.fenced or not context.after_blank
    if block.is_code:
        return not context.after_blank
    if shape is not None and next_step(block, text, shape) is not None:
        return False
    if block.shape is not None and continues(block.shape, text, block.indent):
        return _continues_here(block, context, shape)
    if shape is not None:
        return _takes_foreign(block, context, shape)
    if block.shape is not None and block.shape.name == "tcpdump" and is_annotation(context):
        return True
    if is_place_note(context):
        return False
    if context.fenced:
        return not (context.after_blank and not block.lines and reads_as_prose(text))
    return _takes_unknown(block, context)


def next_step(block: Block, text: str, shape: OutputShape) -> int | None:
    """Return which later command of the block's line printed a line; None where none has to."""
    if len(block.steps) < 2 or not block.lines:
        return None
    above = (line.text for line in block.lines)
    return find_step(block.steps, shape, text, above, goes_on=block.shape is shape)


def is_annotation(context: Context) -> bool:
    """Tell whether a line is a note between packets: short, right above one, and not naming another
    place.
    """
    text = context.line.text
    above = (
        match_shape(context.lines[context.place + 1].text)
        if context.place + 1 < len(context.lines)
        else None
    )
    if above is None or above.name != "tcpdump" or is_place_note(context):
        return False
    return (
        context.fenced
        or len(text.split()) <= ANNOTATION_WORDS
        or text.lstrip().startswith(("#", "//", "<-", "^"))
    )


def is_place_note(context: Context) -> bool:
    """Tell whether a line between outputs says where or when the next one was taken (`On the
    host:`, `# node2`).
    """
    text = context.line.text.strip()
    if len(text.split()) > 10 or is_message(text):
        return False
    noted = text.endswith(":") or text.startswith(("#", "//", "==", "--- "))
    if not noted or ":" in text[:-1] or _PACKET_WORDS.search(text) is not None:
        return False
    return _PLACE.match(text) is not None and match_shape(context.following) is not None


def _continues_here(block: Block, context: Context, shape: OutputShape | None) -> bool:
    """Decide on a line that its shape lets go on, by what blank lines say."""
    deeper = len(context.line.text) - len(context.line.text.lstrip()) >= block.indent
    if not context.after_blank:
        return deeper or context.fenced or shape is not None
    if (
        block.typed is not None
        and not context.fenced
        and block.shape is not None
        and not block.shape.blanks
    ):
        # no tool but a few prints blank lines: another listing starts, without its command
        return block.shape.name == "tcpdump"
    return (context.fenced or shape is not None or deeper) and not (
        shape is None and reads_as_sentence(context.line.text)
    )


def _takes_foreign(block: Block, context: Context, shape: OutputShape) -> bool:
    """Decide on a line of another shape than the block's."""
    if not block.lines:
        return not context.after_blank or block.program in shape.programs
    if block.shape is None:
        return not context.after_blank or (context.fenced and shape.name == "configuration")
    if block.program in shape.programs and (block.shape.blanks or not context.after_blank):
        return True
    return (
        block.shape.name == "component log" and block.typed is not None and not context.after_blank
    )


def _takes_unknown(block: Block, context: Context) -> bool:
    """Decide on a line of plain text that has no shape."""
    text = context.line.text
    if is_message(text):
        return not context.after_blank
    if context.after_blank or block.typed is None:
        return False
    if is_heading(text) or (_LIST_ITEM.match(text) and reads_as_prose(text)):
        return False
    if len(text) - len(text.lstrip()) < block.indent:
        return False
    return _is_amid(block, context) or not (
        reads_as_sentence(text) if block.shape is None else reads_as_prose(text)
    )


def _is_amid(block: Block, context: Context) -> bool:
    """Tell whether a line stands amid an output: what a damaged line of a listing said is unread,
    and is not prose.
    """
    if block.shape is None or context.line.text.lstrip().startswith(("#", "//", "<-", "^")):
        return False
    return continues(block.shape, context.following, block.indent)
