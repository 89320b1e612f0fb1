"""What a wheel holds once and compressed: the tables beside podpath's modules, and the manual pages
of its checks, which are docstrings of their modules and would stand in source and bytecode.

    scripts/packed_data.py FOLDER

writes FOLDER/podpath: the file that `podpath.net.data_files` reads, the modules of checks without
their pages, and all modules without what `scripts/stripped_sources.py` strips, every other line
where it was.
"""

from __future__ import annotations

import argparse
import ast
import json
import lzma
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from podpath.checks.registry import MODULES
from podpath.net.data_files import PACKED, locate_manual
from scripts.stripped_sources import list_imported, strip_notes

SOURCE = Path(__file__).resolve().parents[1] / "src" / "podpath"
TABLES = ".toml"
SMALLEST = 9 | lzma.PRESET_EXTREME
INNER = frozenset({
    "assembly", "capture", "checks", "cli", "cni", "collect", "datapath", "diagnosis", "drops",
    "evidence", "flows", "kube", "net", "report", "sources", "timeline", "xtables",
})  # fmt: skip
"""Rooms that nobody calls from outside; the library, the facts of a node and what builds them for
tests are for others, too.
"""
ANSWERS = frozenset({
    "checks/finding.py", "datapath/tracing/trace.py", "diagnosis/diagnosis.py", "flows/flow.py",
    "net/addresses.py", "net/errors.py", "net/failures.py", "net/packet.py", "net/probe.py",
    "net/protocols.py", "net/provenance.py", "report/style.py",
})  # fmt: skip
"""Modules of those rooms whose classes the library hands out: they keep what is said of them."""


def pack(source: Path, modules: Iterable[ModuleType]) -> bytes:
    """Return the tables below a folder and the manual pages of modules as one compressed file, the
    same whenever they are the same.
    """
    texts = {
        path.relative_to(source).as_posix(): strip_comments(path.read_text(encoding="utf-8"))
        for path in sorted(source.rglob(f"*{TABLES}"))
    }
    texts |= {locate_manual(module.__name__): module.__doc__ or "" for module in modules}
    return compress_texts(texts)


def strip_comments(text: str) -> str:
    """Return a TOML text without its lines of comments; as it is where one of them is a value's."""
    lines = text.splitlines(keepends=True)
    without = "".join(line for line in lines if not line.lstrip().startswith("#"))
    return without if tomllib.loads(without) == tomllib.loads(text) else text


def compress_texts(texts: Mapping[str, str]) -> bytes:
    """Return the file that holds texts by path."""
    return lzma.compress(json.dumps(texts, ensure_ascii=False).encode(), preset=SMALLEST)


def strip_manual(text: str, name: str) -> str:
    """Return a module's source with a line in place of its docstring that says how to read it, and
    everything below at the lines where it was, so that tracebacks stay true.

    Raises:
        ValueError: no docstring begins in its first line.
    """
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None or tree.body[0].lineno != 1:
        raise ValueError(f"{name}: expected a docstring in line 1, saw none")
    length = tree.body[0].end_lineno or 1
    lines = text.splitlines(keepends=True)
    stands_in = f'"""podpath explain {name}"""\n'
    return "".join([stands_in, *["\n"] * (length - 1), *lines[length:]])


def list_stripped(source: Path, modules: Iterable[ModuleType]) -> Mapping[str, str]:
    """Return the sources below a folder that a wheel has in another form, by path below it: modules
    of checks without their manual pages, and all without what is only for who changes them.
    """
    names = {Path(module.__file__ or ""): module.NAME for module in modules}
    wanted = _list_wanted(source.parent)
    stripped: dict[str, str] = {}
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        text = path.read_text(encoding="utf-8")
        without = strip_notes(
            text,
            own=path not in names and path.name != "__init__.py",
            inner=name.partition("/")[0] in INNER and name not in ANSWERS,
            wanted=wanted.get(f"{source.name}.{name.removesuffix('.py').replace('/', '.')}", ()),
        )
        if path in names:
            without = strip_manual(without, names[path])
        if without != text:
            stripped[name] = without
    return stripped


def _list_wanted(folder: Path) -> Mapping[str, set[str]]:
    """Return what the sources in a folder import from each module."""
    wanted: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        for module, name in list_imported(path.read_text(encoding="utf-8")):
            wanted.setdefault(module, set()).add(name)
    return wanted


def main() -> None:
    """Write them where the user says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("folder", type=Path)
    target = parser.parse_args().folder / SOURCE.name
    for path, text in list_stripped(SOURCE, MODULES).items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    packed = pack(SOURCE, MODULES)
    (target / PACKED).write_bytes(packed)
    sys.stdout.write(f"{target}: {len(packed) / 1e6:.2f} MB of data\n")


if __name__ == "__main__":
    main()
