"""Plant one small error at a time into packages, and list those that none of their tests notices.

A run draws places by a seed, changes an operator, a condition or a number there by the operators of
cosmic-ray, and runs the tests that execute the changed line until one fails. What survives is a
missing test, or an equivalent: a change that no evidence can tell from the original. Those are
argued in mutation_arguments.toml.

    make mutate PKG=datapath COUNT=60 SEED=7
    # writes docs/quality/mutation.md
    python scripts/mutate.py diagnosis datapath --count 400 --page
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.mutation_draw import draw  # noqa: E402  # the folder above is only now on the path
from scripts.mutation_page import Run, page  # noqa: E402
from scripts.mutation_suite import Suite, collect  # noqa: E402
from scripts.planted import argument_for, read_arguments  # noqa: E402

STORE = ROOT / ".mutation.db"
ARGUMENTS = Path(__file__).with_name("mutation_arguments.toml")
PAGE = ROOT / "docs" / "quality" / "mutation.md"


def attempt(suite: Suite, options: argparse.Namespace, runs: list[Run]) -> None:
    """Try what is drawn for each package, and tell of survivors as they come."""
    arguments = read_arguments(ARGUMENTS)
    for asked in options.packages:
        package, _, count = asked.partition("=")
        drawn = list(islice(draw(package, options.seed), int(count or options.count)))
        run = Run(package, options.seed)
        runs.append(run)
        for run.planted, mutant in enumerate(drawn, 1):
            why = argument_for(mutant, arguments)
            if why is None and suite.catches(mutant, again=options.again):
                continue
            run.survivors.append((mutant, why))
            said = f"argued: {why.why}" if why is not None else mutant.change
            place = f"{mutant.place}:{mutant.line}"
            print(f"{run.planted}/{len(drawn)} {place} {mutant.operator} {said}", flush=True)
            if options.page:
                PAGE.write_text(page(runs), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Draw, try and print. Exit codes: 0 whatever survives, 1 where the tests cannot be
    collected.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "packages", nargs="+", help="a package, or a room with how many errors: datapath/nat=40"
    )
    parser.add_argument("--count", type=int, default=60, help="errors to plant into each (60)")
    parser.add_argument("--seed", type=int, default=11, help="which ones (11)")
    parser.add_argument("--again", action="store_true", help="try also what was caught before")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--store", type=Path, default=STORE, help="where records are kept")
    options = parser.parse_args(arguments)
    runs: list[Run] = []
    collect(options.store, partial(attempt, options=options, runs=runs))
    for run in runs:
        print(run.summary)
    if options.page and runs:
        PAGE.write_text(page(runs), encoding="utf-8")
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
