"""Many connections through one node, and sets of them, for who has the distribution that walks
them by classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from os import PathLike
from typing import Any, Protocol, cast

from podpath.flows.flow import FlowSet, FlowWitness
from podpath.library.case import Case
from podpath.library.given import Asked, Given
from podpath.library.progress import Progress, silent
from podpath.net.errors import MissingExtra
from podpath.report.style import Style

_PLACE = "podpath_fleet.walked_flows"
_SETS = "podpath_fleet.flow_witnesses"


class FlowAnswers(Protocol):
    """What becomes of each flow; `podpath_fleet.walked_flows.WalkedFlows` has it all."""

    @property
    def answers(self) -> Sequence[tuple[object, ...]]:
        """The answer of each flow, in the order in which they were given."""

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath trace --flows`."""

    def text(self, style: Style | None = None) -> str:
        """Return how many flows have each verdict, and the lines that decided most of them."""

    def json(self) -> str:
        """Return one JSON object for each flow, a line each."""

    def write(self, path: str) -> None:
        """Write a table: Parquet or JSON lines by the file's name, else CSV."""


def walk_many(
    case: Case | Given,
    flows: str | PathLike[str] | Iterable[Asked],
    *,
    progress: Progress = silent,
) -> FlowAnswers:
    """Walk any number of connections through the case's node, one of each class.

    Flows are probes, or the path of a table of them (CSV, JSON lines, Parquet). Needs the extra
    `podpath[fleet]`.
    """
    walk = _load(_PLACE).walk_many
    return cast("FlowAnswers", walk(case, flows, progress=progress))


def list_witnesses(
    cases: Sequence[Case],
    asked: FlowSet,
    *,
    judged: bool,
    walks: int = 0,
    progress: Progress = silent,
) -> Sequence[FlowWitness]:
    """Return a flow for each thing that becomes of a set's flows, on one node or on two; where it
    is `judged`, for each thing that `check` says of them.

    `walks` bounds the walks for each source and protocol; 0 is a usual bound. Needs the extra
    `podpath[fleet]`.
    """
    sets = _load(_SETS)
    found = sets.list_judged if judged else sets.list_answered
    return cast("Sequence[FlowWitness]", found(cases, asked, walks, progress))


def _load(place: str) -> Any:  # noqa: ANN401 - a module of another distribution
    try:
        return import_module(place)
    except ImportError as error:
        raise MissingExtra(
            "walking many flows needs an extra: pip install 'podpath[fleet]' (in a checkout: pip "
            "install . ./packages/podpath-fleet)"
        ) from error
