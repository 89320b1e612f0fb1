"""A diagnosis and a trace as JSON documents of the published, versioned schemas
`podpath/diagnosis/v1` and `podpath/trace/v1`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.meeting import PacketComparison
from podpath.net.provenance import Gap
from podpath.node.case import Contradiction
from podpath.report.borders import branch_object, gap_object, packet_object, quote_object
from podpath.report.clearance_words import forbids_object
from podpath.report.complaint_words import say_complained
from podpath.report.escape import escape
from podpath.report.finding_json import finding_object
from podpath.report.owner_words import owned_objects
from podpath.report.sentences.questions import spell_answer, spell_fact
from podpath.report.walked_text import representative

DIAGNOSIS_SCHEMA = "podpath/diagnosis/v1"
TRACE_SCHEMA = "podpath/trace/v1"


def render_diagnosis_json(diagnosis: Diagnosis) -> str:
    """Render the whole answer as one JSON document, with a line end."""
    return _dump(
        {
            "schema": DIAGNOSIS_SCHEMA,
            "verdict": diagnosis.verdict.value,
            "node": escape(diagnosis.node),
            "findings": [
                finding_object(finding, diagnosis.owners) for finding in diagnosis.findings
            ],
            "conversations": [
                _conversation(diagnosis, conversation) for conversation in diagnosis.conversations
            ],
            "unknowns": [_question(question) for question in diagnosis.questions],
            "contradictions": [
                _contradiction(one, diagnosis.owners) for one in diagnosis.contradictions
            ],
            "gaps": [gap_object(gap) for gap in diagnosis.gaps],
            "notes": [
                escape(note)
                for note in (*map(say_complained, diagnosis.complained), *diagnosis.notes)
            ],
            "partings": [_parting(meeting) for meeting in diagnosis.partings],
            "forbids": [forbids_object(one, diagnosis.owners) for one in diagnosis.forbids],
        }
    )


def _contradiction(contradiction: Contradiction, owners: OwnerPlaces) -> dict[str, object]:
    return {
        "fact": escape(contradiction.fact),
        "meaning": escape(contradiction.meaning),
        "evidence": [quote_object(span) for span in contradiction.spans],
        "whose": owned_objects(owners.list_owned(contradiction.spans)),
    }


def _walked_branch(branch: Branch, owners: OwnerPlaces) -> dict[str, object]:
    packets = [packet_object(trace, owners) for trace in branch.traces]
    return {**branch_object(branch), "packets": packets}


def render_trace_json(
    conversation: Conversation,
    gaps: Sequence[Gap],
    forbids: Sequence[Forbids] = (),
    owners: OwnerPlaces = NOBODY,
) -> str:
    """Render a traced connection with all its branches as one JSON document, with a line end."""
    return _dump(
        {
            "schema": TRACE_SCHEMA,
            "probe": escape(str(conversation.probe)),
            "verdict": "UNDECIDED" if forbids else conversation.verdict,
            "truncated": conversation.truncated,
            "forbids": [forbids_object(one, owners) for one in forbids],
            "branches": [_walked_branch(branch, owners) for branch in conversation.branches],
            "gaps": [gap_object(gap) for gap in gaps],
        }
    )


def _conversation(diagnosis: Diagnosis, conversation: Conversation) -> dict[str, object]:
    branch = representative(conversation)
    open_still = conversation.verdict == "ALWAYS" and not diagnosis.is_shown_to_work(conversation)
    open_still |= diagnosis.is_seen_to_work(conversation)
    return {
        "probe": escape(str(conversation.probe)),
        "verdict": "UNDECIDED" if open_still else conversation.verdict,
        "truncated": conversation.truncated,
        "packets": [packet_object(trace, diagnosis.owners) for trace in branch.traces]
        if branch is not None
        else [],
        "branches": [branch_object(branch) for branch in conversation.branches],
    }


def _parting(meeting: PacketComparison) -> dict[str, object]:
    return {
        "probe": escape(meeting.probe),
        "packet": meeting.packet,
        "predicted": {
            "says": escape(meeting.predicted),
            "evidence": [quote_object(span) for span in meeting.predicted_by],
        },
        "seen": {
            "says": escape(meeting.seen),
            "evidence": [quote_object(span) for span in meeting.seen_by],
        },
    }


def _question(question: Question) -> dict[str, object]:
    return {
        "fact": escape(spell_fact(question.fact)),
        "ask": escape(question.ask),
        "decides": [escape(spell_answer(line)) for line in question.decides],
    }


def _dump(document: dict[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
