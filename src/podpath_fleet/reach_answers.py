"""What becomes of all flows of a class: what their table's row says (`flow_answers`), without what
is each flow's own, and where their first packets end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation, Delivered, Transmitted
from podpath.datapath.walk.compiled import Engine
from podpath.library.case import Case
from podpath.library.trace import forbid_trace
from podpath.net.addresses import Family
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.report.escape import escape
from podpath_fleet.alike_pods import AlikePods, list_alike_pods
from podpath_fleet.flow_answers import FlowAnswer, answer_flow, refuse_flow
from podpath_fleet.flow_classes import FlowHeader
from podpath_fleet.rules_met import MetRule, WalkNote, list_carried, list_places
from podpath_fleet.service_shapes import ShapedService, list_shaped_services


class JudgedAnswer(NamedTuple):
    """What else somebody says of a conversation (`ReachWalker`'s judge)."""

    state: str
    names: tuple[str, ...] = ()
    """Of what decides: its stage, chain and table."""
    evidence: str = ""
    """The source that decides, with `line` and `text`; empty where no line does."""
    line: int | None = None
    text: str = ""


class ReachAnswer(NamedTuple):
    """What becomes of every flow of a class."""

    row: FlowAnswer
    """Without how it arrives, and in how many branches."""
    ends: tuple[str, ...]
    """Where first packets arrive or leave the node, over all branches, in order; empty where none
    does.
    """
    judged: JudgedAnswer | None = None
    """What the walker's judge says; None where it has none."""

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """Return where the lines stand that it quotes: sources, and numbers."""
        quoted = (self.row, self.judged) if self.judged is not None else (self.row,)
        return tuple((one.evidence, one.line) for one in quoted if one.line is not None)

    @property
    def words(self) -> str:
        """Return what it says, but for places."""
        row, judged = self.row, self.judged
        said = [row.text, row.open, row.reason, row.evidence]
        if judged is not None:
            said += [*judged.names, judged.evidence, judged.text]
        return " ".join(said)


Judge = Callable[[Case, Conversation], JudgedAnswer]
"""Says more of a conversation; what it looks at of the header counts as what the walk did."""


class ReachWalker:
    """Walks headers of one node, which is compiled as walks need it."""

    def __init__(self, case: Case, *, watched: bool = True, judge: Judge | None = None) -> None:
        """Compile nothing yet; `watched` is for headers that note who looks at them."""
        self.case = case
        self.judge = judge
        self.engine = Engine(case.node, watched=watched, any_port=True)
        """The node as it is compiled."""
        self.met: set[MetRule] = set()
        """The rules that walks met so far."""
        self.last = WalkNote()
        """What the last conversation met."""
        self.whole = True
        """False where branches were left out, which may have met others."""
        self._services: dict[Family, tuple[ShapedService, ...]] = {}
        self._alike: dict[Family, tuple[AlikePods, ...]] = {}

    def walk(self, header: FlowHeader) -> ReachAnswer:
        """Return what becomes of a watched header."""
        return self._answer(header.probe)

    def walk_alone(self, probe: Probe) -> ReachAnswer:
        """Return what becomes of a probe that nobody watches."""
        return self._answer(probe)

    def services(self, family: Family) -> tuple[ShapedService, ...]:
        """Return the services that may share walks; none where the evidence leaves other states of
        the node possible, each of which is walked for each connection.
        """
        if family not in self._services:
            none = bool(self.case.facts.alternatives)
            self._services[family] = () if none else list_shaped_services(self.case.node, family)
        return self._services[family]

    def alike_pods(self, family: Family) -> tuple[AlikePods, ...]:
        """Return the groups of pods that the node treats alike; none where the evidence leaves
        other states of the node possible.
        """
        if family not in self._alike:
            none = bool(self.case.facts.alternatives)
            self._alike[family] = () if none else list_alike_pods(self.case.node, family)
        return self._alike[family]

    def _answer(self, probe: Probe) -> ReachAnswer:
        try:
            conversation = converse(self.engine, probe)
        except UsageError as error:
            self.last = WalkNote()
            return ReachAnswer(refuse_flow(_without_ends(error)), ())
        branches = conversation.branches
        answer = self.summarize(conversation)
        self.note(conversation, WalkNote(list_places(branches), list_carried(branches)))
        return answer

    def summarize(self, conversation: Conversation) -> ReachAnswer:
        """Return what becomes of a conversation's flow."""
        answer = summarize(self.case, conversation)
        if self.judge is None:
            return answer
        return answer._replace(judged=self.judge(self.case, conversation))

    def note(self, conversation: Conversation, noted: WalkNote) -> None:
        """Keep which rules a conversation met, and whether all of it was walked."""
        self.last = noted
        self.met.update(noted.met)
        self.whole = self.whole and not (conversation.truncated or conversation.pruned)


def summarize(case: Case, conversation: Conversation) -> ReachAnswer:
    """Return what becomes of a conversation's flow."""
    forbids = forbid_trace(case, conversation.probe, conversation)
    row = answer_flow(None, conversation, forbids)
    return ReachAnswer(row._replace(branches=0), _list_ends(conversation))


def _without_ends(error: UsageError) -> str:
    """Name an error by its kind: its words may hold the flow's own address."""
    return type(error).__name__


def _list_ends(conversation: Conversation) -> tuple[str, ...]:
    found = {_name_end(branch) for branch in conversation.branches if branch.traces}
    return tuple(sorted(found - {""}))


def _name_end(branch: Branch) -> str:
    outcome = branch.traces[0].outcome
    if isinstance(outcome, Delivered):
        return str(escape(f"delivered in {outcome.netns}"))
    if isinstance(outcome, Transmitted):
        return str(escape(f"sent out by {outcome.link} of {outcome.netns}"))
    return ""
