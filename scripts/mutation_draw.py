"""Small errors for a mutation run: where they are planted, drawn by a seed.

Modules take turns, so that each has as many errors as the others, as far as it has places for them.
What a module's own turn draws depends on the seed and on that module alone: an edit elsewhere does
not change it.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

from scripts.planted import SOURCE, Mutant

FAMILIES = (
    ("core/ReplaceComparisonOperator_",),
    ("core/AddNot", "core/ReplaceUnaryOperator_Delete_Not"),
    ("core/ReplaceAndWithOr", "core/ReplaceOrWithAnd"),
    ("core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue"),
    ("core/NumberReplacer",),
    ("core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak"),
    ("core/ZeroIterationForLoop",),
)
"""Operators that change a decision, by prefix. Those on `X | Y` meet annotations, and are left
out.
"""
SAME = tuple(
    f"core/ReplaceComparisonOperator_{change}"
    for change in ("Is_Eq", "IsNot_NotEq", "Eq_Is", "NotEq_IsNot")
)
"""Operators that change nothing here: what is compared by identity is None or a member of an
enum.
"""
TRIES = 40
"""A module of which so many draws in a row bring nothing new has no places left."""


def draw(package: str, seed: int) -> Iterator[Mutant]:
    """Yield errors in the package's modules, which take turns, until none has a place left."""
    modules = sorted((SOURCE / package).rglob("*.py"))
    turns = {module: within(module, seed) for module in modules}
    while turns:
        for module, mutants in list(turns.items()):
            mutant = next(mutants, None)
            if mutant is None:
                del turns[module]
            else:
                yield mutant


def within(module: Path, seed: int) -> Iterator[Mutant]:
    """Yield errors in one module, none twice."""
    name = module.relative_to(SOURCE).as_posix()
    chance = random.Random(f"{seed}:{name}")  # noqa: S311 - a draw that can be repeated
    source = module.read_text(encoding="utf-8")
    families = [found for family in FAMILIES if (found := places(source, family))]
    seen = {meaning(source)}
    missed = 0
    while families and missed < TRIES:
        operator, count = chance.choice(chance.choice(families))
        text = mutate_code(source, get_operator(operator)(), chance.randrange(count)) or ""
        meant = meaning(text)
        if meant is None or meant in seen:
            missed += 1
            continue
        missed = 0
        seen.add(meant)
        yield Mutant(module, operator.partition("/")[2], source, text)


def places(source: str, family: Sequence[str]) -> list[tuple[str, int]]:
    """Return the operators of the family that find something to change, each with how much."""
    nodes = list(ast_nodes(get_ast(source)))
    names = [name for name in sorted(operator_names()) if name.startswith(tuple(family))]
    counts = [(name, positions(get_operator(name)(), nodes)) for name in names if name not in SAME]
    return [(name, count) for name, count in counts if count]


def positions(operator: Operator, nodes: Iterable[object]) -> int:
    """Count the places where an operator changes something."""
    return sum(len(list(operator.mutation_positions(node))) for node in nodes)


def meaning(text: str) -> str | None:
    """Return the program without what has no part in any decision; None if it is no program.

    Left out: whether a dataclass is frozen and has slots, which the type checker holds.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.decorator_list = []
    return ast.unparse(tree)
