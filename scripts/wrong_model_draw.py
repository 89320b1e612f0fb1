"""Wrong models, made systematically: one for each decision of a module, with that decision swapped.

A decision is a comparison, an `and` or `or`, a condition that is neither, or a literal `True` or
`False`; the swap is its contrary. Annotations, assertions and defaults decide nothing about a
packet and are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from scripts.planted import SOURCE, Mutant

CONTRARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
"""Of an order, the one that differs in its end alone: the harder one to notice."""
LEFT_OUT = ("reasons", "openflow", "cilium")
"""Rooms of the datapath whose decisions no frame of a case can show: what a failure is called, and
switches and programs that this kernel does not have.
"""


def wrong_models(package: str) -> list[Mutant]:
    """Return one wrong model for each decision of a package, its modules in turns."""
    modules = [path for path in sorted((SOURCE / package).rglob("*.py")) if _is_compared(path)]
    turns = zip_longest(*(list(of_module(module)) for module in modules))
    return [model for turn in turns for model in turn if model is not None]


def _is_compared(path: Path) -> bool:
    return not set(LEFT_OUT) & set(path.relative_to(SOURCE).parts)


def of_module(module: Path) -> Iterator[Mutant]:
    """Yield a module's wrong models from top to bottom."""
    source = module.read_text(encoding="utf-8")
    for function in _functions(ast.parse(source)):
        for node in _decisions(function):
            swapped = swap(node)
            if swapped is not None:
                name, text = swapped
                yield Mutant(module, name, source, splice(source, node, text))


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the outermost functions: code outside of functions cannot be swapped in a process."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from (each for each in node.body if isinstance(each, ast.FunctionDef))


def _decisions(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr) and _is_decision(node):
                yield node
            elif isinstance(node, ast.If | ast.IfExp | ast.While) and _is_plain(node.test):
                yield node.test


def _is_decision(node: ast.expr) -> bool:
    literal = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    return literal or isinstance(node, ast.Compare | ast.BoolOp)


def _is_plain(condition: ast.expr) -> bool:
    return not isinstance(condition, ast.Compare | ast.BoolOp | ast.Constant)


def swap(node: ast.expr) -> tuple[str, str] | None:
    """Return what is done to a decision, and its text then; None where it has no contrary."""
    match node:
        case ast.Compare(left=left, ops=[first, *rest], comparators=values):
            swapped = CONTRARY[type(first)]()
            text = ast.unparse(ast.Compare(left, [swapped, *rest], values))
            return f"{type(first).__name__} to {type(swapped).__name__}", text
        case ast.BoolOp(op=ast.And(), values=values):
            return "And to Or", ast.unparse(ast.BoolOp(ast.Or(), values))
        case ast.BoolOp(op=ast.Or(), values=values):
            return "Or to And", ast.unparse(ast.BoolOp(ast.And(), values))
        case ast.Constant(value=bool(value)):
            return f"{value} to {not value}", str(not value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return "Not removed", ast.unparse(operand)
        case _:
            return "Not added", f"not ({ast.unparse(node)})"


def splice(source: str, node: ast.expr, text: str) -> str:
    """Put a text in an expression's place, in brackets and with as many lines as it had, so that
    every other line keeps its number.
    """
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    lines = source.splitlines(keepends=True)
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
    after = lines[end_line - 1].encode()[end_column:].decode()
    breaks = "\n" * (end_line - node.lineno)
    made = f"{before}({text}{breaks}){after}"
    return "".join([*lines[: node.lineno - 1], made, *lines[end_line:]])
