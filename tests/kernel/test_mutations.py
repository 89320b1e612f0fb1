"""The harness can fail: each deliberate error in the model is noticed against what the kernel
did.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import closing

import pytest

from podpath_lab.agree import _look, predict, spread
from podpath_lab.agreement import ObservedEvidence, compare
from podpath_lab.cases.generate import GeneratedCase, generate_case
from podpath_lab.drops import DropTracer
from tests.kernel.mutations import MUTATIONS

pytestmark = pytest.mark.kernel(
    "iptables-nft-restore", "iptables-legacy-restore", "ipset", "bridge"
)

SEEDS = range(500)
"""One set of cases, observed once: each mutated model is held against the same evidence."""


@pytest.fixture(scope="module")
def evidence() -> Mapping[int, ObservedEvidence]:
    """Let the kernel run every case once."""
    return dict(spread(SEEDS, 2, _observe))


def _observe(case: GeneratedCase, tracer: DropTracer) -> tuple[int, ObservedEvidence]:
    return case.seed, _look(case, predict(case), tracer)[0]


def _differing(evidence: Mapping[int, ObservedEvidence]) -> Generator[int, None, None]:
    """Predict anew, in two processes that have the error that is patched in here; yield the seeds
    that differ, in order.
    """
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for seed, differs in pool.imap(_differs, evidence.items(), 5):
            if differs:
                yield seed


def _differs(seen: tuple[int, ObservedEvidence]) -> tuple[int, bool]:
    seed, evidence = seen
    return seed, bool(compare(predict(generate_case(seed, os.uname().release)), evidence))


def test_every_mutation_is_caught(
    evidence: Mapping[int, ObservedEvidence],
    monkeypatch: pytest.MonkeyPatch,
    say: Callable[[str], None],
) -> None:
    """Each error in the model makes some of 500 cases differ that agree without it."""
    unsure = set(_differing(evidence))  # test_agreement is about those
    sure = {seed: seen for seed, seen in evidence.items() if seed not in unsure}
    caught: dict[str, int | None] = {}
    for name, mutate in MUTATIONS.items():
        with monkeypatch.context() as patch, closing(_differing(sure)) as differing:
            mutate(patch)
            caught[name] = next(differing, None)
    say(f"left out, as they differ without an error: {sorted(unsure)}")
    for name, seed in caught.items():
        say(f"caught first by case {seed} of {len(SEEDS)}: {name}")
    assert [name for name, seed in caught.items() if seed is None] == []
