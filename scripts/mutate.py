"""Plant one small error at a time into a package, and list those that none of its tests notices.

A run draws places of the package by a seed, changes an operator, a condition or a number there by
the operators of cosmic-ray, and runs the tests of that module, then all of the package's, then the
golden incidents, until one fails. What survives is printed as a table for docs/quality/mutation.md:
each is a missing test, or a change that no packet can tell (an equivalent), to be argued there.

    make mutate PKG=datapath COUNT=60 SEED=7
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "podpath"
FAMILIES = (
    ("core/ReplaceComparisonOperator_",),
    ("core/AddNot", "core/ReplaceUnaryOperator_Delete_Not"),
    ("core/ReplaceAndWithOr", "core/ReplaceOrWithAnd"),
    ("core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue"),
    ("core/NumberReplacer",),
    ("core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak"),
    ("core/ZeroIterationForLoop",),
)
"""Operators that change a decision, by prefix. Those on `X | Y` meet annotations, and are left out."""
GOLDEN = ("tests/golden",)
SECONDS = 600
"""Tests that take longer with an error than without one go round in circles: it was noticed."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One error: the module, what the operator is called, and the changed text of the module."""

    module: Path
    operator: str
    text: str

    @property
    def line(self) -> int:
        """Return the number of the first line that differs."""
        before = self.module.read_text(encoding="utf-8").splitlines()
        pairs = zip(before, self.text.splitlines(), strict=False)
        return next(number for number, (old, new) in enumerate(pairs, 1) if old != new)

    @property
    def change(self) -> str:
        """Return the lines that differ, in one line."""
        before = self.module.read_text(encoding="utf-8").splitlines()
        lines = unified_diff(before, self.text.splitlines(), lineterm="", n=0)
        changed = [line for line in lines if line[0] in "+-" and line[:3] not in {"+++", "---"}]
        return " ".join(" ".join(line.split()) for line in changed)


def draw(package: str, chance: random.Random) -> Iterator[Mutant]:
    """Yield mutants of the package's modules without end, larger modules more often."""
    modules = sorted((SOURCE / package).rglob("*.py"))
    sizes = [path.stat().st_size for path in modules]
    seen: set[tuple[Path, str]] = set()
    while True:
        (module,) = chance.choices(modules, sizes)
        mutant = mutate(module, chance.choice(FAMILIES), chance)
        if mutant is not None and (module, mutant.text) not in seen:
            seen.add((module, mutant.text))
            yield mutant


def mutate(module: Path, family: Sequence[str], chance: random.Random) -> Mutant | None:
    """Change the module by an operator of the family; None where it has nothing to change."""
    source = module.read_text(encoding="utf-8")
    tree = get_ast(source)
    names = [name for name in operator_names() if name.startswith(tuple(family))]
    chance.shuffle(names)
    for name in names:
        operator: Operator = get_operator(name)()
        places = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(tree))
        if places:
            text = mutate_code(source, operator, chance.randrange(places))
            return Mutant(module, name.partition("/")[2], text) if text else None
    return None


def stages(module: Path) -> list[tuple[str, ...]]:
    """Return the tests to run, the nearest first."""
    inner = module.relative_to(SOURCE)
    words = module.stem.split("_")
    names = [f"test_{'_'.join(words[:count])}.py" for count in range(len(words), 0, -1)]
    near = [ROOT / "tests" / inner.parent / name for name in names]
    package = ROOT / "tests" / inner.parts[0]
    wide = (package, package.with_name(f"test_{inner.parts[0]}.py"))
    found = [[path for path in paths if path.exists()] for paths in (near, wide)]
    golden = [ROOT / path for path in GOLDEN]
    return [tuple(map(str, paths)) for paths in [*found, golden] if paths]


def survives(mutant: Mutant, copy: Path) -> bool:
    """Run the tests on a copy of the source with the error in it."""
    module = copy / "podpath" / mutant.module.relative_to(SOURCE)
    before = module.read_text(encoding="utf-8")
    module.write_text(mutant.text, encoding="utf-8")
    try:
        return all(passes(paths, copy) for paths in stages(mutant.module))
    finally:
        module.write_text(before, encoding="utf-8")


def passes(paths: Sequence[str], copy: Path) -> bool:
    """Say whether these tests pass with the copy as podpath; one that hangs does not."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not kernel", *paths]
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    quiet = [*command, "-p", "no:cacheprovider", "-W", "ignore"]
    try:
        done = subprocess.run(
            quiet, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in {0, 5}


@contextmanager
def copies(count: int) -> Iterator[SimpleQueue[Path]]:
    """Lend copies of the source, one for each worker."""
    with tempfile.TemporaryDirectory() as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            copy = Path(folder) / str(number)
            shutil.copytree(SOURCE, copy / "podpath", ignore=shutil.ignore_patterns("__pycache__"))
            free.put(copy)
        yield free


def sound(free: SimpleQueue[Path]) -> Path:
    """Return one of the copies while no worker has any."""
    copy = free.get()
    free.put(copy)
    return copy


def main(arguments: Sequence[str]) -> int:
    """Draw, try and print. Exit codes: 0 whatever survives, since equivalents do rightly; 1 where
    the tests fail by themselves.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("package", help="a package of podpath: datapath, or a room: datapath/nat")
    parser.add_argument("--count", type=int, default=60, help="errors to plant (60)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    mutants = draw(options.package, random.Random(options.seed))  # noqa: S311 - a reproducible draw
    chosen = [next(mutants) for _ in range(options.count)]
    alive: list[Mutant] = []
    with copies(options.workers) as free, ThreadPoolExecutor(options.workers) as pool:
        failing = [
            paths for paths in stages(chosen[0].module)[1:] if not passes(paths, sound(free))
        ]
        if failing:
            print(f"fails without any error planted: {failing}", file=sys.stderr)
            return 1

        def attempt(mutant: Mutant) -> bool:
            copy = free.get()
            try:
                return survives(mutant, copy)
            finally:
                free.put(copy)

        for number, (mutant, survived) in enumerate(
            zip(chosen, pool.map(attempt, chosen), strict=True), 1
        ):
            print(f"\r{number}/{len(chosen)} {len(alive)} alive", end="", file=sys.stderr)
            if survived:
                alive.append(mutant)
    print(file=sys.stderr)
    print(f"{options.package}, seed {options.seed}: {len(chosen) - len(alive)} of {len(chosen)}")
    for mutant in alive:
        place = f"{mutant.module.relative_to(SOURCE)}:{mutant.line}"
        print(f"| {place} | {mutant.operator} | `{mutant.change.replace('|', '&#124;')}` |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
