"""The wheel: tables and manual pages stand in it once, compressed, and read as in a checkout."""

from __future__ import annotations

import ast
import json
import lzma
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scripts.packed_data import ANSWERS, list_stripped, pack, strip_comments, strip_manual

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src" / "podpath"
MODULE = '''\
"""loud: a fault.

What it is
    It is loud.
"""

NAME = "loud"


def check() -> None:
    raise RuntimeError
'''
READING = """\
import json, sys
from importlib.util import find_spec

from podpath.checks.registry import CHECKS, MODULES
from podpath.diagnosis.plays.table import list_plays
from podpath.evidence.messages.table import ROWS
from podpath.net.owners import load_owners
from podpath.timeline.chain_files import load_chains

modules = {module.__name__: check.page for module, check in zip(MODULES, CHECKS)}
tables = [list_plays(), ROWS, load_owners(), load_chains()]
json.dump({"file": find_spec("podpath").origin, "modules": modules,
           "pages": {check.name: check.page for check in CHECKS},
           "lengths": [len(table) for table in tables]}, sys.stdout)
"""

ALONE = """\
import pkgutil, sys
from importlib import import_module

import podpath
others = {"podpath_capture", "podpath_lab", "numpy", "lightkube"}
sys.modules.update(dict.fromkeys(others))
names = [found.name for found in pkgutil.walk_packages(podpath.__path__, "podpath.")]
for name in names:
    if not name.endswith("__main__"):
        import_module(name)
print(len(names))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, and unpack it as pip would."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


@pytest.fixture(scope="module")
def from_wheel(wheel: Path) -> dict[str, Any]:
    """Read the tables and pages of the wheel."""
    return read_all(wheel)


def test_a_wheel_reads_what_the_sources_say(wheel: Path, from_wheel: dict[str, Any]) -> None:
    """Every check has the page that is its module's docstring, and every table its rows."""
    from_checkout = read_all(REPOSITORY / "src")

    assert Path(from_wheel["file"]).is_relative_to(wheel)
    assert Path(from_checkout["file"]).is_relative_to(SOURCE)
    assert from_wheel == from_checkout | {"file": from_wheel["file"]}
    assert all(from_wheel["lengths"])
    for module, page in from_wheel["modules"].items():
        file = REPOSITORY.joinpath("src", *module.split(".")).with_suffix(".py")
        assert page == ast.get_docstring(ast.parse(file.read_text("utf-8")), clean=False)


def test_a_wheel_has_them_once(wheel: Path, from_wheel: dict[str, Any]) -> None:
    """No table is a file of its own, and no module of a check says what its page says."""
    program = wheel / "podpath"

    assert not list(program.rglob("*.toml"))
    assert "net/owners.toml" in unpack((program / "data.json.xz").read_bytes())
    for module, page in from_wheel["modules"].items():
        text = wheel.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
        assert "How to fix" in page
        assert "How to fix" not in text


def test_the_core_needs_nothing_that_others_bring(wheel: Path) -> None:
    """Every module of the wheel is imported without the distributions beside it, and a command that
    one of them brings says so.
    """
    environment = {"PYTHONPATH": str(wheel), "PATH": "/usr/bin:/bin"}
    alone = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    watch = subprocess.run(
        [sys.executable, "-m", "podpath", "watch", "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (alone.returncode, alone.stderr)
    assert int(alone.stdout) > 1000
    assert (2, "") == (watch.returncode, watch.stdout)
    assert "pip install podpath-live" in watch.stderr


def test_a_wheel_has_every_statement(wheel: Path) -> None:
    """Every module has the repository's statements, each at its line, and loses only strings and
    types.
    """
    sources = {path.relative_to(SOURCE.parent).as_posix(): path for path in SOURCE.rglob("*.py")}
    installed = {path.relative_to(wheel).as_posix(): path for path in wheel.rglob("*.py")}

    assert set(installed) <= set(sources)
    for name, path in installed.items():
        ours, packed = sources[name].read_text("utf-8"), path.read_text("utf-8")
        assert dump_statements(ours) == dump_statements(packed), name


def test_a_wheel_documents_what_is_public(wheel: Path) -> None:
    """Public functions and classes have their docstrings, as have packages."""
    for name in ("__init__.py", "net/probe.py", "library/result.py", "checks/finding.py"):
        ours, packed = (
            folder.joinpath(name).read_text("utf-8") for folder in (SOURCE, wheel / "podpath")
        )
        assert list(list_public(ours)) == list(list_public(packed)), name
    assert ast.get_docstring(ast.parse((wheel / "podpath/__init__.py").read_text("utf-8")))


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_wheel_documents_the_fields_of_answers(wheel: Path, name: str) -> None:
    """What the library hands out keeps every word on what is public, and on its fields; other rooms
    lose them.
    """
    ours, packed = (
        folder.joinpath(name).read_text("utf-8") for folder in (SOURCE, wheel / "podpath")
    )

    assert list(list_fields(ours)) == list(list_fields(packed))
    assert list(list_public(ours)) == list(list_public(packed))
    assert [*list_fields(ours), *list_public(ours)]


def test_a_page_is_explained_from_a_wheel(wheel: Path) -> None:
    """`podpath explain` prints it, also where Python keeps no docstrings."""
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "podpath", "explain", "missing-masquerade"],
        env={"PYTHONPATH": str(wheel), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("missing-masquerade: packets leave the node with a source")
    assert "\nHow to fix\n    iptables -t nat -A POSTROUTING" in done.stdout


def test_a_module_is_stripped_of_its_page_alone() -> None:
    """What stands below stays at its lines."""
    stripped = strip_manual(MODULE, "loud")

    assert stripped.startswith('"""podpath explain loud"""\n\n')
    assert stripped.splitlines()[5:] == MODULE.splitlines()[5:]


@pytest.mark.parametrize("text", ["", "NAME = 1\n", '# above\n"""A page."""\n'])
def test_a_module_without_a_page_is_not_packed(text: str) -> None:
    """A check whose docstring is not where it is looked for is an error of ours."""
    with pytest.raises(ValueError, match="loud: expected a docstring in line 1"):
        strip_manual(text, "loud")


def test_tables_and_pages_are_packed_by_path(tmp_path: Path) -> None:
    """Tables come by their path, a page by its module's; the same texts make the same file."""
    (tmp_path / "links").mkdir()
    (tmp_path / "links/messages.toml").write_text("a = 'ü'\n", encoding="utf-8")
    (tmp_path / "links/loud.py").write_text(MODULE, encoding="utf-8")
    module = ModuleType("podpath.links.loud", "loud: a fault.")
    module.__file__ = str(tmp_path / "links/loud.py")
    module.NAME = "loud"  # type: ignore[attr-defined]

    assert unpack(pack(tmp_path, [module])) == {
        "links/messages.toml": "a = 'ü'\n",
        "links/loud.txt": "loud: a fault.",
    }
    assert pack(tmp_path, [module]) == pack(tmp_path, [module])
    assert list_stripped(tmp_path, [module]) == {"links/loud.py": strip_manual(MODULE, "loud")}


def read_all(folder: Path) -> dict[str, Any]:
    """Return what the program in a folder reads of its tables and pages."""
    done = subprocess.run(
        [sys.executable, "-c", READING],
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def unpack(packed: bytes) -> dict[str, str]:
    """Return the texts of a packed file by path."""
    texts: dict[str, str] = json.loads(lzma.decompress(packed))
    return texts


def dump_statements(text: str) -> tuple[str, list[int]]:
    """Return a module's statements without those that are nothing but strings, without imports, and
    without what functions and names say of types, and where each begins.
    """
    tree = ast.parse(text)
    tree.body = [statement for statement in tree.body if not brings_names(statement)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        for part in ("body", "orelse", "finalbody"):
            body = getattr(node, part, None)
            if isinstance(body, list) and body:
                setattr(node, part, list_told(node, body))
    return ast.dump(tree), [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def list_told(node: ast.AST, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a body that are more than strings, without the types of names."""
    kept = [statement for statement in body if not is_text(statement)]
    if not isinstance(node, ast.ClassDef):
        kept = [without_type(statement) for statement in kept]
    return kept or [ast.Pass(lineno=0)]


def brings_names(statement: ast.stmt) -> bool:
    """Tell whether a statement is an import, or one for type checkers."""
    checked = isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
    return checked or isinstance(statement, ast.Import | ast.ImportFrom)


def without_type(statement: ast.stmt) -> ast.stmt:
    """Return a statement as it is without the type of the name to which it assigns."""
    if not isinstance(statement, ast.AnnAssign) or statement.value is None:
        return statement
    assigned = ast.Assign([statement.target], statement.value)
    return ast.copy_location(assigned, statement)


def list_public(text: str) -> Iterator[tuple[str, str | None, list[str]]]:
    """Yield a module's public functions, classes and their methods with what is said of them, and
    of the types of what they take and return.
    """
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in (*tree.body, *chain.from_iterable(each.body for each in classes)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            types = [getattr(part, "annotation", None) for part in ast.walk(node)]
            types.append(getattr(node, "returns", None))
            yield (
                node.name,
                ast.get_docstring(node),
                [ast.unparse(type_) for type_ in types if type_],
            )


def list_fields(text: str) -> Iterator[str]:
    """Yield what is said of the public fields of a module's public classes."""
    classes = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    public = (node for node in classes if not node.name.startswith("_"))
    for field, note in chain.from_iterable(pairwise(node.body) for node in public):
        match field:
            case ast.AnnAssign(target=ast.Name(id=name)) if is_text(note) and name[0] != "_":
                yield ast.unparse(note)
            case _:
                pass


def is_text(statement: ast.stmt) -> bool:
    """Say whether a statement is nothing but a string."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a table\n[a]\n  # one\nb = 1 # stays\n", "[a]\nb = 1 # stays\n"),
        ('a = """\n# a value\n"""\n# none\n', 'a = """\n# a value\n"""\n# none\n'),
    ],
)
def test_comments_of_tables_are_not_packed(text: str, expected: str) -> None:
    """A value's lines stay, whatever they begin with."""
    assert expected == strip_comments(text)
