"""The datapath's own tests on sets of one header: each connection that a test walks is watched as
those of `podpath reach` are, and has to be in the set that its walk is taken to hold for.

    python -m pytest -p tests.fleet.singletons tests/datapath
"""

from __future__ import annotations

from typing import Any

from podpath.datapath.conversations import conversation
from podpath.datapath.conversations.acts import Act
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.tracing.trace import Branch
from podpath.datapath.walk.compiled import Engine
from podpath.net.probe import Probe
from podpath_fleet.flow_classes import FlowHeader, list_offsets
from podpath_fleet.header_region import HeaderRegion, LookedRanges

_run = conversation._run  # what walks one branch, of whatever probe
_engines: dict[int, tuple[Engine, Engine]] = {}
"""Watched engines by the identity of plain ones, which are kept so that it stays theirs."""


def _run_watched(engine: Engine, probe: Probe, choices: Choices, script: tuple[Act, ...]) -> Branch:
    """Walk a branch of a probe whose header is a set of one."""
    if engine.watched:
        return _run(engine, probe, choices, script)
    plain, watched = _engines.setdefault(id(engine), (engine, _watch(engine)))
    looked = LookedRanges(list_offsets(probe.src.family))
    branch = _run(watched, FlowHeader(probe, looked).probe, choices, script)
    values = (probe.src.value, probe.dst.value, probe.dport, probe.sport)
    single = HeaderRegion(*(((value, value),) for value in values))
    if plain is not engine or looked.narrow(single) != single:
        raise AssertionError(f"{probe} is not in its own class")
    return branch


def _watch(engine: Engine) -> Engine:
    return Engine(engine.node, watched=True, any_port=engine.any_port)


def pytest_configure() -> None:
    """Watch whatever is walked from now on."""
    conversation._run = _run_watched  # as above


def pytest_terminal_summary(terminalreporter: Any) -> None:  # noqa: ANN401 - pytest's own
    """Say of how many nodes connections were watched."""
    terminalreporter.write_line(f"{len(_engines):,} nodes were walked by sets of one header")
