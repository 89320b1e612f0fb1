"""Generated nodes and probes: the model says what the kernel does, or the seed that it does not is
printed.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath

import pytest

from podpath_lab.agree import run_case, run_cases
from podpath_lab.apply import enter_private_world
from podpath_lab.drops import DropTracer
from podpath_lab.text import render_tally
from tests.kernel.known import KNOWN_DISAGREEMENTS
from tests.kernel.recorded_cases import build_case
from tests.seeds import fresh_seed

pytestmark = pytest.mark.kernel(
    "iptables-nft-restore", "iptables-legacy-restore", "ipset", "bridge", "nft"
)

CASES = 500
RECORDED = sorted((Path(__file__).resolve().parents[1] / "data/agreement").glob("*.json"))
NAMES = [path.stem for path in RECORDED]


def test_fresh_cases_agree(say: Callable[[str], None]) -> None:
    """Cases that nobody has seen before agree, from a seed that is new each time."""
    first = fresh_seed()
    say(f"podpath lab agree --cases {CASES} --seed {first}")

    tally = run_cases(range(first, first + CASES), 2, lambda _: None)

    say(render_tally(tally))
    assert not [result.seed for result in tally.differing]


@pytest.fixture(scope="module")
def differing() -> Mapping[str, str]:
    """Run every recorded case; what differs, by the case's name."""
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[dict[str, str]] = context.Queue()
    process = context.Process(target=_run_recorded, args=(queue,), daemon=True)
    process.start()
    found = queue.get(timeout=300)
    process.join()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_recorded_case_agrees(differing: Mapping[str, str], name: str) -> None:
    """A case in which model and kernel once differed agrees, unless it is listed as known."""
    assert (name in KNOWN_DISAGREEMENTS) is (name in differing), differing.get(
        name, "it agrees by now"
    )


def test_known_disagreements_are_recorded() -> None:
    """What is listed as known has a case that shows it."""
    assert KNOWN_DISAGREEMENTS.keys() <= set(NAMES)


def _run_recorded(queue: multiprocessing.Queue[dict[str, str]]) -> None:
    """Run every recorded case in a world of its own, which a test process may not enter."""
    processor = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processor})
    enter_private_world()
    differing: dict[str, str] = {}
    try:
        with closing(DropTracer(processor)) as tracer:
            for path in RECORDED:
                result = run_case(build_case(path.read_text(), PurePosixPath(path.name)), tracer)
                if result.differences:
                    differing[path.stem] = "\n".join(
                        f"{each.what}\n{each.predicted}\n{each.observed}"
                        for each in result.differences
                    )
    finally:
        queue.put(differing)
