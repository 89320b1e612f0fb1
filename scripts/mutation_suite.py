"""The tests of a mutation run: which of them execute which line, and whether one notices an error.

One process imports podpath and collects the tests once. Everything else happens in its children,
each a fork that starts warm and leaves nothing behind:

- Recording: every test runs once in a child of its own, so that what fixtures and caches compute
  counts for each test that needs it. Its time and its lines are kept in a database; a test whose
  file has not changed is not recorded again, and lines are carried over edits of the source.
- Trying: a child replaces the code of the changed functions, and runs the tests that execute the
  changed line, the quickest first, until one fails.

What runs while a module is imported (tables, defaults) cannot be replaced in that way. Such an
error goes into a copy of the source, which a fresh interpreter imports.
"""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType
from typing import Protocol

import pytest
from coverage import Coverage
from coverage.numbits import numbits_to_nums, nums_to_numbits
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "podpath"
TESTS = ("tests/diagnosis", "tests/datapath", "tests/test_diagnosis.py")
"""The packages' own tests. What only a golden ticket or the kernel would notice is a survivor:
those who change a package run its own tests.
"""
BUDGET = 10.0
"""Seconds of tests that one error is worth. Whatever would need more counts as a survivor."""
PATIENCE = 3
"""A child may take so many times as long as its tests took without the error; then it hangs."""
TABLES = """
create table if not exists tests (
    test text primary key, digest text, passed integer, seconds real
);
create table if not exists lines (test text, module text, lines blob);
create table if not exists sources (module text primary key, text text);
create table if not exists caught (error text primary key);
create index if not exists by_module on lines (module);
"""


class Planted(Protocol):
    """An error in a module, as the draw makes it."""

    @property
    def module(self) -> Path:
        """Return the file."""

    @property
    def before(self) -> str:
        """Return its text without the error."""

    @property
    def text(self) -> str:
        """Return its text with the error."""

    @property
    def lines(self) -> range:
        """Return the lines of the changed statement."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One test as it was recorded."""

    passed: bool
    seconds: float
    lines: Mapping[str, bytes]
    """The lines that it executes, by module."""


class Suite:
    """The tests, collected once; a pytest plugin that takes the place of running them."""

    def __init__(self, store: Path, work: Callable[[Suite], None]) -> None:
        """Keep records in the store; do the work once everything is collected."""
        self.store = sqlite3.connect(store)
        self.store.executescript(TABLES)
        self.work = work
        self.items: dict[str, pytest.Item] = {}
        self.tests: dict[str, tuple[float, Mapping[str, bytes]]] = {}
        self.functions: dict[str, list[FunctionType]] = {}
        self.imported: dict[str, set[int]] = {}
        self.lines: dict[str, Mapping[int, Sequence[str]]] = {}
        self.coverage = observer()

    def pytest_sessionstart(self) -> None:
        """Let Hypothesis be content with the first failing example."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", settings.get_profile("podpath"), phases=phases)
        settings.load_profile("mutation")
        self.coverage.start()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what importing executes, and where each function is."""
        self.coverage.stop()
        lines = measured(self.coverage)
        self.imported = {module: set(numbits_to_nums(found)) for module, found in lines.items()}
        self.items = {item.nodeid: item for item in session.items}
        self.functions = functions()
        gc.freeze()  # so that a child copies no page merely to look for garbage

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record what is new, then do the work."""
        session.config.pluginmanager.unregister(name="terminalreporter")
        self.record()
        self.tests = dict(self.recorded())
        self.work(self)
        return True

    # Recording

    def record(self) -> None:
        """Record each test whose file has changed since, and forget those that are gone."""
        digests = {path: digest(path) for path in {item.path for item in self.items.values()}}
        known = dict(self.store.execute("select test, digest from tests"))
        if not known:
            self.keep_sources()
        for test in known.keys() - self.items.keys():
            self.forget(test)
        new = [test for test, item in self.items.items() if known.get(test) != digests[item.path]]
        for number, test in enumerate(new, 1):
            print(f"\rrecording {number}/{len(new)} ", end="", file=sys.stderr, flush=True)
            ran = self.observe(self.items[test])
            self.forget(test)
            values = (test, digests[self.items[test].path], ran.passed, ran.seconds)
            self.store.execute("insert into tests values (?, ?, ?, ?)", values)
            rows = [(test, module, lines) for module, lines in ran.lines.items()]
            self.store.executemany("insert into lines values (?, ?, ?)", rows)
            if number % 50 == 0:
                self.store.commit()
        self.store.commit()

    def keep_sources(self) -> None:
        """Keep the text to which the numbers of lines belong."""
        for path in sorted(SOURCE.rglob("*.py")):
            values = (name_of(path), path.read_text(encoding="utf-8"))
            self.store.execute("insert or replace into sources values (?, ?)", values)

    def forget(self, test: str) -> None:
        """Drop what is recorded of a test."""
        self.store.execute("delete from tests where test = ?", (test,))
        self.store.execute("delete from lines where test = ?", (test,))

    def observe(self, item: pytest.Item) -> Ran:
        """Run one test in a child, and return its lines by what the source was when recording
        began.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            coverage = observer()
            begun = time.perf_counter()
            coverage.start()
            failed = run([item])
            coverage.stop()
            ran = Ran(not failed, time.perf_counter() - begun, measured(coverage))
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump((ran.passed, ran.seconds, ran.lines), pipe)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            sent = pipe.read()
        os.waitpid(child, 0)
        if not sent:
            return Ran(passed=False, seconds=0.0, lines={})
        passed, seconds, lines = pickle.loads(sent)  # noqa: S301 - our own child wrote it
        carried = {module: self.carry_back(module, found) for module, found in lines.items()}
        return Ran(passed, seconds, carried)

    def carry_back(self, module: str, lines: bytes) -> bytes:
        """Turn today's line numbers into those of the kept source."""
        kept = self.kept(module)
        today = (SOURCE / module).read_text(encoding="utf-8")
        if kept is None or kept == today:
            return lines
        moved = moves(today, kept)
        return bytes(nums_to_numbits({moved.get(line, 1) for line in numbits_to_nums(lines)}))

    def recorded(self) -> Iterator[tuple[str, tuple[float, Mapping[str, bytes]]]]:
        """Yield the tests that pass by themselves, with their time and lines."""
        lines: dict[str, dict[str, bytes]] = defaultdict(dict)
        for test, module, found in self.store.execute("select test, module, lines from lines"):
            lines[test][module] = found
        rows = self.store.execute("select test, passed, seconds from tests")
        for test, passed, seconds in rows:
            if passed and test in self.items:
                yield test, (seconds, lines[test])
            elif not passed:
                print(f"fails without any error: {test}", file=sys.stderr)

    # Trying

    def executing(self, module: Path, lines: Iterable[int]) -> list[str]:
        """Return the tests that execute one of a module's lines, the quickest first."""
        name = name_of(module)
        kept = self.kept(name)
        recorded = list(lines)
        if kept is not None:  # a module that was new when it was recorded has today's lines
            moved = moves(module.read_text(encoding="utf-8"), kept)
            recorded = [moved.get(line, 0) for line in recorded]
        by_line = self.by_line(name)
        return self.affordable({test for line in recorded for test in by_line[line]})

    def by_line(self, name: str) -> Mapping[int, Sequence[str]]:
        """Return the tests that execute each of a module's lines, as the lines were recorded."""
        if name not in self.lines:
            found: dict[int, list[str]] = defaultdict(list)
            for test, (_, modules) in self.tests.items():
                for line in numbits_to_nums(modules.get(name, b"")):
                    found[line].append(test)
            self.lines[name] = found
        return self.lines[name]

    def kept(self, name: str) -> str | None:
        """Return a module's text as the lines were recorded; None for a new module."""
        query = "select text from sources where module = ?"
        row = self.store.execute(query, (name,)).fetchone()
        return None if row is None else str(row[0])

    def touching(self, module: Path) -> list[str]:
        """Return the tests that execute anything of a module, or of those that import it."""
        name = name_of(module)
        dotted = "podpath." + name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        users = {
            name_of(path)
            for path in SOURCE.rglob("*.py")
            if f"from {dotted} import" in path.read_text(encoding="utf-8")
        }
        for names in ({name}, users):
            found = [
                test for test, (_, modules) in self.tests.items() if not names.isdisjoint(modules)
            ]
            if found:
                return self.affordable(found)
        return []

    def affordable(self, tests: Iterable[str]) -> list[str]:
        """Return the quickest tests, as many as the budget allows."""
        chosen, spent = [], 0.0
        for test in sorted(tests, key=lambda test: self.tests[test][0]):
            spent += self.tests[test][0]
            if spent > BUDGET:
                break
            chosen.append(test)
        return chosen

    def catches(self, mutant: Planted, *, again: bool = False) -> bool:
        """Say whether a test notices the error; one that was caught once is not tried again."""
        key = sha256(f"{mutant.module.name}\n{mutant.text}".encode()).hexdigest()
        query = "select error from caught where error = ?"
        if not again and self.store.execute(query, (key,)).fetchone():
            return True
        caught = self.notices(mutant)
        if caught:
            self.store.execute("insert or replace into caught values (?)", (key,))
            self.store.commit()
        return caught

    def notices(self, mutant: Planted) -> bool:
        """Say whether a test fails with the error in place."""
        name = name_of(mutant.module)
        warm = replacements(mutant, self.functions.get(str(mutant.module), ()))
        early = not self.imported.get(name, set()).isdisjoint(mutant.lines)
        if warm:
            tests = self.executing(mutant.module, mutant.lines)
            if self.fails_warm(tests, warm):
                return True
            if not early:
                return False
        return self.fails_cold(mutant, self.touching(mutant.module))

    def fails_warm(
        self, tests: Sequence[str], codes: Sequence[tuple[FunctionType, CodeType]]
    ) -> bool:
        """Run tests in a child with the functions' code replaced."""
        if not tests:
            return False
        child = os.fork()
        if child == 0:
            failed = True
            try:
                for function, code in codes:
                    function.__code__ = code
                failed = run([self.items[test] for test in tests])
            finally:
                os._exit(int(failed))
        limit = time.monotonic() + self.patience(tests)
        while time.monotonic() < limit:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status) != 0
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return True

    def fails_cold(self, mutant: Planted, tests: Sequence[str]) -> bool:
        """Run tests in a fresh interpreter on a copy of the source."""
        if not tests:
            return False
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "podpath"
            shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
            (copy / name_of(mutant.module)).write_text(mutant.text, encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-x", "-q", *OPTIONS, *tests]
            environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment,
                    capture_output=True,
                    timeout=60 + self.patience(tests),
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return True
        return done.returncode != 0

    def patience(self, tests: Iterable[str]) -> float:
        """Return how many seconds tests may take."""
        return 5 + PATIENCE * sum(self.tests[test][0] for test in tests)


OPTIONS = ("-m", "not kernel", "-p", "no:cacheprovider", "-W", "ignore")


def collect(store: Path, work: Callable[[Suite], None]) -> int:
    """Collect the tests, then do the work with them."""
    os.environ["CI"] = "true"  # Hypothesis draws the same examples each time
    arguments = ["-q", "--capture=no", *OPTIONS, *(str(ROOT / test) for test in TESTS)]
    return pytest.main(arguments, plugins=[Suite(store, work)])


def observer() -> Coverage:
    """Return a coverage measurement of podpath alone, kept in memory."""
    return Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False, messages=False)


def measured(coverage: Coverage) -> dict[str, bytes]:
    """Return the executed lines by module."""
    data = coverage.get_data()
    found = {Path(path): data.lines(path) or [] for path in data.measured_files()}
    return {name_of(path): nums_to_numbits(lines) for path, lines in found.items() if lines}


def run(items: Sequence[pytest.Item]) -> bool:
    """Run tests quietly until one fails, and say whether one did. For children: output is
    closed.
    """
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    session = items[0].session
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            return True
    return False


def functions() -> dict[str, list[FunctionType]]:
    """Return every function of podpath that was made by importing, by file."""
    found: dict[str, list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            found[thing.__code__.co_filename].append(thing)
    return found


def replacements(
    mutant: Planted, functions: Iterable[FunctionType]
) -> list[tuple[FunctionType, CodeType]]:
    """Return the functions that an error changes, with their code; none if it changes more."""
    before = compile(mutant.before, str(mutant.module), "exec")
    after = compile(mutant.text, str(mutant.module), "exec")
    changed = differing(before, after)
    if changed is None:
        return []
    made = {(code.co_qualname, code.co_firstlineno): code for code in changed}
    pairs = []
    for function in functions:
        code = made.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None:
            pairs.append((function, code))
    return pairs if {code for _, code in pairs} == set(changed) else []


def differing(before: CodeType, after: CodeType) -> list[CodeType] | None:
    """Return the outermost functions whose code differs; None if code outside of functions does."""
    if before.co_flags & inspect.CO_OPTIMIZED:
        return [] if before == after else [after]
    if before.co_code != after.co_code or before.co_names != after.co_names:
        return None
    found: list[CodeType] = []
    for old, new in zip(before.co_consts, after.co_consts, strict=True):
        if isinstance(old, CodeType) and isinstance(new, CodeType):
            inner = differing(old, new)
            if inner is None:
                return None
            found.extend(inner)
        elif old != new or type(old) is not type(new):
            return None
    return found


def moves(today: str, kept: str) -> dict[int, int]:
    """Return the kept line for each of today's; a new line goes with the one above it."""
    old, new = kept.splitlines(), today.splitlines()
    if old == new:
        return {line: line for line in range(1, len(new) + 1)}
    blocks = SequenceMatcher(None, new, old, autojunk=False).get_matching_blocks()
    same = {block.a + step: block.b + step for block in blocks for step in range(1, block.size + 1)}
    moved, last = {}, 1
    for line in range(1, len(new) + 1):
        last = same.get(line, last)
        moved[line] = last
    return moved


def name_of(path: Path) -> str:
    """Return a module's file within podpath."""
    return path.relative_to(SOURCE).as_posix()


def digest(path: Path) -> str:
    """Return what tells a file's text from another."""
    return sha256(path.read_bytes()).hexdigest()
