"""Whole answers to short ones: the documents of the published schemas, of which the first items of
each list are taken, with what is left out counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from podpath.library.result import Result
from podpath.net.provenance import Source, Span
from podpath.report.escape import escape
from podpath.report.style import Style
from podpath_mcp import shapes
from podpath_mcp.bounds import NAME, QUOTED, SENTENCE, shorten, shorten_commands, shorten_lines
from podpath_mcp.shelf import ANSWERS, QUOTES, AnswerShelf, KeptAnswer, list_neighbors

T = TypeVar("T")
Document = Mapping[str, Any]
"""A JSON document, or a part of one, as its published schema has it."""
FINDINGS, QUESTIONS, CONNECTIONS, REASONS = 4, 4, 8, 6
EVIDENCE, BREAKS, FIXES, COMMANDS = 4, 4, 2, 6
PACKETS, STAGES, ASSUMPTIONS = 6, 24, 6
_TEXT = Style(verbose=True, width=1000)
MEANINGS = {
    "fault": (
        "A cause or a fault is certain: the quoted lines decide it. Findings whose `certain` is"
        " false are possibilities."
    ),
    "possible": (
        "Undecided. Nothing here is certain: tell possibilities as such, and ask for the output"
        " that the first question names."
    ),
    "undecided": "Undecided: something is missing, and it is named. This is no all-clear.",
    "UNDECIDED": "Undecided: something is missing, and it is named. This is no all-clear.",
    "none": (
        "Nothing wrong was found with what was looked at, on stated facts. Nothing is said of any"
        " other connection."
    ),
    "ALWAYS": "It works on this node on stated facts, whatever is random.",
    "NEVER": "It fails on stated facts; the last packet names the stage and the line.",
    "SOMETIMES": "It fails in some of the ways that it may go, and works in others.",
    "explained": (
        "Walking the failing connections with the listed differences taken over from the good node"
        " makes them work."
    ),
    "unexplained": "It fails on the bad node, and no difference that can be walked explains it.",
    "works": "Nothing that was walked fails on the bad node.",
    "found": "The logs show a change that is likely to have led to it. Likely is not certain.",
}
"""What each verdict allows to say."""


class BriefDraft:
    """An answer that is being made: its number, what is left out of it, and what stands behind
    it.
    """

    def __init__(self, shelf: AnswerShelf, result: Result, spans: Iterable[Span]) -> None:
        """Take a result and the lines that may be quoted from it."""
        self.number = shelf.next_number()
        self.left_out: dict[str, int] = {}
        whole = result.json()
        self.document: Document = json.loads(whole)
        self._sources: dict[str, list[Source]] = {}
        for span in spans:
            known = self._sources.setdefault(escape(span.source.name), [])
            if not any(source is span.source for source in known):
                known.append(span.source)
        self._kept = KeptAnswer(forms={"json": whole, "text": result.text(_TEXT)})
        self._shelf = shelf
        self._summary = result.text(Style(brief=True, width=1000))

    def finish(self) -> dict[str, Any]:
        """Keep what stands behind the answer, and return what every answer has."""
        self._shelf.keep(self.number, self._kept)
        verdict = str(self.document["verdict"])
        return {
            "number": self.number,
            "verdict": verdict,
            "meaning": MEANINGS.get(verdict, ""),
            "summary": shorten_lines(self._summary.rstrip("\n"), 3 * SENTENCE),
            "no_all_clear_because": self.take(
                "no_all_clear_because",
                self.document.get("forbids", ()),
                REASONS,
                lambda one: shorten(one["says"], SENTENCE),
            ),
            "left_out": {name: count for name, count in self.left_out.items() if count},
            "resources": [f"{ANSWERS}/{self.number}/{form}" for form in self._kept.forms],
        }

    def take(self, name: str, items: Sequence[Any], most: int, make: Callable[[Any], T]) -> list[T]:
        """Make something of the first items of a list, and count the others."""
        self._count(name, len(items) - len(items[:most]))
        return [make(item) for item in items[:most]]

    def take_texts(
        self, name: str, items: Sequence[str], most: int, width: int = NAME
    ) -> list[str]:
        """Return the first texts of a list, shortened, and count the others."""
        return self.take(name, items, most, lambda item: shorten(item, width))

    def take_commands(self, commands: Sequence[str]) -> list[str]:
        """Return the first commands that are short enough, and count the others."""
        whole, others = shorten_commands(commands, COMMANDS)
        self._count("commands", others)
        return whole

    def quote(self, one: Document) -> shapes.QuoteBrief:
        """Return a quoted line, and keep it with its neighbors."""
        return shapes.QuoteBrief(
            source=shorten(one["source"], NAME),
            line=one["line"],
            text=shorten_lines(one["text"], QUOTED),
            around=self._keep_neighbors(one["source"], one["line"]),
        )

    def _keep_neighbors(self, name: str, line: int) -> str | None:
        for source in self._sources.get(name, ()):
            inside = 0 <= line - source.first_line < len(source.lines)
            if inside and len(self._kept.quotes) < QUOTES:
                self._kept.quotes.append(list_neighbors(source, line))
                return f"{ANSWERS}/{self.number}/quotes/{len(self._kept.quotes) - 1}"
        return None

    def finding(self, one: Document) -> shapes.FindingBrief:
        """Return a finding with its first lines and fixes."""
        return shapes.FindingBrief(
            check=one["check"],
            severity=one["severity"],
            certain=one["certainty"] == 1,
            certainty=one["certainty"],
            claim=shorten(one["claim"], SENTENCE),
            evidence=self.take("evidence", one["evidence"], EVIDENCE, self.quote),
            breaks=self.take_texts("breaks", one["breaks"], BREAKS),
            fixes=self.take("fixes", one["repairs"], FIXES, self._fix),
        )

    def _fix(self, one: Document) -> shapes.FixBrief:
        return shapes.FixBrief(
            title=shorten(one["title"], NAME),
            commands=self.take_commands(one["commands"]),
            proven=one["proven"],
            side_effects=self.take_texts("side_effects", one["side_effects"], BREAKS),
        )

    def difference(self, one: Document) -> shapes.DifferenceBrief:
        """Return a difference of two nodes with the first lines of each."""
        return shapes.DifferenceBrief(
            says=shorten(one["says"], SENTENCE),
            here=self.take("evidence", one["here"], 2, self.quote),
            there=self.take("evidence", one["there"], 2, self.quote),
            commands=self.take_commands(one["commands"]),
        )

    def _count(self, name: str, others: int) -> None:
        self.left_out[name] = self.left_out.get(name, 0) + others


def shorten_diagnosis(draft: BriefDraft, lacking: Sequence[str] = ()) -> shapes.DiagnosisBrief:
    """Return what broke the path; `lacking` is what of a cluster could not be read."""
    document = draft.document
    return shapes.DiagnosisBrief(
        node=shorten(document["node"], NAME),
        findings=draft.take("findings", document["findings"], FINDINGS, draft.finding),
        connections=draft.take("connections", document["conversations"], CONNECTIONS, _walked),
        questions=draft.take(
            "questions", document["unknowns"], QUESTIONS, lambda one: _question(draft, one)
        ),
        not_read=draft.take_texts("not_read", lacking, REASONS, SENTENCE),
        **draft.finish(),
    )


def _walked(one: Document) -> shapes.ConnectionBrief:
    return shapes.ConnectionBrief(probe=shorten(one["probe"], NAME), verdict=one["verdict"])


def _question(draft: BriefDraft, one: Document) -> shapes.QuestionBrief:
    (ask,) = draft.take_commands([one["ask"]]) or ["(too long: see the whole answer)"]
    return shapes.QuestionBrief(
        fact=shorten(one["fact"], SENTENCE),
        ask=ask,
        decides=draft.take_texts("decides", one["decides"], 4, SENTENCE),
    )


def shorten_trace(draft: BriefDraft, branch: int) -> shapes.TraceBrief:
    """Return one way of a connection: that of the branch with this place in the document."""
    document = draft.document
    branches = document["branches"]
    shown = branches[branch] if branch < len(branches) else None
    packets = shown["packets"] if shown is not None else ()
    first = [*packets[: PACKETS - 1], *packets[PACKETS - 1 :][-1:]]  # the last one tells the end
    draft.left_out["packets"] = len(packets) - len(first)
    made = shown["assumptions"] if shown is not None else ()
    return shapes.TraceBrief(
        probe=shorten(document["probe"], NAME),
        failure=shorten(shown["failure"], SENTENCE) if shown is not None else "",
        branches=len(branches),
        assumptions=draft.take_texts(
            "assumptions",
            [f"{one['fact']} is {one['meaning']}" for one in made],
            ASSUMPTIONS,
            SENTENCE,
        ),
        packets=[_packet(draft, one) for one in first],
        **draft.finish(),
    )


def _packet(draft: BriefDraft, one: Document) -> shapes.PacketBrief:
    steps = one["steps"]
    stages = [f"{step['stage']} in {step['netns']}" for step in steps]
    ended = one["decided_by"]
    return shapes.PacketBrief(
        name=shorten(one["name"], NAME),
        direction=one["direction"],
        packet=shorten(one["packet"], NAME),
        outcome=one["outcome"],
        stages=draft.take_texts("stages", list(dict.fromkeys(stages)), STAGES, 80),
        last_reason=shorten(steps[-1]["why"], SENTENCE) if steps else "",
        decided_by=draft.quote(ended) if ended is not None else None,
    )


def shorten_comparison(draft: BriefDraft) -> shapes.ComparisonBrief:
    """Return what explains that one node works and another does not."""
    document = draft.document
    return shapes.ComparisonBrief(
        explanations=draft.take(
            "explanations", document["explanations"], 3, lambda one: _explanation(draft, one)
        ),
        unexplained=draft.take_texts("unexplained", document["unexplained"], CONNECTIONS),
        **draft.finish(),
    )


def _explanation(draft: BriefDraft, one: Document) -> shapes.ExplanationBrief:
    return shapes.ExplanationBrief(
        differences=draft.take("differences", one["differences"], 4, draft.difference),
        probes=draft.take_texts("probes", one["probes"], CONNECTIONS),
        faults=[fault["check"] for fault in one["faults"][:FINDINGS]],
    )


def shorten_captures(draft: BriefDraft) -> shapes.CapturesBrief:
    """Return what captures alone show."""
    document = draft.document
    return shapes.CapturesBrief(
        findings=draft.take("findings", document["findings"], FINDINGS, draft.finding),
        connections=draft.take(
            "connections",
            document["connections"],
            CONNECTIONS,
            lambda one: shapes.CapturedConnectionBrief(
                connection=shorten(one["connection"], NAME),
                meaning=one["meaning"],
                fails=one["fails"],
                packets=one["packets"],
            ),
        ),
        **draft.finish(),
    )


def shorten_timeline(draft: BriefDraft) -> shapes.TimelineBrief:
    """Return what changed in the window in which it broke."""
    document = draft.document
    window = document["window"]
    said = ""
    if window is not None:
        said = f"{window['last_ok'] or window['looked_from']} to {window['began']}"
    return shapes.TimelineBrief(
        window=said,
        chains=draft.take("chains", document["chains"], 2, lambda one: _chain(draft, one)),
        suspects=draft.take(
            "suspects",
            document["suspects"],
            CONNECTIONS,
            lambda one: shapes.SuspectBrief(
                says=shorten(f"{one['subject']} {one['verb']}", NAME),
                time=one["time"],
                before_failure=one["before"],
                evidence=draft.quote(one["evidence"]),
            ),
        ),
        questions=draft.take_texts("questions", document["questions"], QUESTIONS, SENTENCE),
        **draft.finish(),
    )


def _chain(draft: BriefDraft, one: Document) -> shapes.ChainBrief:
    return shapes.ChainBrief(
        title=shorten(one["title"], SENTENCE),
        links=draft.take_texts(
            "links",
            [f"{link['time']} {link['says']}" for link in one["links"]],
            CONNECTIONS,
            SENTENCE,
        ),
        leads_to=[shorten(lead["says"], NAME) for lead in one["leads_to"][:BREAKS]],
        prevention=shorten(one["prevention"], SENTENCE),
    )
