"""The packets of a walk as parts of a page, each step to be opened by itself."""

from __future__ import annotations

from podpath.datapath.tracing.trace import Branch, Step, Trace
from podpath.net.packet import spell_ends
from podpath.report.pages.page import Section, fold, list_items, quote_lines, spell
from podpath.report.path import describe_outcome
from podpath.report.quotes import quote
from podpath.report.sentences import spell_near, spell_reason


def list_packets(branch: Branch) -> list[Section]:
    """Return a part for each packet of the branch."""
    return [
        Section(f"{trace.name}, step by step: {describe_outcome(trace.outcome)}", _packet(trace))
        for trace in branch.traces
    ]


def _packet(trace: Trace) -> str:
    start = f"<p>From netns {spell(trace.start)}: {spell(str(trace.packet))}</p>"
    return start + list_items([_step(step) for step in trace.steps], "ol")


def _step(step: Step) -> str:
    place = f"{step.netns}, {step.link}" if step.link else step.netns
    said = f"{step.stage} in {place}: {step.decision}: {spell_reason(step.reason)}"
    body = f'<p class="soft">{spell(step.function)}</p>'
    before, after = spell_ends(step.before), spell_ends(step.after)
    if before != after:
        body += f"<p>{spell(before)} becomes {spell(after)}</p>"
    body += quote_lines(step.spans)
    near = [f"{quote(one.span)}: {spell_near(one.reason)}" for one in step.near]
    if near:
        body += f"<p>Near misses</p>{list_items([spell(one) for one in near])}"
    return fold(said, body)
