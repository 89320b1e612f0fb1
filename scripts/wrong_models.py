"""Hold systematically made wrong models of the datapath against what this kernel did.

The kernel runs fresh cases once, and what it did is kept. Each wrong model (one decision swapped,
see wrong_model_draw.py) then predicts the cases that come by that decision, until one differs that
does not differ without the error. Everything is kept as it is found: a run that is stopped goes on
where it was, and after an edit of model or generator the cases are run anew. What no case notices
is listed on the page, argued in wrong_model_arguments.toml or not.

    sudo python scripts/wrong_models.py --cases 2000 --seconds 3600 --page
"""

from __future__ import annotations

import argparse
import functools
import gc
import os
import pickle
import signal
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from podpath_lab.agree import _look, predict, spread  # noqa: E402  # the folder above is only now on the path
from podpath_lab.agreement import ObservedEvidence, compare  # noqa: E402
from podpath_lab.cases.generate import GeneratedCase, generate_mixed  # noqa: E402
from podpath_lab.drops import DropTracer  # noqa: E402
from scripts.mutation_suite import functions, name_of, observer, replacements  # noqa: E402
from scripts.planted import Mutant, argument_for, read_arguments  # noqa: E402
from scripts.wrong_model_draw import wrong_models  # noqa: E402
from scripts.wrong_model_page import Figures, Tried, page  # noqa: E402

STORE = ROOT / ".wrong-models.db"
PAGE = ROOT / "docs" / "quality" / "wrong-models.md"
FIRST = 2026130000000
ARGUMENTS = Path(__file__).with_name("wrong_model_arguments.toml")
TABLES = """
create table if not exists cases (
    seed integer primary key, differs integer, seen blob, lines blob
);
create table if not exists tried (model text primary key, noticed integer, cases integer);
create table if not exists made (sources text);
"""
DRAWN_FROM = ("podpath", "podpath_lab")
"""What decides about a case and its prediction."""
ARGUED = 20
"""Cases that hold an argument against the kernel."""
HANGS = 60
"""Seconds. A wrong model that predicts one case for so long hangs, which is a difference."""


class Ran(NamedTuple):
    """One case as the kernel ran it."""

    seed: int
    differs: bool
    """True where the model differs without any error: such a case says nothing about one."""
    seen: ObservedEvidence
    lines: Mapping[str, Sequence[int]]
    """The lines that its prediction executes, by module."""


class Store:
    """What the kernel did in each case, and what became of each wrong model."""

    def __init__(self, path: Path, sources: str) -> None:
        """Open or make it; of other sources nothing is kept."""
        self.base = sqlite3.connect(path)
        self.base.executescript(TABLES)
        if self.base.execute("select sources from made").fetchall() != [(sources,)]:
            for table in ("cases", "tried", "made"):
                self.base.execute(f"delete from {table}")  # noqa: S608 - names from above
            self.base.execute("insert into made values (?)", (sources,))
            self.base.commit()

    def keep(self, ran: Ran) -> None:
        """Keep a case."""
        values = (ran.seed, ran.differs, pickle.dumps(ran.seen), pickle.dumps(ran.lines))
        self.base.execute("insert or replace into cases values (?, ?, ?, ?)", values)
        self.base.commit()

    def seeds(self) -> set[int]:
        """Return the cases that have been run."""
        return {seed for (seed,) in self.base.execute("select seed from cases")}

    def seen(self, seed: int) -> ObservedEvidence:
        """Return what the kernel did in a case."""
        (kept,) = self.base.execute("select seen from cases where seed = ?", (seed,)).fetchone()
        return pickle.loads(kept)  # type: ignore[no-any-return]  # noqa: S301 - we wrote it

    def by_line(self, cases: range) -> Mapping[tuple[str, int], Sequence[int]]:
        """Return the cases that come by each line, of those that agree without an error."""
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        query = (
            "select seed, lines from cases where not differs and seed between ? and ? order by seed"
        )
        for seed, kept in self.base.execute(query, (cases.start, cases.stop - 1)):
            for module, lines in pickle.loads(kept).items():  # noqa: S301 - we wrote it
                _note_lines(found, module, lines, seed)
        return found

    def outcome(self, model: Mutant) -> tuple[int | None, int] | None:
        """Return the case that noticed a wrong model, and how many came by its decision."""
        query = "select noticed, cases from tried where model = ?"
        row = self.base.execute(query, (key(model),)).fetchone()
        return None if row is None else (row[0], row[1])

    def note(self, model: Mutant, noticed: int | None, cases: int) -> None:
        """Keep what became of a wrong model."""
        values = (key(model), noticed, cases)
        self.base.execute("insert or replace into tried values (?, ?, ?)", values)
        self.base.commit()


def _note_lines(
    found: dict[tuple[str, int], list[int]], module: str, lines: Sequence[int], seed: int
) -> None:
    for line in lines:
        found[module, line].append(seed)


def sources() -> str:
    """Return what changes with every edit of model or generator."""
    digest = sha256()
    for package in DRAWN_FROM:
        for path in sorted((ROOT / "src" / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def key(model: Mutant) -> str:
    """Return what tells a wrong model from every other."""
    return sha256(f"{model.place}\n{model.text}".encode()).hexdigest()


def observe(case: GeneratedCase, tracer: DropTracer) -> Ran:
    """Let the kernel run a case, and note which lines its prediction comes by."""
    empty_caches()
    coverage = observer()
    coverage.start()
    prediction = predict(case)
    coverage.stop()
    data = coverage.get_data()
    lines = {name_of(Path(path)): data.lines(path) or [] for path in data.measured_files()}
    seen = _look(case, prediction, tracer)[0]
    return Ran(case.seed, bool(compare(prediction, seen)), seen, lines)


def observe_missing(store: Store, cases: range, jobs: int, until: float) -> None:
    """Run the cases that have not been run, in blocks that can be lost."""
    there = store.seeds()
    for start in range(cases.start, cases.stop, 100):
        block = range(start, min(start + 100, cases.stop))
        if set(block) <= there:
            continue
        if time.monotonic() > until:
            return
        for ran in spread(block, jobs, observe, generate_mixed):
            store.keep(ran)


def empty_caches() -> None:
    """Empty the caches of functions: what one case computed is no evidence about the next."""
    for cache in _caches():
        cache.cache_clear()


@functools.cache
def _caches() -> Sequence[functools._lru_cache_wrapper[object]]:
    kinds = functools._lru_cache_wrapper  # noqa: SLF001 - it has no other name
    found = [thing for thing in gc.get_objects() if isinstance(thing, kinds)]
    return [thing for thing in found if thing.__module__.startswith("podpath.")]


def find_noticing(
    store: Store, codes: Sequence[tuple[FunctionType, CodeType]], seeds: Sequence[int]
) -> int | None:
    """Predict cases in a child that has the error; return the first that differs or fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        differing = True
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            for function, code in codes:
                function.__code__ = code
            differing = any(differs(store, seed) for seed in _told(seeds, writing))
        finally:
            os._exit(int(differing))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        begun = len(pipe.read())
    _, status = os.waitpid(child, 0)
    return seeds[begun - 1] if os.waitstatus_to_exitcode(status) != 0 else None


def _told(seeds: Sequence[int], writing: int) -> Iterator[int]:
    """Yield cases, and tell through a pipe of each that it begins."""
    for seed in seeds:
        os.write(writing, b"-")
        yield seed


def differs(store: Store, seed: int) -> bool:
    """Predict a case anew, and compare it with what the kernel did."""
    signal.alarm(HANGS)
    empty_caches()
    case = generate_mixed(seed, os.uname().release)
    return bool(compare(predict(case), store.seen(seed)))


def attempt(store: Store, models: Sequence[Mutant], cases: range, tries: int, until: float) -> None:
    """Try the wrong models that have not been tried with so many cases, as long as time lasts; one
    that is argued with a few.
    """
    by_line, here = store.by_line(cases), functions()
    arguments = read_arguments(ARGUMENTS)
    for model in models:
        seeds = sorted({seed for line in model.lines for seed in by_line[model.place, line]})
        before = store.outcome(model)
        if before is not None and (before[0] is not None or before[1] >= len(seeds)):
            continue
        if time.monotonic() > until:
            return
        codes = replacements(model, here.get(str(model.module), ()))
        if not codes:
            continue
        most = tries if argument_for(model, arguments) is None else min(tries, ARGUED)
        noticed = find_noticing(store, codes, seeds[:most]) if seeds else None
        store.note(model, noticed, len(seeds))
        said = f"not noticed by {len(seeds)}" if noticed is None else f"noticed by {noticed}"
        print(f"{model.place}:{model.line} {model.operator}: {said}", flush=True)


def figures(store: Store, models: Sequence[Mutant], cases: range, decisions: int) -> Figures:
    """Sum up what is kept."""
    run = len(store.seeds() & set(cases))
    found = Figures(cases=run, first=cases.start, last=cases.stop - 1, decisions=decisions)
    arguments = read_arguments(ARGUMENTS)
    for model in models:
        outcome = store.outcome(model)
        if outcome is not None:
            noticed, coming = outcome
            why = argument_for(model, arguments)
            found.add(Tried(model, coming, why), noticed=noticed is not None)
    return found


def main(arguments: Sequence[str]) -> int:
    """Observe, try, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--package", default="datapath", help="whose decisions (datapath)")
    parser.add_argument("--models", type=int, default=10**6, help="wrong models at most (all)")
    parser.add_argument("--cases", type=int, default=2000, help="fresh cases at most (2000)")
    parser.add_argument("--tries", type=int, default=300, help="cases for a model at most (300)")
    parser.add_argument("--first", type=int, default=FIRST, help=f"the first case ({FIRST})")
    parser.add_argument("--jobs", type=int, default=2, help="processors for the kernel's cases (2)")
    parser.add_argument(
        "--observing", type=float, default=1e9, help="seconds for the cases at most"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="seconds for the models at most")
    parser.add_argument("--store", type=Path, default=STORE, help="where everything is kept")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    store = Store(options.store, sources())
    cases = range(options.first, options.first + options.cases)
    everything = wrong_models(options.package)
    models = everything[: options.models]
    observe_missing(store, cases, options.jobs, time.monotonic() + options.observing)
    attempt(store, models, cases, options.tries, time.monotonic() + options.seconds)
    found = figures(store, models, cases, len(everything))
    found.tries = options.tries
    print(found.summary)
    if options.page:
        PAGE.write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
