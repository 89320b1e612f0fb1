"""Commands that were typed in one line: which of them printed what stands below it.

`ip addr; ip route` and `kubectl exec web -- sh -c 'ip addr; ip route'` print one listing after the
other, and nothing says where the second begins but its own lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.evidence.commands.command import asked_object, parse_command
from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.commands.typed import TypedCommand, parse_typed
from podpath.evidence.documents.programs import PROGRAMS
from podpath.evidence.documents.shapes import OutputShape

_HEADING = re.compile(r"\s*(?:NAMESPACE +)?NAME +[A-Z]")
"""What each table of kubectl begins with."""
_LOOPS = re.compile(r"(?:^|[;&|('\"])\s*(?:for|while|until|if|do|then)\b")
"""What begins commands that print as often as a shell runs them."""
_RUNNERS = frozenset({"bash", "sh", "python", "python3", "make", "env", "xargs"})
"""Programs that print what a script of somebody prints."""
_SEVERAL_KINDS = re.compile(r"\b(?:get|describe)\s+\S*(?:,|\ball\b)")


def list_steps(typed: TypedCommand | None) -> tuple[TypedCommand, ...]:
    """Return the commands of a line, each with what its output is piped through; in the place that
    a shell around them enters.
    """
    if typed is None:
        return ()
    outer = tuple(_cut(typed.raw))
    if _LOOPS.search(typed.raw):
        return (typed,)
    if len(outer) > 1:
        return tuple(map(parse_typed, outer))
    inner = tuple(_cut(typed.text))
    if len(inner) < 2:
        return (typed,)
    return tuple(
        parse_typed(text)._replace(raw=typed.raw, netns=typed.netns, wrapped=typed.wrapped)
        for text in inner
    )


def _cut(text: str) -> Iterator[str]:
    """Yield the pipelines of a command line as they are spelled."""
    starts = [
        command.words[0].start
        for command in parse_shell(text)
        if command.operator != "|" and command.words
    ]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
        yield text[start:end].strip().rstrip(";&|").rstrip()


def count_silent(steps: Sequence[TypedCommand], shape: OutputShape | None) -> int:
    """Return how many commands stand before the first that prints an output of that shape: they
    have printed nothing. 0 where none prints it.
    """
    if shape is None:
        return 0
    number = next((at for at, step in enumerate(steps) if _prints(step, shape)), 0)
    return number if number and not _may_be_of_script(steps, number) else 0


def find_step(
    steps: Sequence[TypedCommand],
    shape: OutputShape,
    text: str,
    above: Iterable[str],
    *,
    goes_on: bool = False,
) -> int | None:
    """Return which later command printed a line of that shape, below what the first one has printed
    already; None where the line may be the first one's own, or `goes_on` with lines of its shape.
    """
    own = goes_on or _prints(steps[0], shape)
    if own and not _begins_again(steps[0], text, above):
        return None
    later = (at for at, step in enumerate(steps) if at and _prints(step, shape))
    number = next(later, 0)
    return number if number and not _may_be_of_script(steps, number) else None


def _may_be_of_script(steps: Sequence[TypedCommand], number: int) -> bool:
    """Tell whether a script that may print anything runs before a command, in another place."""
    place = steps[number].netns, steps[number].wrapped
    known = PROGRAMS - _RUNNERS
    return any(
        (step.netns, step.wrapped) != place and step.program not in known for step in steps[:number]
    )


def _prints(step: TypedCommand, shape: OutputShape) -> bool:
    """Tell whether a command prints outputs of that shape."""
    if step.program not in shape.programs:
        return False
    asked = asked_object(parse_command(step.text))
    return asked is None or not shape.objects or asked[0] in shape.objects


def _begins_again(step: TypedCommand, text: str, above: Iterable[str]) -> bool:
    """Tell whether a second table begins, of a command that prints one."""
    headed = _HEADING.match(text) is not None and any(map(_HEADING.match, above))
    return headed and _SEVERAL_KINDS.search(step.text) is None
