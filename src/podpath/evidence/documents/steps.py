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
from podpath.evidence.documents.shapes import OutputShape

_HEADING = re.compile(r"\s*(?:NAMESPACE +)?NAME +[A-Z]")
"""What each table of kubectl begins with."""
_LOOPS = re.compile(r"(?:for|while|until|if|do|then)\b")
"""What begins commands that print as often as a shell runs them."""
_SEVERAL_KINDS = re.compile(r"\b(?:get|describe)\s+\S*(?:,|\ball\b)")


def list_steps(typed: TypedCommand | None) -> tuple[TypedCommand, ...]:
    """Return the commands of a line, each with what its output is piped through; in the place that
    a shell around them enters.
    """
    if typed is None:
        return ()
    outer = tuple(_cut(typed.raw))
    if any(_LOOPS.match(text) for text in (*outer, typed.text)):
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
    printing = (
        number for number, step in enumerate(steps) if shape is not None and _prints(step, shape)
    )
    return next(printing, 0)


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
    later = (number for number, step in enumerate(steps) if number and _prints(step, shape))
    return next(later, None)


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
