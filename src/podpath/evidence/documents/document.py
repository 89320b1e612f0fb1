"""A ticket, an article, a chat log: split into the commands and outputs that stand in it. Prose is
never evidence.

Fences help, but nothing rests on them: prompts start commands, an output goes on until the next
prompt or until lines neither have its shape nor read as console, and lines that only one tool
prints are found between prose without any prompt. So the same text with its fences and its prose
taken out gives the same sources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.evidence.commands.typed import TypedCommand, parse_typed
from podpath.evidence.documents.belonging import Context, belongs, is_place_note, next_step
from podpath.evidence.documents.blocks import Block, join_command
from podpath.evidence.documents.inline import find_answered
from podpath.evidence.documents.introductions import introduced_command
from podpath.evidence.documents.numbering import strip_numbers
from podpath.evidence.documents.places import ShellTracker
from podpath.evidence.documents.programs import is_command
from podpath.evidence.documents.prompts import Prompt, match_prompt
from podpath.evidence.documents.prose import is_heading, reads_as_prose, strip_markup
from podpath.evidence.documents.quoted import find_quoted
from podpath.evidence.documents.regions import (
    DocumentLine,
    Region,
    decode_line,
    is_fence,
    split_regions,
    strip_quote,
    unescape,
    unquote,
)
from podpath.evidence.documents.shapes import OutputShape, match_shape
from podpath.evidence.documents.speakers import strip_speakers
from podpath.evidence.documents.steps import count_silent, list_steps
from podpath.evidence.documents.typed_changes import changes_rules, is_typed_evidence
from podpath.net.provenance import Source

LABEL_LINES, LABEL_WIDTH = 2, 240
"""How much of the prose above a block is kept as its label."""
_WORDS_BETWEEN = 2
"""How many lines of prose (`Output:`) may stand between a command's fence and the fence of what it
printed.
"""
_JSON_LINES = 500_000
_JSON_FIRST, _JSON_GROWTH = 64, 8
"""Lines in which a JSON value is first looked for, and by what they grow until it ends."""
_JSON_VAIN = 4
"""How many times a document's lines are looked at for values that do not end; then only the first
lines are.
"""
_HERE = re.compile(r"<<-?\s*[\"'\\]?(?P<word>\w+)[\"']?")
_COMMENT = re.compile(r"\s*(?:#+|//)\s*\S")
_JSON_START = re.compile(r"\s*(?:[\[{]\s*$|\[\s*[\[{\"]|\{\s*\")")
_BOLD = re.compile(r"\s*(?P<mark>\*\*|__)(?P<inner>[^*]+)(?P=mark)\s*")
_ARROWED = re.compile(
    r"\s*(?:[-*+]\s+)?(?:[$#]\s+)?`?(?P<command>[a-z/][^\u2192`]*?)`?\s+(?:\u2192|=>|-{1,2}>)\s+"
    r"`?(?P<output>\S.*?)`?\s*"
)
"""`COMMAND -> OUTPUT`, as people note down what a command printed."""
LONGEST_ARROWED, _ARROWS = 600, ("\u2192", "->", "=>")
_GLUED = re.compile(r"\s{0,3}>(?=[\w\[(])")
_OF_VERSION = re.compile(r"\s*(?P<program>[a-z][\w-]+) v\d[\w.]*(?: \([\w-]+\))?: \S")
_CODE_INDENT = re.compile(r"(?: {4}|\t)\s*\S")


class SplitDocument(NamedTuple):
    """A document in its parts: together they hold every line of it that is not blank."""

    sources: tuple[Source, ...]
    aside: tuple[DocumentLine, ...]
    """Lines that stand in no block: prose, and what reads as neither prose nor an output."""
    commands: frozenset[int]
    """The numbers of the lines that show a prompt, or a command without one."""
    fences: frozenset[int]
    """The numbers of the lines that part the regions and say nothing themselves."""


def split_document(name: str, lines: Sequence[str]) -> tuple[Source, ...]:
    """Split a document into sources, also into such that no reader may know; `lines` are without
    line ends. Never raises.
    """
    return part_document(name, lines).sources


def part_document(name: str, lines: Sequence[str]) -> SplitDocument:
    """Split a document into sources and what stands between them. Never raises."""
    decoded = list(
        strip_speakers([decode_line(number, text) for number, text in enumerate(lines, 1)])
    )
    if any(line.text.lstrip().startswith(">") for line in decoded):
        decoded = unquote(decoded, [_is_quoted_console(line.text) for line in decoded])
    splitter = _Splitter(name)
    fences = {line.number for line in decoded if line.text.strip()}
    pasted: set[int] = set()
    for region in split_regions(decoded):
        numbers = {line.number for line in region.lines if line.text.strip()}
        fences -= numbers
        pasted |= numbers if region.fenced else set()
        bare = region._replace(lines=strip_numbers(region.lines))
        splitter.split(_strip_marks(_unescape_console(bare)))
    splitter.finish()
    quoted = (
        *find_quoted(name, splitter.aside, frozenset(pasted)),
        *find_answered(name, splitter.aside),
    )
    sources = _leave_open(splitter.sources, decoded)
    if quoted:
        sources = tuple(sorted((*sources, *quoted), key=lambda source: source.first_line))
    return SplitDocument(
        sources, tuple(splitter.aside), frozenset(splitter.commands), frozenset(fences)
    )


def _leave_open(sources: Sequence[Source], lines: Sequence[DocumentLine]) -> tuple[Source, ...]:
    """Mark the output that a session ends with, where no prompt shows that the command was done."""
    if len(sources) < 2 or not sources[-1].prompt:
        return tuple(sources)
    *others, last = sources
    end = next((line.number for line in reversed(lines) if line.text.strip()), 0)
    reaches = last.first_line + len(last.lines) - 1 == end
    is_session = any(source.prompt for source in others)
    return (*others, replace(last, open_end=True)) if reaches and is_session else tuple(sources)


def _unescape_console(region: Region) -> Region:
    """Take the escapes of Markdown off plain text in which a prompt appears once they are off."""
    if region.fenced:
        return region
    lines = tuple(line._replace(text=unescape(line.text)) for line in region.lines)
    found = any(
        new != old and _is_uncovered(old.text, new.text)
        for new, old in zip(lines, region.lines, strict=True)
    )
    return region._replace(lines=lines) if found else region


def _is_uncovered(old: str, new: str) -> bool:
    """Tell whether a line is a prompt, or a captured packet, once its escapes are off."""
    if _is_at_named_prompt(new) and not _is_at_named_prompt(old):
        return True
    before, after = match_shape(old), match_shape(new)
    return after is not None and after.name == "tcpdump" and before is not after


def _strip_marks(region: Region) -> Region:
    """Take off what people put round lines of an output to point at them: `**default dev eth1**`,
    and the sign of a quotation that stands right before a prompt.
    """
    if region.fenced:
        return region
    lines = tuple(line._replace(text=_strip_mark(line.text)) for line in region.lines)
    return region._replace(lines=lines)


def _strip_mark(text: str) -> str:
    bold = _BOLD.fullmatch(text)
    if bold is not None:
        inner = bold["inner"].strip()
        return inner if match_shape(inner) is not None else text
    glued = _GLUED.match(text)
    if glued is not None and _is_at_named_prompt(text[glued.end() :]):
        return text[glued.end() :]
    return text


def _is_at_named_prompt(text: str) -> bool:
    prompt = match_prompt(text)
    return prompt is not None and prompt.named and prompt.command != ""


def _is_quoted_console(text: str) -> bool:
    inner = strip_quote(text)
    if inner == text:
        return False
    prompt = match_prompt(inner)
    if is_fence(inner) or (prompt is not None and prompt.command != ""):
        return True
    shape = match_shape(inner)
    if shape is None or shape.name == "curl":
        return False
    return shape.name == "ping" or not reads_as_prose(inner)


class _Splitter:
    """Gathers the blocks of one document. Local to `split_document`."""

    def __init__(self, name: str) -> None:
        self.sources: list[Source] = []
        self.aside: list[DocumentLine] = []
        """Lines that belong to no block: prose, and what stands in it."""
        self.commands: set[int] = set()
        """Numbers of the lines of prompts and of what was typed."""
        self._name = name
        self._block: Block | None = None
        self._silent: Block | None = None
        """A command at the end of a fence that shows no output: the next fence may hold it."""
        self._words_since = 0
        self._introduces = False
        """True where the last line that was not blank is prose."""
        self._prose: list[str] = []
        self._fresh = True
        """True while the prose has not been closed by a blank line or a block."""
        self._places = ShellTracker()
        self._regions = 0
        self._prompted = False
        """True where the region has shown a prompt: a bare command line in it is output."""
        self._vain = 0
        """Lines that were looked at for JSON values that do not end."""
        self._signs: set[str] = set()
        """Prompts that the document has shown: one alone on a line ends an output."""

    def split(self, region: Region) -> None:
        """Gather the blocks of one region; none goes on into the next."""
        self._regions += 1
        self._prompted = False
        blanks: list[DocumentLine] = []
        place = 0
        while place < len(region.lines):
            line = region.lines[place]
            if not line.text.strip():
                blanks.append(line)
                self._fresh = False
                place += 1
                continue
            place = self._step(Context(region.lines, place, region.fenced, bool(blanks)), blanks)
            blanks = []
        silent = self._silent_command() if region.fenced else None
        if silent is None:
            self._close()
        else:
            self._block, self._silent, self._words_since = None, silent, 0

    def finish(self) -> None:
        """Take the last command for one that printed nothing, where nothing followed it."""
        self._release()

    def _silent_command(self) -> Block | None:
        """Return the block that the region ends with, where it is a command without an output."""
        block = self._block
        if block is None or block.typed is None or block.lines or is_typed_evidence(block.typed):
            return None
        return block

    def _release(self) -> None:
        """Take a command that still waits for its output for one that printed nothing."""
        if self._silent is not None:
            block, self._silent = self._silent, None
            self.sources.extend(
                block.sources(self._name, len(self.sources), typed_is_evidence=False)
            )

    def _introduced(self, context: Context, shape: OutputShape | None) -> Block:
        """Open a block without a prompt: of the command in the fence before it, or of the one that
        the line above names.
        """
        silent, introduces = self._silent, self._introduces
        label = self._label()
        if (
            silent is not None
            and silent.typed is not None
            and self._prints(silent.typed, context, shape)
        ):
            self._silent = None
            return replace(silent, label=label or silent.label)
        self._release()
        command = introduced_command(self.aside[-1].text) if introduces and self.aside else None
        typed = parse_typed(command) if command is not None else None
        if typed is None or is_typed_evidence(typed) or not self._prints(typed, context, shape):
            return Block(label=label)
        return Block(
            label=label,
            typed=typed,
            netns=self._places.locate(Prompt("", "", "", False), typed, self._regions),
            steps=list_steps(typed),
        )

    @staticmethod
    def _prints(typed: TypedCommand, context: Context, shape: OutputShape | None) -> bool:
        """Tell whether a line may be what a command printed that stands elsewhere."""
        return context.fenced if shape is None else typed.program in shape.programs

    def _step(self, context: Context, blanks: list[DocumentLine]) -> int:
        """Take the line in place and those that come with it; give the index of the next."""
        if self._take_arrowed(context.line):
            return context.place + 1
        prompt = self._prompt(context)
        if prompt is not None:
            self._close()
            return self._open_command(context, prompt)
        extent = self._json_extent(context)
        if extent > context.place + 1:
            return self._take_json(context, extent, blanks)
        shape = match_shape(context.line.text)
        if self._block is not None:
            if not self._ends_output(context, shape) and belongs(self._block, context, shape):
                self._skip_silent(self._block, shape)
                self._block.take(context.line, blanks, shape)
                return context.place + 1
            carried = self._carried(context, shape)
            self._close()
            if carried is not None:
                self._block = carried
        return self._open_bare(context, shape)

    def _take_arrowed(self, line: DocumentLine) -> bool:
        """Take a command with its output behind an arrow; tell whether the line is such."""
        text = line.text
        if len(text) > LONGEST_ARROWED or not any(arrow in text for arrow in _ARROWS):
            return False
        found = _ARROWED.fullmatch(text)
        if found is None or not is_command(found["command"]):
            return False
        self._close()
        self._release()
        typed = parse_typed(found["command"])
        netns = self._places.locate(Prompt("", "", "", False), typed, self._regions)
        block = Block(label=self._label(), typed=typed, typed_lines=[line], netns=netns)
        block.take(line._replace(text=found["output"]), [], None)
        self._block = block
        self._close()
        return True

    def _prompt(self, context: Context) -> Prompt | None:
        """Read the line as a prompt, or as a command that stands there without one."""
        text = context.line.text
        if text.strip() in self._signs:
            return Prompt(text.strip(), "", text[: len(text) - len(text.lstrip())], True)
        prompt = match_prompt(text)
        if prompt is not None:
            return prompt if prompt.named or self._is_prompt_here(prompt, context) else None
        if self._prompted or not is_command(text) or match_shape(text) is not None:
            return None
        if context.fenced or _is_code_paragraph(context):
            waits = (
                self._block is None
                or context.after_blank
                or (self._block.typed is not None and not self._block.lines)
            )
            return (
                Prompt("", text.strip(), text[: len(text) - len(text.lstrip())], False)
                if waits
                else None
            )
        if changes_rules(text):
            return Prompt("", text.strip(), text[: len(text) - len(text.lstrip())], False)
        return (
            Prompt("", text.strip(), text[: len(text) - len(text.lstrip())], False)
            if _prints_below(context, text)
            else None
        )

    def _is_prompt_here(self, prompt: Prompt, context: Context) -> bool:
        """Tell whether a bare `$`, `#` or `>` is a prompt where it stands, and not a sign within an
        output or a heading.
        """
        block = self._block
        if (
            block is not None
            and block.prompt is not None
            and not context.after_blank
            and block.lines
        ):
            known = prompt.text in {"$", block.prompt.text}
            # a comment in a file may be a command, too, but no output stands below it
            return known or (is_command(prompt.command) and _prints_below(context, prompt.command))
        if prompt.text == "#" and not context.fenced:
            return is_command(prompt.command)
        return True

    def _open_command(self, context: Context, prompt: Prompt) -> int:
        self._prompted = self._prompted or prompt.text != ""
        if len(prompt.text) > 1:
            self._signs.add(prompt.text)
        if not prompt.command:
            self.commands.add(context.line.number)
            return context.place + 1
        end = _command_extent(context, prompt)
        lines = list(context.lines[context.place : end])
        command = join_command([prompt.command, *(line.text for line in lines[1:])])
        here = _HERE.search(command)
        if here is not None:
            end = _here_extent(context.lines, end, here["word"])
            lines = list(context.lines[context.place : end])
        self.commands.update(line.number for line in lines)
        typed = parse_typed(command)
        netns = self._places.locate(prompt, typed, self._regions)
        self._release()
        self._block = Block(
            label=self._label(),
            prompt=prompt,
            typed=typed,
            typed_lines=lines,
            netns=netns,
            steps=list_steps(typed),
        )
        return end

    def _open_bare(self, context: Context, shape: OutputShape | None) -> int:
        """Open a block for a line that belongs to none, or keep the line as prose."""
        line = context.line
        if shape is None and (is_place_note(context) or self._is_comment(context)):
            self._note(line)
        elif (
            shape is not None
            or (context.fenced and not _is_only_prose(context))
            or _is_code_paragraph(context)
        ):
            if self._block is None:
                self._block = self._introduced(context, shape)
                self._block.is_code = shape is None and not context.fenced
            self._skip_silent(self._block, shape)
            self._block.take(line, [], shape)
        else:
            self._note(line)
        return context.place + 1

    def _json_extent(self, context: Context) -> int:
        """Return the index after the JSON value that starts on this line; the line's own index
        where none does.
        """
        if _JSON_START.match(context.line.text) is None:
            return context.place
        opening = context.line.text.strip()
        if len(opening) == 1 and context.following.lstrip()[:1] not in '"{[}]':
            return context.place
        vain = self._vain > _JSON_VAIN * len(context.lines)
        most, count = (_JSON_FIRST if vain else _JSON_LINES), _JSON_FIRST
        while True:
            lines = context.lines[context.place : context.place + count]
            text = "\n".join(line.text for line in lines).lstrip()
            try:
                _, end = json.JSONDecoder().raw_decode(text)
            except (ValueError, RecursionError) as error:
                self._vain += len(lines)
                if not _is_cut(text, error) or len(lines) < count or count >= most:
                    return context.place
                count *= _JSON_GROWTH
            else:
                return context.place + text.count("\n", 0, end) + 1

    def _take_json(self, context: Context, extent: int, blanks: list[DocumentLine]) -> int:
        block = self._block
        if block is None or block.lines or (block.typed is None and context.after_blank):
            self._close()
            block = self._block = self._introduced(context, None)
        for line in context.lines[context.place : extent]:
            block.take(line, blanks if line is context.line else [], None)
        return extent

    def _ends_output(self, context: Context, shape: OutputShape | None) -> bool:
        """Tell whether a comment line in a console leads over to the next command."""
        return shape is None and context.fenced and self._is_comment(context)

    @staticmethod
    def _is_comment(context: Context) -> bool:
        if not context.fenced or _COMMENT.match(context.line.text) is None:
            return False
        following = next(
            (
                line.text
                for line in context.lines[context.place + 1 :]
                if line.text.strip() and not _COMMENT.match(line.text)
            ),
            "",
        )
        return match_prompt(following) is not None or is_command(following)

    def _carried(self, context: Context, shape: OutputShape | None) -> Block | None:
        """Go on with the same command in another block, where one command prints outputs of several
        shapes.
        """
        block = self._block
        if (
            block is None
            or block.typed is None
            or shape is None
            or (context.after_blank and not context.fenced)
        ):
            return None
        number = next_step(block, context.line.text, shape)
        if number is not None:
            return self._go_on(block, number)
        several = (
            len({step.program for step in block.typed.commands if step.operator != "|"}) > 1
            or len([step for step in block.typed.commands if step.operator != "|"]) > 1
        )
        shown = block.program in {"cat", "less", "more", "tail", "head"} or block.shape is None
        if not (several or shown) or not block.lines:
            return None
        return Block(label=block.label, prompt=block.prompt, typed=block.typed, netns=block.netns)

    def _go_on(self, block: Block, number: int) -> Block:
        """Return a block for what a later command of the same line prints, where that one runs."""
        steps = block.steps[number:]
        prompt = block.prompt or Prompt("", "", "", False)
        netns = self._places.locate(prompt, steps[0], self._regions)
        return replace(
            block, typed=steps[0], typed_lines=[], netns=netns, lines=[], shape=None, steps=steps
        )

    def _skip_silent(self, block: Block, shape: OutputShape | None) -> None:
        """Leave out the commands that have printed nothing before the first line of a block; where
        they run elsewhere than the one that prints it, it is in that one's place.
        """
        number = 0 if block.lines else count_silent(block.steps, shape)
        if not number:
            return
        later = self._go_on(block, number)
        if later.netns == block.netns:
            block.steps = later.steps
            return
        if block.typed is not None and is_typed_evidence(block.typed):
            self.sources.extend(
                block.sources(self._name, len(self.sources), typed_is_evidence=True)
            )
        self._block = later

    def _note(self, line: DocumentLine) -> None:
        """Keep a line of prose: the latest paragraph labels the next block."""
        self.aside.append(line)
        self._introduces = True
        self._words_since += 1
        if self._words_since > _WORDS_BETWEEN:
            self._release()
        text = line.text
        if not self._fresh:
            self._prose = []
        self._fresh = True
        stripped = strip_markup(text)
        if stripped:
            self._prose.append(stripped)
        if is_heading(text):
            self._fresh = False

    def _label(self) -> str | None:
        text = " ".join(self._prose[-LABEL_LINES:])
        self._fresh = self._introduces = False
        return text[-LABEL_WIDTH:] or None

    def _close(self) -> None:
        if self._block is not None:
            block, self._block = self._block, None
            evidence = (
                block.typed is not None
                and bool(block.typed_lines)
                and is_typed_evidence(block.typed)
            )
            self.sources.extend(
                block.sources(self._name, len(self.sources), typed_is_evidence=evidence)
            )


def _prints_below(context: Context, command: str) -> bool:
    """Tell whether the next line is one that the program of a command prints: of its shape, or an
    error behind its name and version.
    """
    below = context.lines[context.place + 1].text if context.place + 1 < len(context.lines) else ""
    program = parse_typed(command).program
    shape = match_shape(below)
    if shape is not None:
        return program in shape.programs
    named = _OF_VERSION.match(below)
    return named is not None and named["program"] == program


def _is_only_prose(context: Context) -> bool:
    """Tell whether a line in a fence is a note and starts no output: prose, with a blank line or
    the end below it.
    """
    return reads_as_prose(context.line.text) and (
        context.place + 1 >= len(context.lines) or not context.lines[context.place + 1].text.strip()
    )


def _is_code_paragraph(context: Context) -> bool:
    """Tell whether a paragraph is set off as code by its indentation, and holds nothing that reads
    as prose.
    """
    if context.fenced or not context.after_blank:
        return False
    for line in context.lines[context.place :]:
        if not line.text.strip():
            return True
        if (
            _CODE_INDENT.match(line.text) is None
            or reads_as_prose(line.text)
            or is_heading(line.text)
        ):
            return False
    return True


def _command_extent(context: Context, prompt: Prompt) -> int:
    r"""Return the index after a command's last line: wrapped with `\`, or a quotation that goes
    on.
    """
    end = context.place + 1
    text = prompt.command
    while (
        end < len(context.lines)
        and text.rstrip().endswith("\\")
        and context.lines[end].text.strip()
    ):
        text = context.lines[end].text
        end += 1
    if end == context.place + 1 and _is_open_quote(prompt.command):
        for closing in range(end, min(end + 30, len(context.lines))):
            if _is_open_quote(context.lines[closing].text):
                return closing + 1
    return end


def _is_open_quote(text: str) -> bool:
    bare = re.sub(r"\\.", "", text)
    quote = next((sign for sign in bare if sign in "\"'"), "")
    return (
        bool(quote)
        and bare.count(quote) % 2 == 1
        and (quote == '"' or re.search(r"\w'\w", bare) is None)
    )


def _here_extent(lines: Sequence[DocumentLine], start: int, word: str) -> int:
    """Return the index after a here-document's end; `start` where it has none."""
    end = next((i for i in range(start, len(lines)) if lines[i].text.strip() == word), None)
    return start if end is None else end + 1


def _is_cut(text: str, error: Exception) -> bool:
    """Tell whether a JSON value is wrong only where its text ends."""
    last = text.rstrip().rfind("\n")
    return isinstance(error, json.JSONDecodeError) and error.pos >= last
