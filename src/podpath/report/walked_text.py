"""The connections that were walked as lines: each with a sign, what became of it, and where it
failed.
"""

from __future__ import annotations

from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.report.escape import escape
from podpath.report.finding_text import INDENT
from podpath.report.path import describe_outcome, render_path
from podpath.report.quotes import left_out
from podpath.report.sentences import spell_failure
from podpath.report.style import Style

WALKED_SHOWN = 6
"""How many are shown where the reader did not ask for all."""


def render_walked(diagnosis: Diagnosis, style: Style) -> list[str]:
    """List the connections that were walked, and what became of each."""
    shown_already = {
        id(finding.shown_by) for finding in diagnosis.findings if finding.shown_by is not None
    }
    lines: list[str] = []
    walked = diagnosis.conversations if style.verbose else diagnosis.conversations[:WALKED_SHOWN]
    for conversation in walked:
        branch = representative(conversation)
        lines += render_conversation(diagnosis, conversation, style)
        told = id(branch) in shown_already or diagnosis.is_seen_to_work(conversation)
        if branch is not None and branch.failure and not told:
            lines += style.wrap(escape(spell_failure(branch.failure)), INDENT)
            if style.verbose:
                lines += render_path(branch, style, INDENT)
    lines += left_out(len(diagnosis.conversations) - len(walked), "connection", style)
    if lines:
        return ["", style.paint("head", "Walked"), *lines]
    return []


def render_conversation(
    diagnosis: Diagnosis, conversation: Conversation, style: Style
) -> list[str]:
    """Write a connection with its sign and what became of it."""
    said = f"{escape(str(conversation.probe))}: {_say(diagnosis, conversation)}"
    return style.wrap(said, f"  {_mark(diagnosis, conversation, style)} ", INDENT)


def _say(diagnosis: Diagnosis, conversation: Conversation) -> str:
    """Say what became of a connection: one that is open, or is said to fail, is never said to
    work; nor is one said to fail that the evidence shows to work.
    """
    if diagnosis.is_seen_to_work(conversation):
        return "works, as the evidence shows; the walk lacks a fact of its path"
    open_still = conversation.verdict == "ALWAYS" and not diagnosis.is_shown_to_work(conversation)
    if open_still:
        return "not shown to fail"
    return verdict_in_words(conversation)


def _mark(diagnosis: Diagnosis, conversation: Conversation, style: Style) -> str:
    """Return the sign of a connection's end."""
    if diagnosis.is_shown_to_work(conversation):
        return style.arrived
    if diagnosis.is_seen_to_work(conversation):
        return style.doubtful
    if conversation.verdict in {"NEVER", "SOMETIMES"}:
        return style.broken
    return style.doubtful


def representative(conversation: Conversation) -> Branch | None:
    """Return the branch that stands for the conversation: the first that fails where any does, else
    the likeliest.
    """
    failing = next((branch for branch in conversation.branches if branch.works is False), None)
    if failing is not None and conversation.verdict in (Reachability.NEVER, Reachability.SOMETIMES):
        return failing
    if conversation.branches:
        return conversation.branches[0]
    return None


def verdict_in_words(conversation: Conversation) -> str:
    """Say what became of a connection: `works`, `never works`, `works in some branches`, or why it
    is undecided.
    """
    match conversation.verdict:
        case Reachability.ALWAYS:
            return "works"
        case Reachability.NEVER:
            return "never works"
        case Reachability.SOMETIMES:
            failing = sum(branch.works is False for branch in conversation.branches)
            return f"works sometimes: fails in {failing} of {len(conversation.branches)} branches"
        case Reachability.UNDECIDED:
            last = conversation.branches[0].traces[-1:] if conversation.branches else ()
            if last:
                return describe_outcome(last[0].outcome)
            return "undecided"
