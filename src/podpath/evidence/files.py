"""A file's bytes to sources: one output as a whole, or a document with many in it.

What a file is called decides nothing but where a bundle says that it came from. Bytes that are not
text, and text that is not UTF-8, are reported in a gap.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from podpath.evidence.documents.circumstances import read_circumstances
from podpath.evidence.documents.complaints import read_complaints
from podpath.evidence.documents.document import part_document, split_document
from podpath.evidence.documents.inline import is_inline
from podpath.evidence.documents.introductions import introduced_command
from podpath.evidence.documents.leftovers import find_leftovers
from podpath.evidence.documents.mentions import find_emphasis, find_mentions
from podpath.evidence.documents.prompts import match_prompt
from podpath.evidence.documents.prose import reads_as_prose
from podpath.evidence.documents.quoted import is_cut
from podpath.evidence.documents.shapes import match_shape
from podpath.evidence.formats import LIKELY
from podpath.evidence.gathered import NOWHERE, BundlePlace, Evidence, make_gap
from podpath.evidence.recognition import recognise
from podpath.net.errors import EvidenceError
from podpath.net.provenance import Gap, Source, Span

MANY_LINES = 5000
"""A file that long is one output if its head is recognized: to read it twice, or to look for prose
in it, would cost too much.
"""
_MARKED = re.compile(r"\s*(?:#{2,6}\s[^\n`]+|\*\*[^*\n]+\*\*|`[^`\n]+`|\*\*`[^`\n]+`\*\*)\s*:?\s*")
"""A line that is a heading, in bold, or code, from its first sign to its last."""
_MARKS = re.compile(
    r"^[ \t>]*(?:```|~~~|\{(?:code|noformat)|<pre|\[?[\w.+-]+@[\w.-]+[^\n#$%>]{0,80}[#$%>]|"
    r"[$#%>] ?[a-z/]|[~/\[][^\n#$]{0,40}[#$] |[\w.-]{2,40}(?:[ :]{1,2}[~/][^\n#$]{0,60})?[#$] )",
    re.MULTILINE,
)
"""Where a fence or a prompt might stand."""
_MANY_MARKS = 2000
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xd4\xc3\xb2\xa1", "a capture"), (b"\xa1\xb2\xc3\xd4", "a capture"),
    (b"\x4d\x3c\xb2\xa1", "a capture"), (b"\xa1\xb2\x3c\x4d", "a capture"),
    (b"\x0a\x0d\x0d\x0a", "a capture"), (b"PK\x03\x04", "a zip archive"), (b"\x7fELF", "a program"),
    (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"), (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"), (b"%PDF", "a PDF file"), (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
)  # fmt: skip
_COLOR = re.compile("\x1b\\[[0-9;]*[mK]")
_SAMPLED = 1 << 16
_MOSTLY, _SHORTEST_WIDE = 0.7, 8
"""A share of the characters of UTF-16 that are ASCII, in outputs of commands; and the bytes that
show it.
"""
_MOST_CONTROL, _MOST_UNDECODABLE = 0.02, 0.1
_ESCAPED, _ESCAPED_FROM = re.compile("[\udc80-\udcff]"), 0xDC00
"""What a byte that is no UTF-8 is decoded to, and what that has above its value."""
_BOMS: tuple[tuple[bytes, str], ...] = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def parse_file(name: str, data: bytes, place: BundlePlace = NOWHERE) -> Evidence:
    """Return the sources of one file; `EvidenceError` where it is no text at all."""
    text, gaps = decode_text(name, data)
    lines = split_lines(text)
    whole = Source(
        name=name,
        lines=tuple(lines),
        command=place.command,
        netns=place.netns,
        taken_at=place.taken_at,
    )
    if not text.strip():
        return Evidence((whole,) if place.command is not None else (), gaps)
    placed = place.command is not None
    if not has_console_marks(text) if placed else is_whole(whole, text):
        alone = place is NOWHERE and len(lines) <= MANY_LINES
        return (
            _read_notes(Evidence((whole,), gaps), name, lines)
            if alone
            else Evidence((whole,), gaps)
        )
    parted = part_document(name, lines)
    found = _leave_line_open(parted.sources, text)
    blocks = tuple(
        source for source in found if not (is_inline(source, lines) or is_cut(source, lines))
    )
    complaints = read_complaints(name, lines, blocks)
    told = read_circumstances(name, lines, blocks)
    if place.netns is not None or place.taken_at is not None:
        found = tuple(_place(source, place) for source in found)
    if not found:
        gaps = (
            *gaps,
            make_gap(
                name,
                "expected the outputs of commands, a ticket or a log, saw none that podpath knows",
                lines,
            ),
        )
    else:
        gaps = (*gaps, *find_leftovers(name, parted.aside, found))
    return Evidence(
        found,
        gaps,
        complaints,
        find_mentions(text),
        told=told,
        emphasis=(find_emphasis(text),),
    )


def _read_notes(found: Evidence, name: str, lines: list[str]) -> Evidence:
    """Add the prose beside an output that is a file's whole evidence: a sentence or two above a
    log.
    """
    prose = [line if reads_as_prose(line) else "" for line in lines]
    return found._replace(
        complaints=read_complaints(name, prose, ()),
        mentions=find_mentions("\n".join(lines)),
        emphasis=(find_emphasis("\n".join(lines)),),
        told=read_circumstances(name, prose, ()),
    )


def decode_text(name: str, data: bytes) -> tuple[str, tuple[Gap, ...]]:
    """Return a file's text, with a gap where bytes had to be replaced; `EvidenceError` where the
    bytes are no text.
    """
    for start, kind in _MAGIC:
        if data.startswith(start):
            raise EvidenceError(f"{name}: expected text, saw {kind}{_advice(kind, name)}")
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strip_color(data[len(mark) :].decode(encoding, "replace")), ()
    wide = _wide_encoding(data[:_SAMPLED])
    if wide:
        return _strip_color(data.decode(wide, "replace")), ()
    if is_binary(data[:_SAMPLED]):
        raise EvidenceError(
            f"{name}: expected text, saw binary data; give the output of a command, a ticket or a "
            "bundle"
        )
    zeros = data.count(0)
    gaps = (
        _gap_at(name, data, data.index(0), f"{zeros} zero bytes are left out: no text has such")
        if zeros
        else ()
    )
    data = data.replace(b"\0", b"") if zeros else data
    try:
        return _strip_color(data.decode("utf-8")), gaps
    except UnicodeDecodeError as error:
        why = (
            f"expected UTF-8, saw byte 0x{data[error.start]:02x}: read as Latin-1, like all such "
            "bytes of the file"
        )
        gaps = (*gaps, *_gap_at(name, data, error.start, why))
    text = data.decode("utf-8", "surrogateescape")
    return _strip_color(_ESCAPED.sub(lambda found: chr(ord(found[0]) - _ESCAPED_FROM), text)), gaps


def _gap_at(name: str, data: bytes, place: int, why: str) -> tuple[Gap, ...]:
    """Make the gap of the line that holds a byte."""
    line = data.count(b"\n", 0, place) + 1
    start = data.rfind(b"\n", 0, place) + 1
    end = data.find(b"\n", place)
    text = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")
    return (
        Gap(Span(Source(name=name, lines=(text.rstrip("\r"),), first_line=line), line, line), why),
    )


def _wide_encoding(head: bytes) -> str:
    """Tell UTF-16 without its mark, as PowerShell's pipes lose it: every other byte is zero; empty
    for anything else.
    """
    most = len(head) // 2 * _MOSTLY
    if len(head) < _SHORTEST_WIDE:
        return ""
    if head[1::2].count(0) > most:
        return "utf-16-le" if head[::2].count(0) == 0 else ""
    return "utf-16-be" if head[::2].count(0) > most and head[1::2].count(0) == 0 else ""


def is_binary(head: bytes) -> bool:
    """Tell whether bytes are no text: many that no text has. One zero, or a few, are what a crash
    or a slip leaves in a text.
    """
    if not head:
        return False
    control = sum(
        head.count(bytes((value,))) for value in (*range(7), *range(14, 27), *range(28, 32), 127)
    )
    return control > max(_MOST_CONTROL * len(head), 1) or _undecodable(head) > _MOST_UNDECODABLE


def split_lines(text: str) -> list[str]:
    """Cut text into lines as editors number them."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = text if "\n" in text else text.replace("\r", "\n")
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def is_whole(source: Source, text: str) -> bool:
    """Tell whether a file is one output from its first line to its last."""
    if has_console_marks(text):
        return False
    found = recognise(source)
    if found is None or found.recognise(source) < LIKELY:
        return False
    if len(source.lines) > MANY_LINES:
        return True
    if any(_names_command(line) or _quotes(line) for line in source.lines):
        return False
    if (
        found.name == "tcpdump"
        and len({part.label for part in split_document(source.name, source.lines)}) > 1
    ):
        return False  # captures at several points, each under a note that says where
    unread = [gap.span for gap in found.read(source).gaps]
    lines = [line for span in unread for line in span.text.split("\n")]
    return not any(match_shape(line) for line in lines) and not (
        found.decides and any(reads_as_prose(line) for line in lines)
    )


def _quotes(line: str) -> bool:
    """Tell whether a line is a sentence that sets words off as code."""
    return line.count("`") > 1 and reads_as_prose(line)


def _names_command(line: str) -> bool:
    """Tell whether a line is a heading, or set off in bold or as code, and a command alone: what it
    printed stands below it.
    """
    return _MARKED.fullmatch(line) is not None and introduced_command(line) is not None


def has_console_marks(text: str) -> bool:
    """Tell whether a fence or a prompt stands in a text: it is a document then."""
    for found in islice(_MARKS.finditer(text), _MANY_MARKS):
        mark = found[0].lstrip(" \t>")
        if mark.startswith(("`", "~~~", "{", "<pre")):
            return True
        end = text.find("\n", found.start())
        line = text[found.start() : end if end >= 0 else len(text)]
        if len(line) < MANY_LINES and _is_at_prompt(line):
            return True
    return False


def _is_at_prompt(line: str) -> bool:
    """Tell whether a line is a prompt, be it quoted: a sign of a quotation may touch it."""
    bare = line.lstrip(" \t>")
    return match_prompt(line) is not None or (bare != line and match_prompt(bare) is not None)


def _leave_line_open(sources: tuple[Source, ...], text: str) -> tuple[Source, ...]:
    """Mark the output that a text ends with, where no line end shows that its last line is
    whole.
    """
    if not sources or text.endswith(("\n", "\r")):
        return sources
    return tuple(
        replace(source, open_line=True) if source.open_end else source for source in sources
    )


def _place(source: Source, place: BundlePlace) -> Source:
    return replace(
        source,
        netns=source.netns if source.netns is not None else place.netns,
        taken_at=place.taken_at,
    )


def _advice(kind: str, name: str) -> str:
    if kind == "a capture":
        return f"; print it as text: tcpdump -nn -e -v -r {name.rpartition('/')[2]}"
    return "; unpack it, or make a .tar.gz of it" if "archive" in kind else ""


def _undecodable(head: bytes) -> float:
    """Return the share of bytes that are no UTF-8; the end may cut a character."""
    return head.decode("utf-8", "replace").count("\ufffd") / len(head)


def _strip_color(text: str) -> str:
    return _COLOR.sub("", text) if "\x1b[" in text else text
