"""Flows that must and must not connect, on a node as it is or as a change would leave it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath

from podpath.assembly.planned.change import assemble_change
from podpath.collect.texts import read_text
from podpath.diagnosis.forbids import FlowsNotWalked
from podpath.evidence.planned.files import read_change
from podpath.flows.compared import (
    FlowResult,
    FlowsAnswer,
    alter_case,
    compare_flows,
    place_flows,
)
from podpath.flows.derive import derive_flows, emit_flows
from podpath.flows.drained import plan_drain
from podpath.flows.file import read_flows
from podpath.flows.flow import Flow, FlowWitness
from podpath.flows.judged import FlowState, FlowWalk
from podpath.library.case import Case, NodeCase
from podpath.library.given import Given, Pasted
from podpath.library.many import list_witnesses
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import as_case
from podpath.library.result import Result
from podpath.net.addresses import Family
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.provenance import Source
from podpath.node import case as facts
from podpath.node.alteration import apply_changes
from podpath.node.node import HOST, Node
from podpath.node.planned import PlannedChange
from podpath.report.flows_text import render_flows
from podpath.report.style import Style
from podpath.report.tables import TablePlan

FlowsGiven = str | PathLike[str] | Pasted | Sequence[Flow]
"""Flows: a file of them, its text, or values."""
UNMET, UNDECIDED = 1, 3
_DRAIN = "drain:"
_OPTION = re.compile(
    r"(?P<path>.*?)(?P<options>(?:,(?:noflush|legacy|nft|ipv6|netns=[^,]+|node=[^,]+))*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFile:
    """A file to take over in the model first, and how."""

    path: str | Pasted
    noflush: bool = False
    """Rules are taken over as `iptables-restore --noflush` does."""
    flavour: str | None = None
    """`nft` or `legacy`: by which program; None: by the one whose tables the node has."""
    family: Family | None = None
    """None: by the rules themselves."""
    netns: str = HOST
    node: str = ""
    """The node that it is for, of several."""
    drained: str = ""
    """The node that is drained: there is no file then."""

    @classmethod
    def parse(cls, text: str) -> ChangeFile:
        """Read `PATH[,noflush][,legacy|nft][,ipv6][,netns=NAME][,node=NAME]`, or `drain:NODE`."""
        if text.startswith(_DRAIN):
            return cls(path=text, drained=text.removeprefix(_DRAIN))
        found = _OPTION.fullmatch(text)
        path, options = (found["path"], found["options"]) if found is not None else (text, "")
        words = options.split(",")[1:]
        netns = next((word.removeprefix("netns=") for word in words if word[:6] == "netns="), HOST)
        node = next((word.removeprefix("node=") for word in words if word[:5] == "node="), "")
        flavour = next((word for word in words if word in {"legacy", "nft"}), None)
        return cls(
            path=path,
            noflush="noflush" in words,
            flavour=flavour,
            family=6 if "ipv6" in words else None,
            netns=netns,
            node=node,
        )


@dataclass(frozen=True, slots=True, repr=False)
class FlowsResult(Result):
    """The answer of `check`."""

    answer: FlowsAnswer
    allow_undecided: bool = False
    """True: flows of which nobody can tell do not count."""

    @property
    def flows(self) -> tuple[FlowResult, ...]:
        """What became of every flow, in the order of the file."""
        return self.answer.results

    @property
    def verdict(self) -> str:
        """Tell in one word: `met`, `unmet` or `undecided`."""
        if self.answer.unmet:
            return "unmet"
        if self.answer.undecided and not self.allow_undecided:
            return "undecided"
        return "met"

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath check`."""
        return {"met": 0, "unmet": UNMET}.get(self.verdict, UNDECIDED)

    @property
    def table_plan(self) -> TablePlan:
        """Each flow and what became of it."""
        return TablePlan(
            "flows",
            {
                "name": "name",
                "expect": "expect",
                "state": "state",
                "met": "met",
                "says": "says",
                "line": "evidence.0",
            },
        )

    def text(self, style: Style | None = None) -> str:
        """Return the answer as `podpath check` prints it."""
        return render_flows(self.answer, style or Style())

    def json(self) -> str:
        """Return the answer as a document of the schema `podpath/check/v1`."""
        from podpath.report.flows_json import render_flows_json  # noqa: PLC0415 - only where it is asked for

        return render_flows_json(self.answer, self.verdict)

    def junit(self) -> str:
        """Return the answer as a JUnit report, which most CI systems show."""
        from podpath.report.flows_junit import render_junit  # noqa: PLC0415 - as above

        return render_junit(self.answer)

    def sarif(self) -> str:
        """Return the answer as SARIF 2.1.0, which code hosts show at the lines."""
        from podpath.report.flows_sarif import render_sarif  # noqa: PLC0415 - as above

        return render_sarif(self.answer)


def check(
    case: Case | Given,
    flows: FlowsGiven,
    changes: Sequence[str | ChangeFile] = (),
    *,
    allow_undecided: bool = False,
    progress: Progress = silent,
) -> FlowsResult:
    """Walk the flows that must and must not connect, and compare with what is expected.

    `changes` are taken over in the model first, one after the other: then each flow also says
    whether they change it, and by which line.
    """
    stated = read_given_flows(flows)
    read = as_case(case, list_probes(stated), progress)
    single = [flow for flow in stated if not flow.is_set]
    sets = [flow for flow in stated if flow.is_set]
    placed = place_flows(single, read.node, read.facts.objects)
    with collecting_seldom():
        planned = plan_changes(changes, read.facts)
        found = expand_sets(read, sets, planned, progress)
        with stage(progress, "walking") as share:
            walked = [(flow, probe) for flow, probe, done in found if done]
            answer = compare_flows(read.facts, (*placed, *walked), planned, share)
    left = [_leave_open(flow, probe) for flow, probe, done in found if not done]
    return FlowsResult(replace(answer, results=(*answer.results, *left)), allow_undecided)


def list_probes(flows: Iterable[Flow]) -> list[str]:
    """Return the probes of flows that are named one by one."""
    return [flow.probe for flow in flows if not flow.is_set]


def expand_sets(
    case: Case,
    sets: Sequence[Flow],
    planned: Sequence[PlannedChange],
    progress: Progress = silent,
) -> tuple[tuple[Flow, Probe, bool], ...]:
    """Return flows that stand for sets of them, one for each answer before and after the changes,
    with their probes; False for what nobody walked. `UsageError` where the changes are not the
    node's alone.
    """
    if not sets:
        return ()
    other = next((one for one in planned if one.drained or one.objects), None)
    if other is not None:
        raise UsageError(f"{other.name} is checked by flows named one by one, saw a set of them")
    cases = [case]
    if planned:
        changed = alter_case(case.facts, planned)
        cases.append(Case(nodes=(NodeCase(name="", facts=changed),)))
    return tuple(
        (_stand_for(flow, one), one.probe, one.walked)
        for flow in sets
        for one in list_witnesses(cases, flow.as_set, judged=True, progress=progress)
    )


def _stand_for(flow: Flow, one: FlowWitness) -> Flow:
    name = f"{flow.name} ({one.probe})"
    return replace(flow, name=name, ports="", stands_for=one.stands_for)


def _leave_open(flow: Flow, probe: Probe) -> FlowResult:
    """Say of flows that nobody walked that they are undecided."""
    forbids = (FlowsNotWalked(said=flow.stands_for),)
    return FlowResult(
        flow=flow, probe=probe, walk=FlowWalk(state=FlowState.UNDECIDED, forbids=forbids)
    )


def derive(case: Case | Given, *, progress: Progress = silent) -> str:
    """Return a file of the flows that the evidence asks for: services, probes, policies."""
    return emit_flows(derive_flows(as_case(case, (), progress).facts))


def read_given_flows(flows: FlowsGiven) -> tuple[Flow, ...]:
    """Read a file of flows; `TableError` names what is wrong in it."""
    match flows:
        case Pasted(text=text, name=name):
            return read_flows(text, name)
        case str() | PathLike():
            path = fspath(flows)
            return read_flows(read_text(path), path)
        case _:
            return tuple(flows)


def plan_changes(
    changes: Sequence[str | ChangeFile], case: facts.Case
) -> tuple[PlannedChange, ...]:
    """Read the changes, each against the node as those before it leave it."""
    planned: list[PlannedChange] = []
    node = case.node
    for given in changes:
        file = ChangeFile.parse(given) if isinstance(given, str) else given
        if file.drained:
            planned.append(plan_drain(case, file.drained))
            continue
        change = _plan(file, node)
        node = apply_changes(node, change.changes)
        planned.append(change)
    return tuple(planned)


def _plan(given: ChangeFile, node: Node) -> PlannedChange:
    if given.netns not in node.namespaces:
        shown = ", ".join(list(node.namespaces)[:6])
        raise UsageError(f"expected a namespace of the evidence ({shown}), saw {given.netns!r}")
    if isinstance(given.path, Pasted):
        name, text = given.path.name, given.path.text
    else:
        name, text = given.path, read_text(given.path)
    source = Source(name=name, lines=tuple(text.splitlines()), netns=given.netns)
    read = read_change(source, family=given.family, flavour=given.flavour)
    if read is None:
        raise UsageError(
            f"{name}: expected rules for iptables-restore, a script for nft -f, sysctls, calls of "
            "iptables, ip route or ip rule, or a NetworkPolicy, saw none of them"
        )
    return assemble_change(
        read,
        node,
        name=name,
        netns=given.netns,
        noflush=given.noflush,
        flavour=given.flavour,
    )
