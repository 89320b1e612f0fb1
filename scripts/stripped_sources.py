"""Modules as a wheel has them: without what is written only for those who change the code.

That is comments, and what docstrings say of names that begin with an underscore, of functions
inside others and of modules that are no packages; in inner modules, whose functions nobody calls
from outside, of all fields, constants, classes and functions but commands, whose help they are, and
the types of what those functions take and return, with the imports that only these need, and all
but one space of each indentation. It stands in the repository and in the source archive; in an
installation, it would stand twice, in source and bytecode. A package keeps its own, a class there a
dot (a dataclass without any makes one up as it is imported), every public class and field where
users see it what is said of it, and every statement its line, so that tracebacks stay true.
"""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Collection, Iterator, Sequence
from typing import TypeGuard

_Place = tuple[int, int]
"""A row from 1 and a column from 0, as tokens have them."""
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_SILENT = frozenset({
    tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE,
    tokenize.ENDMARKER,
})  # fmt: skip
"""Tokens that hold nothing of a statement."""
_MAKERS = frozenset({"command", "group"})
"""What click calls the decorators that make commands."""


def strip_notes(
    text: str, *, own: bool = True, inner: bool = False, wanted: Collection[str] = ()
) -> str:
    """Return a module's source with empty lines in place of those notes, and of its `own`
    docstring. What other modules import from it, `wanted`, stays imported.
    """
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = f"{lines[row - 1][:column].rstrip()}\n"
    if inner:
        for first, last in sorted((*_list_annotations(text), *_list_of_names(text)), reverse=True):
            _blank_span(lines, first, last)
    tree = ast.parse(text)
    for note in (
        *_list_notes(tree.body, private=False, inner=inner),
        *_list_of_functions(tree, inner=inner),
    ):
        _blank(lines, note.lineno, note.end_lineno or note.lineno)
    for note in _list_needed(tree) if inner else ():
        _blank(lines, note.lineno, note.end_lineno or note.lineno)
        lines[note.lineno - 1] = f'{" " * note.col_offset}"""."""\n'
    if own and tree.body and _is_text(tree.body[0]):
        _blank(lines, tree.body[0].lineno, tree.body[0].end_lineno or 1)
    if not inner:
        return "".join(lines)
    return narrow_indents(strip_imports("".join(lines), _list_used(tree) - {*wanted}))


def strip_imports(text: str, once: Collection[str]) -> str:
    """Return a module's source without its imports for type checkers, and without those of the
    names that were used `once` and are no longer.
    """
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    checked = [one for one in tree.body if _is_for_checkers(one)]
    for block in checked:
        _blank(lines, block.lineno, block.end_lineno or block.lineno)
    tree.body = [one for one in tree.body if one not in checked]
    gone = {*once} - _list_used(tree)
    if not any(map(_states_type, ast.walk(tree))):
        gone.add("annotations")
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            kept = [one for one in statement.names if (one.asname or one.name) not in gone]
            if len(kept) < len(statement.names):
                statement.names = kept
                _blank(lines, statement.lineno, statement.end_lineno or statement.lineno)
                if kept:
                    lines[statement.lineno - 1] = f"{ast.unparse(statement)}\n"
    return "".join(lines)


def _states_type(node: ast.AST) -> bool:
    """Tell whether a statement holds a type, which `from __future__ import annotations` keeps from
    being looked up.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = (node.args.posonlyargs, node.args.args, node.args.kwonlyargs)
        named = any(one.annotation for one in itertools.chain.from_iterable(arguments))
        return named or node.returns is not None
    return isinstance(node, ast.AnnAssign)


def _list_of_names(text: str) -> Iterator[tuple[_Place, _Place]]:
    """Yield the same of names that are assigned at once, but for the fields of classes."""
    lines = text.splitlines()
    tree = ast.parse(text)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    fields = {id(field) for node in classes for field in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None and id(node) not in fields:
            yield _find_end(lines, node.target), _find_end(lines, node.annotation)


def _find_end(lines: Sequence[str], node: ast.expr) -> _Place:
    """Return where an expression ends, in characters: a tree counts bytes."""
    row = node.end_lineno or node.lineno
    return row, len(lines[row - 1].encode()[: node.end_col_offset].decode())


def list_imported(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a source imports from where: the module's name, and the name in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((node.module, one.name) for one in node.names)


def _is_for_checkers(statement: ast.stmt) -> TypeGuard[ast.If]:
    """Tell whether a statement is `if TYPE_CHECKING:` alone."""
    return (
        isinstance(statement, ast.If)
        and isinstance(statement.test, ast.Name)
        and statement.test.id == "TYPE_CHECKING"
        and not statement.orelse
    )


def _list_used(tree: ast.Module) -> set[str]:
    """Return the names that a module reads."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _list_annotations(text: str) -> Iterator[tuple[_Place, _Place]]:
    """Yield from where to where the types of functions' parameters and results stand, the colon or
    the arrow before them included; the last first, so that places before it stay true.
    """
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in {tokenize.NL, tokenize.COMMENT}
    ]
    found: list[tuple[_Place, _Place]] = []
    for index, token in enumerate(tokens):
        if token.type == tokenize.NAME and token.string == "def":
            found.extend(_list_of_header(tokens[index + 2 :]))
    yield from reversed(found)


def _list_of_header(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[tuple[_Place, _Place]]:
    """Yield the same of one function, from its parenthesis on to the colon before its body."""
    depth = 0
    begun: _Place | None = None
    in_default = in_result = in_lambda = False
    for before, token in itertools.pairwise(tokens):
        depth += (before.string in _OPENING) - (before.string in _CLOSING)
        if token.string == "lambda" or in_lambda:
            in_lambda = token.string != ":"
        elif depth == 0 and token.string == "->":
            begun, in_result = before.end, True
        elif depth == 0 and token.string == ":":
            if begun is not None:
                yield begun, before.end
            return
        elif depth == 1 and not in_result and token.string in {",", "=", ")"}:
            if begun is not None:
                yield begun, before.end
            begun, in_default = None, token.string == "="
        elif depth == 1 and token.string == ":" and begun is None and not in_default:
            begun = before.end


def _list_of_functions(tree: ast.Module, *, inner: bool) -> Iterator[ast.stmt]:
    """Yield the docstrings of an inner module's functions that have more than that, but for those
    of commands: they are the command's help.
    """
    for node in ast.walk(tree) if inner else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_command(node):
            first, *rest = node.body
            if rest and _is_text(first):
                yield first


def _list_needed(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the docstrings in an inner module without which something would lack: those of public
    classes, and those that are all that a class or function has.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            needed = not _is_private(node.name) or len(node.body) == 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            needed = len(node.body) == 1 and not _is_command(node)
        else:
            continue
        if needed and _is_text(node.body[0]):
            yield node.body[0]


def _is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether click makes a command or a group of commands of a function."""
    makers = (one.func if isinstance(one, ast.Call) else one for one in function.decorator_list)
    return any(isinstance(one, ast.Attribute) and one.attr in _MAKERS for one in makers)


def _list_notes(body: Sequence[ast.stmt], *, private: bool, inner: bool) -> Iterator[ast.stmt]:
    """Yield the strings of a body that are statements and speak of what is private, in an inner
    module of every name that is assigned.
    """
    named_before = private
    for statement in body:
        if _is_text(statement):
            if named_before:
                yield statement
            continue
        hidden = private or _is_private(_name_of(statement))
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _list_inside(statement, private=hidden, inner=inner)
        named_before = hidden or (inner and bool(_name_of(statement)))


def _list_inside(
    defined: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, *, private: bool, inner: bool
) -> Iterator[ast.stmt]:
    """Yield those of a class or function: its own docstring, unless that is all it has."""
    own, rest = defined.body[:1], defined.body[1:]
    if not _is_text(own[0]):
        own, rest = [], defined.body
    if private and rest:
        yield from own
    hidden = private or not isinstance(defined, ast.ClassDef)
    yield from _list_notes(rest, private=hidden, inner=inner)


def _is_text(statement: ast.stmt) -> TypeGuard[ast.Expr]:
    """Tell whether a statement is nothing but a string."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _name_of(statement: ast.stmt) -> str:
    """Return the name that a statement defines, empty where it defines none or several."""
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def _is_private(name: str) -> bool:
    """Tell whether a name is for its module alone: `__init__` and its like are not."""
    return name.startswith("_") and not name.endswith("__")


def _blank_span(lines: list[str], first: _Place, last: _Place) -> None:
    """Take away what stands between two places: what follows moves up to the first, and leaves
    empty lines where it was.
    """
    (row, column), (last_row, last_column) = first, last
    rest = lines[last_row - 1][last_column:]
    lines[row - 1] = lines[row - 1][:column] + rest
    _blank(lines, row + 1, last_row)


def _blank(lines: list[str], first: int, last: int) -> None:
    """Empty the lines of a statement, by their numbers from 1."""
    lines[first - 1 : last] = ["\n"] * (last - first + 1)


def narrow_indents(text: str) -> str:
    """Return a module's source with one space for each level of its blocks, and one more for lines
    that go on; what a string holds stays as it is, and every statement its line.
    """
    lines = text.splitlines(keepends=True)
    depth, begins, told = 0, True, 0
    levels: dict[int, int] = {}
    kept: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        first, last = token.start[0], token.end[0]
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            begins = True
        elif token.type not in _SILENT and first > told:
            levels[first] = depth if begins else depth + 1
            begins = False
        if token.type not in _SILENT:
            kept.update(range(max(first, told) + 1, last + 1))
            told = max(told, last)
    return "".join(
        line if row in kept else f"{' ' * levels.get(row, 0)}{line.lstrip(' ')}"
        for row, line in enumerate(lines, 1)
    )
