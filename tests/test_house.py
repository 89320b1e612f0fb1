"""The laws that no linter knows: tests mirror the source, kernel citations carry a version, imports
do nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from statistics import median

import grimp
import pytest

from podpath.version import __version__

SOURCE = Path(__file__).resolve().parents[1] / "src"
CORE = SOURCE / "podpath"
APART = tuple(
    SOURCE / f"podpath_{name}" for name in ("capture", "fleet", "lab", "mcp", "protect", "ui")
)
"""Packages that are distributions of their own: `packages/podpath-lab` builds `src/podpath_lab`."""
TESTS = Path(__file__).resolve().parent
PROJECTS = (
    SOURCE.parent / "pyproject.toml",
    *sorted(SOURCE.parent.glob("packages/*/pyproject.toml")),
)
"""What each distribution is built from: podpath itself, and those beside it."""
FILES = sorted(path for package in (CORE, *APART) for path in package.rglob("*.py"))
MODULES = [path for path in FILES if path.name not in {"__init__.py", "__main__.py"}]
OWED = {
    "assembly": 11, "capture": 17, "checks": 28, "cli": 7, "datapath": 14, "diagnosis": 14,
    "evidence": 30, "lab": 19, "node": 1, "protect": 36, "report": 31, "timeline": 21,
    "xtables": 39,
}  # fmt: skip
"""Modules of each package that are tested by their family's or package's file alone, and should
have one of their own.
"""
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSION: tuple[type[ast.AST], ...] = (
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)

VAGUE = {"utils", "util", "common", "helpers", "misc", "manager", "tools"}
"""Names that say nothing about what stands behind them."""
IMPURE = {"open", "input", "eval", "exec", "breakpoint", "__import__", "compile"}
CITATION = re.compile(
    r"\b(?:net|include|drivers|kernel|security|arch)/[\w./-]+\.[ch]:\w+(?P<version>\s+v\d+\.\d+)?"
)
MEGABYTE = 1_000_000

SYNONYMS = {"Case"}
"""The one class name that stands twice: what users read is a Case, and so are one node's facts in
it.
"""

CIRCLE = 10
"""How many modules may import each other in a circle: more than that, and none can be read without
all the others.
"""

LARGEST = 500
"""How many syntax nodes a function may have: the largest ones that are left have nearly as many."""

LONGEST = 650
"""How many lines a module may have: one that is longer is two that nobody has parted yet."""
REGISTRIES = {"checks/registry.py"}
"""Tables with a line for each thing that there is."""
HEAVIEST = {"nodes": 85, "comprehensions": 0.68, "conditions": 0.45}
"""What functions may come to on the whole: syntax nodes at the median, with the declaration, and
how many comprehensions and conditional expressions there are to each.
"""

CLOSED = re.compile(r"`[^`]+`(?:, `[^`]+`)*,? or `[^`]+`")
"""How a docstring lists the values of a closed set: `one`, `two` or `three`."""

IMPORT_ALL = """
import pkgutil, sys, threading

told = []
WATCHED = ("socket.", "subprocess.", "os.system", "os.putenv", "os.unsetenv", "os.remove", "os.rename", "os.mkdir", "os.chdir")

def watch(event, arguments):
    if event.startswith(WATCHED) or (event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")):
        told.append(f"{event} {arguments!r}")

import numpy  # sets a variable for its library while it is loaded, and takes it back
import podpath, podpath_capture, podpath_fleet, podpath_lab, podpath_mcp, podpath_protect, podpath_ui
sys.dont_write_bytecode = True
sys.argv = []
sys.addaudithook(watch)
for package in (podpath, podpath_capture, podpath_fleet, podpath_lab, podpath_mcp, podpath_protect, podpath_ui):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            __import__(module.name)
sys.exit("\\n".join(told) or (f"{threading.active_count()} threads" if threading.active_count() > 1 else 0))
"""  # noqa: E501


def place(path: Path) -> Path:
    """Return where a module stands below podpath; `podpath_lab` stands in `lab`."""
    for package in APART:
        if package in path.parents:
            return Path(package.name.removeprefix("podpath_")) / path.relative_to(package)
    return path.relative_to(CORE)


@cache
def parse(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def relative(path: Path) -> str:
    """Name a module as a test's id."""
    return str(place(path))


def runs(path: Path) -> bool:
    """Tell whether a module has code to test: a function or method, beyond declarations (a
    Protocol's have docstrings alone).
    """
    functions = [node for node in ast.walk(parse(path)) if isinstance(node, FUNCTION)]
    return any(len(node.body) > 1 or ast.get_docstring(node) is None for node in functions)


def mirrors(module: Path) -> list[Path]:
    """Name the files that may test a module: `a/test_b_c.py` and its family's `a/test_b.py`, or its
    package's `test_a.py`.
    """
    folder = TESTS / place(module).parent
    words = module.stem.split("_")
    names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    family = [folder / f"test_{name}.py" for name in names]
    return [*family, folder.with_name(f"test_{folder.name}.py")]


def test_every_module_has_its_test_file() -> None:
    """`tests/` mirrors `src/podpath/`, `tests/lab/` the lab and `tests/protect/` protect: a module
    that does something has a test file of its own or of its family.
    """
    assert [] == [
        relative(path)
        for path in MODULES
        if runs(path) and not any(test.is_file() for test in mirrors(path))
    ]


def test_modules_without_a_test_file_of_their_own_become_fewer() -> None:
    """Beyond what each package owes already, a module's tests stand in a file of its own name:
    `a/b_c.py` in `a/test_b_c.py`.

    Who writes one of the files that are owed takes the number down.
    """
    lacking = [path for path in MODULES if runs(path) and not mirrors(path)[0].is_file()]
    counted = Counter(place(path).parts[0] for path in lacking)

    assert {} == {
        package: count for package, count in counted.items() if count > OWED.get(package, 0)
    }


def test_no_module_has_a_vague_name() -> None:
    """A module is named after what it holds."""
    assert [] == [relative(path) for path in FILES if path.stem in VAGUE]


def circles(graph: grimp.ImportGraph) -> list[set[str]]:
    """Name the modules that import each other, directly or through others, a set for each
    circle.
    """
    found: list[set[str]] = []
    for module in sorted(graph.modules):
        if not any(module in circle for circle in found):
            circle = graph.find_upstream_modules(module) & graph.find_downstream_modules(module)
            found += [{module, *circle}] if circle else []
    return found


def test_imports_form_no_large_circle() -> None:
    """No more than ten modules import each other in a circle; imports for types alone count."""
    packages = (CORE.name, *(package.name for package in APART))
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=False, cache_dir=None)

    assert [] == [sorted(circle) for circle in circles(graph) if len(circle) > CIRCLE]


def test_circles_are_found() -> None:
    """Of three modules of which two import each other, those two are the circle."""
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "b")):
        graph.add_import(importer=importer, imported=imported)

    assert [{"b", "c"}] == circles(graph)


def test_kernel_citations_carry_a_version() -> None:
    """Where the source names a kernel function by its file, it says which version was read."""
    cited = [
        (relative(module), match)
        for module in MODULES
        for match in CITATION.finditer(module.read_text(encoding="utf-8"))
    ]

    assert [] == [f"{module}: {match[0]}" for module, match in cited if not match["version"]]


def test_only_cli_opens_files() -> None:
    """Below cli nothing is read from the world, and no code is made from text."""
    below = (path for path in MODULES if path.parent.name not in {"cli", "collect", "podpath_lab"})

    assert [] == [
        f"{relative(module)}:{node.lineno}: {node.func.id}"
        for module in below
        for node in ast.walk(parse(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE
    ]


def test_the_lab_changes_a_system_through_one_module() -> None:
    """In the lab only `apply` starts programs and calls the system."""
    change = re.compile(r"^(?:import|from) (?:subprocess|ctypes)\b", re.MULTILINE)

    assert {"apply.py"} >= {
        path.name
        for path in (SOURCE / "podpath_lab").rglob("*.py")
        if change.search(path.read_text(encoding="utf-8"))
    }


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Tell whether it takes whatever is raised."""
    kind = handler.type
    return kind is None or (
        isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"}
    )


def test_no_broad_except_below_the_front_door() -> None:
    """An error that nobody foresaw is a bug, and reaches the one boundary in cli.main."""
    below = (path for path in MODULES if relative(path) != "cli/main.py")

    assert [] == [
        f"{relative(module)}:{handler.lineno}"
        for module in below
        for handler in ast.walk(parse(module))
        if isinstance(handler, ast.ExceptHandler) and is_broad(handler)
    ]


def test_imports_have_no_side_effects() -> None:
    """Importing every module writes, starts, connects and prints nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


def test_core_install_is_small() -> None:
    """The core and what it needs take less than 6 MB; with the bytecode that some installers add,
    half as large again as the source, and their list of it (RECORD), less than 15.
    """

    def size(distribution: str, *, bytecode: bool) -> int:
        found = metadata.distribution(distribution)
        own = sum(
            path.stat().st_size
            for file in found.files or ()
            if (path := Path(str(found.locate_file(file)))).is_file()
            and (bytecode or (path.suffix != ".pyc" and path.name != "RECORD"))
        )
        needed = [
            need
            for need in found.requires or ()
            if "extra ==" not in need and "platform_system" not in need
        ]
        names = [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in needed]
        return own + sum(size(name, bytecode=bytecode) for name in names)

    assert size("podpath", bytecode=False) < 6 * MEGABYTE
    assert size("podpath", bytecode=True) < 15 * MEGABYTE


@pytest.mark.parametrize("package", APART, ids=lambda package: package.name)
def test_what_is_apart_has_the_cores_version(package: Path) -> None:
    """A distribution of its own is built from its folder in `packages/`, and needs the core of the
    same version.
    """
    folder = SOURCE.parent / "packages" / package.name.replace("_", "-")
    settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    project, wheel = settings["project"], settings["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert (folder.name, __version__) == (project["name"], project["version"])
    assert f"podpath=={__version__}" in project["dependencies"]
    assert package.name == wheel["force-include"].pop(f"../../src/{package.name}")
    for source, place in wheel["force-include"].items():
        assert source == f"../../src/{place}"


def test_what_others_bring_into_the_core_is_not_in_its_wheel() -> None:
    """Modules of `podpath` that a wheel beside it brings are there, and its own wheel leaves out
    these and no others.
    """
    settings = [tomllib.loads(file.read_text(encoding="utf-8")) for file in PROJECTS]
    wheels = [each["tool"]["hatch"]["build"]["targets"]["wheel"] for each in settings]
    brought = [place for each in wheels for place in each.get("force-include", {}).values()]
    own = [each for each in wheels if "packages" in each]
    left_out = [path.removeprefix("/src/") for path in own[0]["exclude"]]
    within = {place for place in brought if place.startswith("podpath/")}

    assert within == {path for path in left_out if not path.endswith(".toml")}
    assert all((SOURCE / place).exists() for place in within)


@pytest.mark.parametrize("extra", ["capture", "fleet", "live", "mcp", "ui"])
def test_an_extra_brings_a_distribution_of_the_cores_version(extra: str) -> None:
    """`podpath[capture]` is the distribution that reads captures, as old as the core."""
    settings = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))

    assert [f"podpath-{extra}=={__version__}"] == settings["project"]["optional-dependencies"][
        extra
    ]


def nests(node: ast.AST, around: frozenset[object] = frozenset()) -> Iterator[int]:
    """Yield the lines of expressions that stand within another one of their kind."""
    kind = "condition" if isinstance(node, ast.IfExp) else None
    if isinstance(node, COMPREHENSION):
        kind = "comprehension"
    if kind in around and isinstance(node, ast.expr):
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from nests(child, around if kind is None else around | {kind})


def test_no_expression_nests_in_its_like() -> None:
    """No comprehension stands within another, and no conditional expression: a step has a name."""
    assert [] == [f"{relative(path)}:{line}" for path in MODULES for line in nests(parse(path))]


def test_nested_expressions_are_found() -> None:
    """A comprehension in another's condition, and a condition in another's branch; not one of
    each.
    """
    text = (
        "[x for x in y\n if any(z for z in x)]\n(1 if a else\n 2 if b else 3)\n"
        "[1 if x else 2 for x in y]"
    )

    assert [2, 4] == sorted(nests(ast.parse(text)))


def weigh(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the syntax nodes of a function's body; a declaration of options is no step."""
    return sum(1 for statement in function.body for _ in ast.walk(statement))


def test_no_function_is_too_large_to_read() -> None:
    """What takes more than that has steps, and each of them a name."""
    assert [] == [
        f"{relative(module)}:{node.lineno}: {node.name}"
        for module in MODULES
        for node in ast.walk(parse(module))
        if isinstance(node, FUNCTION) and weigh(node) > LARGEST
    ]


def test_a_function_is_weighed_by_its_body() -> None:
    """A statement `return a` is three nodes: itself, the name, and how it is used."""
    (function,) = ast.parse("def f(a, b=1):\n    return a").body
    assert isinstance(function, ast.FunctionDef)

    assert 3 == weigh(function)


def test_no_module_is_two() -> None:
    """A file that goes on and on has parts, and each of them a name."""
    found = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}

    assert {} == {
        name: count for name, count in found.items() if count > LONGEST and name not in REGISTRIES
    }


def test_functions_become_no_heavier() -> None:
    """What is easy to read in each new function keeps the whole as easy as it was."""
    nodes = [node for path in MODULES for node in ast.walk(parse(path))]
    functions = [node for node in nodes if isinstance(node, FUNCTION)]
    found = {
        "nodes": median(sum(1 for _ in ast.walk(function)) for function in functions),
        "comprehensions": sum(isinstance(node, COMPREHENSION) for node in nodes) / len(functions),
        "conditions": sum(isinstance(node, ast.IfExp) for node in nodes) / len(functions),
    }

    assert {} == {what: count for what, count in found.items() if count > HEAVIEST[what]}


def list_closed_sets(path: Path) -> Iterator[str]:
    """Name the fields of strings whose docstring lists the values that they may have."""
    for node in ast.walk(parse(path)):
        if not isinstance(node, ast.ClassDef):
            continue
        for field, after in pairwise(node.body):
            if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
                kind, meaning = ast.unparse(field.annotation), ast.unparse(after)
                if kind in {"str", "str | None"} and CLOSED.search(meaning):
                    yield f"{node.name}.{ast.unparse(field.target)}"


def test_closed_sets_are_enums() -> None:
    """No field of the values, the node or the chronicle is a string of a closed set."""
    rooms = [CORE / name for name in ("net", "node", "timeline")]
    modules = [path for room in rooms for path in room.rglob("*.py")]

    assert [] == [name for path in modules for name in list_closed_sets(path)]


def test_closed_sets_are_found(tmp_path: Path) -> None:
    """A list of values is one of a closed set; an example of any string is none."""
    module = tmp_path / "toy.py"
    module.write_text(
        'class Toy:\n    side: str\n    """`left` or `right`."""\n'
        '    name: str\n    """E.g. `a`."""\n',
        encoding="utf-8",
    )

    assert list(list_closed_sets(module)) == ["Toy.side"]


def test_no_class_name_stands_twice() -> None:
    """One word, one thing: where a second class wants a name that is taken, one is misnamed."""
    named = Counter(
        node.name
        for path in FILES
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ClassDef)
    )

    assert SYNONYMS == {name for name, count in named.items() if count > 1}


def list_open_fences(path: Path) -> Iterator[str]:
    """Name the cases of a file of tickets in which a fenced block is not closed."""
    for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
        fences = re.findall(r"^```", part, flags=re.MULTILINE)
        if len(fences) % 2:
            yield part.partition("\n")[0]


def test_every_ticket_closes_its_blocks() -> None:
    """An open block would make the prose below it output."""
    texts = [path for kind in ("*.md", "*.txt") for path in TESTS.rglob(kind)]
    fenced = [path for path in texts if "\n```" in path.read_text(encoding="utf-8")]

    assert len(fenced) > 5
    assert [] == [f"{path.name}: {case}" for path in fenced for case in list_open_fences(path)]


def test_an_open_block_is_found(tmp_path: Path) -> None:
    """Its case is named, also where the file as a whole has an even number of fences."""
    file = tmp_path / "tickets.txt"
    text = "=== closed\n```\n$ ip link\n```\n=== one\n```\n$ ip addr\n=== other\n```\n"
    file.write_text(text, encoding="utf-8")

    assert ["one", "other"] == list(list_open_fences(file))


@pytest.mark.parametrize("name", ["diagnosis/near_misses.txt", "incidents/named.txt"])
def test_no_ticket_has_the_heading_of_another(name: str) -> None:
    """Tests look tickets up by their headings, so the first of two alike would never be asked."""
    text = (TESTS / name).read_text(encoding="utf-8")
    headings = Counter(re.findall(r"^=== (.+)$", text, flags=re.MULTILINE))

    assert [] == [heading for heading, count in headings.items() if count > 1]
