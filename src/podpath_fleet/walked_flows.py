"""Many connections through one node: each gets the answer of its class, with its own addresses in
it. What `podpath.walk_many` and `podpath trace --flows` return.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from os import PathLike, fspath
from typing import Any, NamedTuple

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.vocabulary import Reachability
from podpath.datapath.walk.compiled import Engine
from podpath.library.case import Case
from podpath.library.given import Asked, Given
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import as_case
from podpath.library.result import Printable
from podpath.library.trace import forbid_trace
from podpath.net.counted import Counted
from podpath.net.errors import UsageError
from podpath.net.probe import EPHEMERAL, Probe
from podpath.node.probe_names import resolve_probe
from podpath.report.style import Style
from podpath_fleet.flow_answers import UNREADABLE, FlowAnswer, answer_flow, refuse_flow
from podpath_fleet.flow_classes import PORT, ClassTable, FlowClasses, FlowHeader, join_header
from podpath_fleet.flow_table import (
    FlowRow,
    Row,
    make_arrow,
    read_flow_table,
    spell_probe,
    write_flow_table,
    write_json_lines,
)

_TOLD = 1 << 14
"""Flows between two words of progress."""
_REMEMBERED = 1 << 18
"""Pairs of ends that are kept as they were spelled; when there are more, all are forgotten."""
_PORT_MASK = (1 << PORT) - 1
PORTS = {"": 0, **{str(number): number for number in range(1 << PORT)}}
"""Source ports by how they are spelled; none is 0, for which a usual one is taken."""
_SHOWN = 12
"""Groups of equal answers that the text lists."""
WORKS = Reachability.ALWAYS.value
_EXIT_CODES = {UNREADABLE: 2, "NEVER": 1, "SOMETIMES": 1, "UNDECIDED": 3, "ALWAYS": 0}
"""By verdict, what weighs most first."""

Flows = str | PathLike[str] | Iterable[Asked | FlowRow]
"""Connections: the path of a table, or probes, their texts, or rows of a table."""


@dataclass(frozen=True, slots=True, repr=False)
class WalkedFlows(Printable):
    """The answer of `walk_many`: row by row, in the order in which the flows were given."""

    rows: Sequence[FlowRow]
    """The flows as they were given."""
    answers: Sequence[FlowAnswer]
    """Of each flow; those of one class share theirs."""
    arrivals: Sequence[str]
    """Of each flow, how its first packet arrived, with its own addresses in it."""
    walked: int
    """How many walks it took: the classes that were new."""

    @property
    def verdicts(self) -> Counter[str]:
        """Count the flows of each verdict."""
        return Counter(answer.verdict for answer in self.answers)

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath trace --flows`: that of what weighs most."""
        found = self.verdicts
        return next((code for verdict, code in _EXIT_CODES.items() if found[verdict]), 3)

    def write(self, path: str) -> None:
        """Write a table: Parquet or JSON lines by the file's name, else CSV."""
        with collecting_seldom():
            write_flow_table(path, self._zip())

    def json(self) -> str:
        """Return one JSON object for each flow, a line each."""
        text = StringIO()
        write_json_lines(text, self._zip())
        return text.getvalue()

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow.Table, where it is installed
        """Return the table as one of Arrow."""
        return make_arrow(self._zip())

    def _zip(self) -> Iterator[Row]:
        return zip(self.rows, self.answers, self.arrivals, strict=True)

    def text(self, style: Style | None = None) -> str:
        """Return how many flows have each verdict, and the lines that decided most of them."""
        _ = style
        lines = [
            f"{len(self.answers):,} flows: "
            + ", ".join(f"{count:,} {verdict}" for verdict, count in self.verdicts.most_common())
            + f" ({self.walked:,} walks)"
        ]
        broken = Counter(answer for answer in self.answers if answer.verdict != WORKS).most_common()
        lines += [f"  {count:>9,}  {_tell(answer)}" for answer, count in broken[:_SHOWN]]
        if len(broken) > _SHOWN:
            lines.append(f"  and {len(broken) - _SHOWN:,} more groups of equal answers")
        return "\n".join(lines) + "\n"


def _tell(answer: FlowAnswer) -> str:
    what = " ".join(part for part in (answer.packet, answer.outcome, answer.reason) if part)
    where = f"{answer.evidence}:{answer.line} {answer.text}" if answer.evidence else ""
    parts = (answer.verdict, what, where, answer.open)
    return " | ".join(part for part in parts if part)


class _Known(NamedTuple):
    """What is known of all flows that are spelled alike but for their source port."""

    probe: Probe | None
    """None where the row cannot be read: `answer` then says why."""
    base: int
    """The header without its source port."""
    table: ClassTable[FlowAnswer]
    spelled: tuple[str, str, str]
    """Source, destination and destination port."""
    answer: FlowAnswer | None
    """The answer for every source port; None where that has a say."""


def walk_many(case: Case | Given, flows: Flows, *, progress: Progress = silent) -> WalkedFlows:
    """Walk any number of connections through the case's node, one of each class.

    Each answer equals that of `trace` with the same case. Flows are probes, their texts, or rows of
    a table (`flow_table.read_flow_table`); one that cannot be read has the verdict `UNREADABLE`.
    """
    read = as_case(case, (), progress)
    with collecting_seldom():
        rows = _list_rows(flows)
    with collecting_seldom(), stage(progress, f"walking {len(rows):,} flows") as tell:
        walker = FlowWalker(read)
        answers: list[FlowAnswer] = []
        arrivals: list[str] = []
        for start in range(0, len(rows), _TOLD):
            for answer, arrival in walker.walk(rows[start : start + _TOLD]):
                answers.append(answer)
                arrivals.append(arrival)
            tell(Counted(min(start + _TOLD, len(rows)), len(rows)))
    return WalkedFlows(rows, answers, arrivals, walker.classes.walked)


def _list_rows(flows: Flows) -> list[FlowRow]:
    if isinstance(flows, str | PathLike):
        return read_flow_table(fspath(flows))
    return [flow if isinstance(flow, FlowRow) else spell_probe(flow) for flow in flows]


class FlowWalker:
    """The classes of one node, and what is known of the flows that were met: what stays warm
    between two batches.
    """

    def __init__(self, case: Case) -> None:
        """Compile nothing yet: walks do so as they need it."""
        self._case = case
        self._engine = Engine(case.node, watched=True)
        self._known: dict[tuple[str, ...], _Known] = {}
        self.classes: FlowClasses[FlowAnswer] = FlowClasses(self._answer)

    def walk(self, rows: Iterable[FlowRow]) -> Iterator[tuple[FlowAnswer, str]]:
        """Yield the answer of each flow, and how its first packet arrived."""
        remembered = self._known
        for row in rows:
            protocol, src, sport, dst, dport, place, words = row
            ends = (protocol, src, dst, dport, place, words)
            known = remembered.get(ends)
            if known is None:
                known = self._meet(ends, row)
            answer = known.answer
            if answer is None or (sport not in PORTS and known.probe is not None):
                answer = self._find(known, sport)
            arrives = answer.arrives_as
            if "{" in arrives:
                own, target, port = known.spelled
                arrives = arrives.format(own, sport or EPHEMERAL, target, port)
            yield answer, arrives

    def _find(self, known: _Known, sport: str) -> FlowAnswer:
        if known.probe is None or sport not in PORTS:
            return refuse_flow(f"expected a source port from 0 to 65535, saw {sport!r}")
        number = PORTS[sport] or EPHEMERAL
        found = known.table.find(known.base | number)
        if found is None:
            found = self.classes.find(known.probe._replace(sport=number))
        return found[1]

    def _meet(self, ends: tuple[str, ...], row: FlowRow) -> _Known:
        """Read a flow that is spelled as none before; where its class does not ask for the source
        port, keep the answer for every one.
        """
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        known = self._read(row)
        self._known[ends] = known
        return known

    def _read(self, row: FlowRow) -> _Known:
        try:
            probe = resolve_probe(row.spell(), self._case.node)
        except UsageError as error:
            return _Known(None, 0, ClassTable(), ("", "", ""), refuse_flow(str(error)))
        table = self.classes.table(probe)
        base = join_header(probe.src.value, probe.dst.value, 0, probe.dport, probe.src.family)
        spelled = (str(probe.src), str(probe.dst), str(probe.dport))
        known = _Known(probe, base, table, spelled, None)
        if row.sport not in PORTS:
            return known
        mask, answer = self.classes.find(probe._replace(sport=PORTS[row.sport] or probe.sport))
        if mask & _PORT_MASK:
            return known
        return known._replace(answer=answer)

    def _answer(self, header: FlowHeader) -> FlowAnswer:
        try:
            conversation = converse(self._engine, header.probe)
        except UsageError as error:
            return refuse_flow(str(error))
        return answer_flow(
            header, conversation, forbid_trace(self._case, header.probe, conversation)
        )
