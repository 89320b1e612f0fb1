"""Hundreds of small nodes, each with something on the way that simulators overlook: what the walk
says from a snapshot alone is what real sockets meet.

The walk may leave a connection undecided where a scenario says so, and then names what it does not
follow; it is never sure of the contrary.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import pytest

import podpath
from podpath.datapath.tracing.trace import Delivered
from podpath.datapath.vocabulary import Reachability
from podpath.library.trace import TraceResult
from podpath.net.probe import Probe
from podpath_lab.apply import enter_private_world
from tests.kernel.scenarios.stage import (
    LONG_PATIENCE,
    PATIENCE,
    Scenario,
    Tried,
    attempt,
    build,
    change,
    forget,
    hasten,
    read_scenarios,
    serving,
    take_snapshot,
)
from tests.seeds import fresh_seed

_FORK = multiprocessing.get_context("fork")
SCENARIOS = tuple(read_scenarios(Path(__file__).parent))
SHARE = 3
"""CI lives through one scenario of so many, others for each tree; everybody else through all."""
DRAWN = (
    tuple(random.Random(fresh_seed()).sample(SCENARIOS, len(SCENARIOS) // SHARE))
    if os.environ.get("CI") == "true"
    else SCENARIOS
)
SURE = {Reachability.ALWAYS, Reachability.NEVER}


class Compared(NamedTuple):
    """One probe: what the walk says, and what came of it."""

    probe: str
    said: Reachability
    tried: Tried
    seen: str
    """The client's address as the walk has the server see it."""
    named: bool
    """Whether the walk names what leaves it undecided."""

    @property
    def is_wrong(self) -> bool:
        """Tell whether the walk is sure of what is not so."""
        works = self.tried.ending == "ok"
        if self.said is Reachability.ALWAYS:
            return not works or self.seen != self.tried.seen
        return self.said is Reachability.NEVER and works


@pytest.mark.kernel("iptables", "nft", "tc", "bridge", "ipset", "conntrack", "ebtables")
@pytest.mark.parametrize("scenario", DRAWN, ids=[each.name for each in DRAWN])
def test_the_walk_says_what_the_kernel_does(scenario: Scenario, tmp_path: Path) -> None:
    """Of every probe; undecided is allowed where the scenario says so, and is explained."""
    for each in live_through(scenario, tmp_path / "bundle"):
        assert not each.is_wrong, each
        if each.said not in SURE:
            assert each.probe in scenario.open, each
            assert each.named, each


def test_the_scenarios_are_many_and_have_names_of_their_own() -> None:
    """None is lost by a name that stands twice."""
    names = [each.name for each in SCENARIOS]

    assert len(set(names)) == len(names) > 300
    assert all(each.probes for each in SCENARIOS)


def live_through(scenario: Scenario, bundle: Path) -> tuple[Compared, ...]:
    """Build the scenario in a process of its own, whose end takes everything down."""
    ours, theirs = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_live, args=(theirs, scenario, bundle))
    child.start()
    theirs.close()
    try:
        found: tuple[Compared, ...] | str = ours.recv()
    except EOFError:
        found = "the process ended without a word"
    child.join()
    if isinstance(found, str):
        pytest.fail(found)
    return found


def _live(pipe: Connection, scenario: Scenario, bundle: Path) -> None:
    try:
        enter_private_world()
        build()
        change(scenario.lines)
        hasten()
        with serving(scenario.lines):
            take_snapshot(bundle)
            case = podpath.read(str(bundle))
            found = []
            for probe in scenario.probes:
                said = podpath.trace(case, probe)
                forget()
                works = said.verdict is Reachability.ALWAYS
                tried = attempt(Probe.parse(probe), LONG_PATIENCE if works else PATIENCE)
                found.append(_compare(probe, said, tried))
        pipe.send(tuple(found))
    except BaseException:  # noqa: BLE001  # told to the process that waits
        pipe.send(traceback.format_exc())


def _compare(probe: str, said: TraceResult, tried: Tried) -> Compared:
    first = said.branches[0].traces[0] if said.branches else None
    outcome = first.outcome if first is not None else None
    seen = str(outcome.packet.src) if isinstance(outcome, Delivered) else ""
    named = bool(said.forbids) or said.verdict is not Reachability.UNDECIDED
    return Compared(probe, said.verdict, tried, seen, named or _ends_open(said))


def _ends_open(said: TraceResult) -> bool:
    return any(branch.works is None and branch.last.steps for branch in said.branches)
