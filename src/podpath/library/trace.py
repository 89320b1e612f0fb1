"""One connection through a node, packet by packet and step by step."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.checks.owned import NOBODY, OwnerPlaces, place_conversations
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.clearance import WalkedConnection, forbid_all_clear, forbid_failure
from podpath.diagnosis.forbids import Forbids
from podpath.diagnosis.ignorance import is_failure_open
from podpath.diagnosis.placeholders import Placeholders
from podpath.library.case import Case
from podpath.library.given import Asked, Given, place_probes
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import as_case
from podpath.library.result import DrawnResult
from podpath.net.probe import Probe
from podpath.net.provenance import Gap
from podpath.report.style import Style
from podpath.report.tables import TablePlan
from podpath.report.trace_text import render_trace

EXIT_CODES = {Reachability.ALWAYS: 0, Reachability.NEVER: 1, Reachability.SOMETIMES: 1}
UNDECIDED = 3
"""Of every other verdict, and of a connection that works as far as it was walked where something
forbids to say more.
"""


@dataclass(frozen=True, slots=True, repr=False)
class TraceResult(DrawnResult):
    """The answer of `trace`."""

    conversation: Conversation
    """Every packet's walk, under every combination of answers to what is not known."""
    gaps: tuple[Gap, ...] = ()
    """What could not be read, and why."""
    forbids: tuple[Forbids, ...] = ()
    """What forbids to say that it works, fails at times or never works; empty where that is
    said.
    """
    owners: OwnerPlaces = NOBODY
    """Whose the lines of the evidence are."""

    @property
    def verdict(self) -> Reachability:
        """Tell in one word whether it works."""
        if self.forbids:
            return Reachability.UNDECIDED
        return self.conversation.verdict

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The ways that it may go, the likeliest first."""
        return self.conversation.branches

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath trace`."""
        return EXIT_CODES.get(self.verdict, UNDECIDED)

    @property
    def table_plan(self) -> TablePlan:
        """The packets of the branch that is shown."""
        shown = (str(at) for at, one in enumerate(self.branches) if one is self.drawn)
        return TablePlan(
            f"branches.{next(shown, '0')}.packets",
            {
                "packet": "name",
                "direction": "direction",
                "header": "packet",
                "outcome": "outcome",
                "reason": "drop_reason",
                "line": "decided_by",
            },
        )

    def text(self, style: Style | None = None) -> str:
        """Return the answer as `podpath trace` prints it."""
        return render_trace(self.conversation, style or Style(), self.forbids, self.owners)

    def json(self) -> str:
        """Return the answer as a document of the schema `podpath/trace/v1`."""
        from podpath.report.json_documents import render_trace_json  # noqa: PLC0415 - only where it is asked for

        return render_trace_json(self.conversation, self.gaps, self.forbids, self.owners)

    def html(self) -> str:
        """Return the answer as one HTML file: the path, the line that ended it, and every step."""
        from podpath.report.pages.trace_page import render_trace_page  # noqa: PLC0415 - only where it is asked for

        return render_trace_page(self.conversation, self.gaps, self.forbids, self.owners)

    @property
    def drawn(self) -> Branch | None:
        """The branch that the text shows."""
        from podpath.report.walked_text import representative  # noqa: PLC0415 - only where something is drawn

        return representative(self.conversation)


def trace(case: Case | Given, probe: Asked, *, progress: Progress = silent) -> TraceResult:
    """Follow one connection through the case's node; what is not known forks the walk."""
    read = as_case(case, (probe,), progress)
    (asked,) = place_probes((probe,), read.node)
    with collecting_seldom(), stage(progress, "walking"):
        conversation = converse(read.node, asked)
        forbids = forbid_trace(read, asked, conversation)
        quoted = [span for one in forbids for span in one.spans]
        owners = place_conversations(read.facts, quoted, (conversation,))
        typed = Placeholders(read.facts).of_conversation(conversation)
        return TraceResult(typed, read.gaps, forbids, owners)


def forbid_trace(read: Case, asked: Probe, conversation: Conversation) -> tuple[Forbids, ...]:
    """Return what forbids to say what the walk alone would."""
    match conversation.verdict:
        case Reachability.SOMETIMES if not is_failure_open(conversation.branches):
            return ()
        case Reachability.ALWAYS | Reachability.SOMETIMES:
            return forbid_all_clear(read.facts, (WalkedConnection(asked, conversation),))
        case Reachability.NEVER:
            return forbid_failure(conversation)
        case Reachability.UNDECIDED:
            return ()
