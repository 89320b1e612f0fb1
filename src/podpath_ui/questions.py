"""What the page asks, put to podpath's library, and the answers kept for it.

An answer is one or more of the pages that `report` makes (`Result.html()`): the same that `--html`
writes. Questions are answered one at a time: an answer takes as much memory as the evidence is
long.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from podpath.flows.compared import FlowResult, compare_flows
from podpath.flows.flow import Expectation, Flow
from podpath.flows.judged import FlowState, FlowWalk
from podpath.library.case import Case
from podpath.library.diagnosis import diagnose
from podpath.library.diff import diff
from podpath.library.flows import ChangeFile, FlowsResult, plan_changes
from podpath.library.given import Packed, Pasted
from podpath.library.reading import read
from podpath.library.result import Result
from podpath.library.trace import TraceResult, trace
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.node import HOST
from podpath_ui.bounds import COMMAND, COMMANDS, FIXES, KEPT, LISTED, SAID, shorten
from podpath_ui.ends import (
    AskedEnds,
    ListedEnd,
    OfferedEnd,
    list_ends,
    offer_ends,
    offer_sysctls,
    offer_tried,
    place_ends,
)

_ARCHIVES = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh", b"PK\x03\x04")
"""How gzip, zstd, xz, bzip2 and zip begin; anything else is text."""
_COLORS = {0: "good", 1: "bad"}
"""By the exit code of the command that gives the answer; others are undecided."""
_STATES = {
    FlowState.CONNECTS: "good",
    FlowState.FAILS: "bad",
    FlowState.SOMETIMES: "bad",
    FlowState.UNDECIDED: "warn",
}


class ShownPage(TypedDict):
    """A page that an answer shows."""

    title: str
    number: int
    """What it is kept under."""


class Fix(TypedDict):
    """Commands that would mend it, to be tried as a change."""

    title: str
    commands: list[str]


class ShownAnswer(TypedDict):
    """An answer as the page gets it."""

    heading: str
    color: str
    """`good`, `bad` or `warn`."""
    asked: str
    pages: list[ShownPage]
    fixes: list[Fix]


class Offered(TypedDict):
    """What the page offers to choose from."""

    node: str
    namespaces: list[str]
    ends: list[OfferedEnd]
    left_out: int
    """Ends that are not listed."""
    tried: list[AskedEnds]
    sysctls: dict[str, dict[str, str]]
    compared: str
    """What it is compared with; empty where nothing was given yet."""
    live: bool


@dataclass(slots=True)
class Questions:
    """The case in question, what it is compared with, and the answers so far."""

    reader: Callable[[], Case]
    """Reads the evidence; a live node again and again."""
    live: bool = False
    other: Case | None = None
    """The node that it is compared with."""
    other_name: str = ""
    _case: Case = field(init=False)
    _ends: tuple[ListedEnd, ...] = field(init=False)
    _pages: OrderedDict[int, str] = field(default_factory=OrderedDict)
    _last: int = 0
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Read the evidence."""
        self._take(self.reader())

    def _take(self, case: Case) -> None:
        self._case, self._ends = case, list_ends(case)

    def offer(self) -> Offered:
        """Return what may be chosen."""
        with self._busy:
            node = self._case.node
            return Offered(
                node=shorten(node.name),
                namespaces=[shorten(name) for name in node.namespaces][:LISTED],
                ends=offer_ends(self._ends),
                left_out=max(0, len(self._ends) - LISTED),
                tried=offer_tried(self._case, self._ends),
                sysctls=offer_sysctls(node),
                compared=shorten(self.other_name),
                live=self.live,
            )

    def read_again(self) -> None:
        """Ask the live node anew; `UsageError` where the evidence is not live."""
        if not self.live:
            raise UsageError("only a live node can be read again: podpath ui --live")
        with self._busy:
            self._take(self.reader())

    def follow(self, asked: AskedEnds) -> ShownAnswer:
        """Walk a connection."""
        with self._busy:
            probe = self._place(asked)
            return self._show(trace(self._case, probe), "The path", probe)

    def explain(self, asked: AskedEnds) -> ShownAnswer:
        """Say what breaks a connection, and what would mend it."""
        with self._busy:
            probe = self._place(asked)
            found = diagnose(self._case, (probe,))
            answer = self._show(found, "What breaks it", probe)
            answer["fixes"] = list_fixes(found.data())
            return answer

    def change(self, asked: AskedEnds, change: str, netns: str) -> ShownAnswer:
        """Walk a connection before and after a change that nobody has made."""
        if not change.strip():
            raise UsageError("expected a change, such as `sysctl -w net.ipv4.ip_forward=1`")
        with self._busy:
            probe = self._place(asked)
            where = self._find_netns(netns)
            file = ChangeFile(path=Pasted(change, "the change"), netns=where)
            planned = plan_changes((file,), self._case.facts)
            flow = Flow(
                name=str(probe),
                source=str(probe.src),
                target=str(probe.dst),
                expect=Expectation.CONNECTS,
            )
            result = FlowsResult(compare_flows(self._case.facts, ((flow, probe),), planned))
            return self._show_change(result, probe)

    def compare(self, asked: AskedEnds) -> ShownAnswer:
        """Say which difference from the other node explains that a connection fails."""
        if self.other is None:
            raise UsageError("expected the bundle of a node where it works: choose one first")
        with self._busy:
            probe = self._place(asked)
            return self._show(diff(self._case, self.other, (probe,)), "The difference", probe)

    def take_other(self, name: str, data: bytes) -> str:
        """Read the bundle of the node that is compared with, and return what it is called."""
        packed = data.startswith(_ARCHIVES)
        shown = shorten(name) or "uploaded"
        text = "" if packed else data.decode("utf-8", "replace")
        with self._busy:
            self.other = read(Packed(data, shown) if packed else Pasted(text, shown))
            self.other_name = shown
        return shown

    def read_page(self, number: int) -> str | None:
        """Return a page of an answer; None where it is not kept."""
        return self._pages.get(number)

    def _place(self, asked: AskedEnds) -> Probe:
        return place_ends(asked, self._case, self._ends)

    def _find_netns(self, shown: str) -> str:
        """Return the namespace that the page shows by this name."""
        names = {shorten(name): name for name in self._case.node.namespaces}
        return names.get(shown, shown) if shown else HOST

    def _keep(self, title: str, page: str) -> ShownPage:
        self._last += 1
        self._pages[self._last] = page
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        return ShownPage(title=title, number=self._last)

    def _show(self, result: Result, title: str, probe: Probe) -> ShownAnswer:
        return ShownAnswer(
            heading=title,
            color=_COLORS.get(result.exit_code, "warn"),
            asked=shorten(str(probe), SAID),
            pages=[self._keep(title, result.html())],
            fixes=[],
        )

    def _show_change(self, result: FlowsResult, probe: Probe) -> ShownAnswer:
        (flow,) = result.flows
        pages = [self._keep("What the change does", result.html())]
        for title, walk in (("Before", flow.before), ("After", flow.walk)):
            walked = self._retell(walk)
            if walked is not None:
                pages.append(self._keep(title, walked.html()))
        return ShownAnswer(
            heading=say_change(flow),
            color=_STATES[flow.walk.state],
            asked=shorten(str(probe), SAID),
            pages=pages,
            fixes=[],
        )

    def _retell(self, walk: FlowWalk | None) -> TraceResult | None:
        """Return a walk before or after a change as `trace` would; None where nothing was
        walked.
        """
        if walk is None or walk.conversation is None:
            return None
        return TraceResult(walk.conversation, self._case.gaps, walk.forbids)


def say_change(flow: FlowResult) -> str:
    """Say in a line what a change does to a connection."""
    before = flow.before.state if flow.before is not None else flow.walk.state
    return f"Before: {before}. After: {flow.walk.state}."


def list_fixes(document: Mapping[str, Any]) -> list[Fix]:
    """Return the fixes of a diagnosis' certain findings that are short enough to be offered
    whole.
    """
    certain = [one for one in document["findings"] if one["certainty"] == 1]
    repairs = [repair for one in certain for repair in one["repairs"]]
    return [
        Fix(title=shorten(one["title"], SAID), commands=list(one["commands"]))
        for one in repairs
        if _is_offered(one["commands"])
    ][:FIXES]


def _is_offered(commands: Sequence[str]) -> bool:
    return 0 < len(commands) <= COMMANDS and all(len(one) <= COMMAND for one in commands)
