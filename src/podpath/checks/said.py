"""What checks make of messages: those of some kinds, and the finding that quotes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case

QUOTED = 4
"""Messages that are quoted: more say the same again."""
_OF_CONTAINER = re.compile(
    r"\b(?:kubectl|oc|docker(?:[ -]compose)?|podman|nerdctl|crictl)\b.*\b(?:logs?|exec|run)\b"
)
_ECHOED = re.compile(r"\s*(?:\++|\[#\]|[$#])\s*(?:\S+\s)*?(?:/\S*/)?(?:ip|route)\s")
"""A command that a shell prints before it runs it (set -x), or wg-quick does."""


class Meaning(NamedTuple):
    """What a kind of message means to the network."""

    claim: str
    """One sentence that names the cause."""
    breaks: str
    """What does not work because of it."""
    cure: str
    """What mends it, in words."""
    commands: tuple[str, ...] = ()
    """The same as commands."""
    certainty: float = 1.0
    """Below 1 where the message leaves open whether it breaks what is asked about."""
    ask: FollowUp | None = None
    """What decides, where the message leaves it open."""
    severity: Severity = Severity.FAULT
    prevention: str = ""
    """How it is kept from coming back."""


def find_said(case: Case, *kinds: MessageKind) -> tuple[Message, ...]:
    """Return the messages of these kinds, in the order of the evidence."""
    return tuple(message for message in case.messages if message.kind in kinds)


def is_of_proxy(span: Span) -> bool:
    """Tell whether a line is kube-proxy's own, by its command or its words."""
    own = any(word in span.text for word in ("proxier", "ProxyServer"))
    return own or "kube-proxy" in (span.source.command or "")


def is_of_container(span: Span) -> bool:
    """Tell whether a line is out of a container, as its command says: it may have files, addresses
    and programs of its own.
    """
    return _OF_CONTAINER.search(span.source.command or "") is not None


def get_value(said: Sequence[Message], *names: str, default: str = "") -> str:
    """Return the first value of any of these names that the messages have; the default where none
    has one.
    """
    values = (message.values[name] for message in said for name in names if name in message.values)
    return next(values, default)


def find_command(span: Span) -> str | None:
    """Return the command that was answered: the one at the prompt, or that a shell echoed on the
    line above; None where none is shown.
    """
    index = span.line - span.source.first_line - 1
    above = span.source.lines[index] if index >= 0 else ""
    if _ECHOED.match(above):
        return above
    return span.source.command or None


def tell(name: str, said: Sequence[Message], meaning: Meaning) -> Finding:
    """Make the finding of a check that rests on what was said."""
    times = sum(message.times for message in said)
    return Finding(
        check=name,
        severity=meaning.severity,
        claim=meaning.claim,
        evidence=tuple(dict.fromkeys(list_spans(said)))[:QUOTED],
        reasoning=(f"It was logged {times} times.",) if times > 1 else (),
        breaks=(meaning.breaks,),
        repairs=(Repair(title=meaning.cure, commands=meaning.commands),),
        prevention=meaning.prevention,
        certainty=meaning.certainty,
        asks=(meaning.ask,) if meaning.ask is not None else (),
    )
