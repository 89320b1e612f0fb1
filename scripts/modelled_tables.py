"""Tables of docs/, made from the code's own data: what is modeled, what is read, which commands
and files there are.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from podpath import report
from podpath.cli.main import COMMANDS
from podpath.collect.netns_files import NETNS_FILES, NODE_FILES
from podpath.datapath.stages.order import ORDER
from podpath.datapath.walk.not_modelled import BOUNDARIES
from podpath.evidence.recognition import FORMATS
from podpath.xtables.extension import MatchExtension, TargetExtension
from podpath.xtables.registry import MATCHES, TARGETS

SOURCES = Path(__file__).resolve().parents[1] / "src"


def stages() -> str:
    """Return the order table: each path's stages, with the kernel function of IPv4, and of IPv6
    where it is another.
    """
    rows = []
    for path, listed in ORDER[4].items():
        for four, six in zip(listed, ORDER[6][path], strict=True):
            other = "" if six.function == four.function else f"`{six.function}`"
            rows.append((path, four.name, f"`{four.function}`", other))
    return table(("path", "stage", "kernel function (IPv4)", "IPv6, where it is another"), rows)


def matches() -> str:
    """Return the matches that are evaluated."""
    return table(
        ("match", "what it asks"),
        described({name: each for name, each in MATCHES.items() if not each.depends}),
    )


def opaque_matches() -> str:
    """Return the matches that fork a walk, and what their answer depends on."""
    rows = (
        (f"`-m {name}`", entry.depends, "yes" if entry.likely else "no")
        for name, entry in sorted(MATCHES.items())
        if entry.depends
    )
    return table(("match", "its answer depends on", "likelier answer"), rows)


def targets() -> str:
    """Return the targets that are carried out."""
    known = {name: each for name, each in TARGETS.items() if each.compiler is not None}
    return table(("target", "what it does"), described(known))


def silent_targets() -> str:
    """Return the targets that change nothing a walk looks at."""
    return table(
        ("target", "what it does"),
        ((f"`{name}`", each.effect) for name, each in sorted(TARGETS.items()) if each.effect),
    )


def boundaries() -> str:
    """Return what is not modeled."""
    rows = [
        (f"`-j {name}`", why, "`iptables-save -c`", "ends")
        for name, why in sorted((each.name, each.stops) for each in TARGETS.values() if each.stops)
    ]
    rows += [
        (
            item.name,
            item.why,
            f"`{item.ask}`" if item.ask else "",
            "ends" if item.ends else "goes on",
        )
        for item in BOUNDARIES.values()
    ]
    return table(("what", "why", "command that shows it", "a walk"), rows)


def formats() -> str:
    """Return the formats of evidence."""
    rows = (
        (f"`{row.name}`", first_sentence(read_docstring(row.read.__module__))) for row in FORMATS
    )
    return table(("format", "what its reader knows"), sorted(rows))


def commands() -> str:
    """Return the commands of the command line."""
    return table(
        ("command", "job"),
        ((f"`podpath {name}`", entry.summary) for name, entry in COMMANDS.items()),
    )


def bundle_files() -> str:
    """Return the files of a bundle, with the commands that print them."""
    rows = [(f"`netns/NAME/{file.name}`", f"`{' '.join(file.arguments)}`") for file in NETNS_FILES]
    rows += [(f"`node/{file.name}`", f"`{' '.join(file.arguments)}`") for file in NODE_FILES]
    return table(("path", "printed by"), rows)


def schemas() -> str:
    """Return the published schemas of JSON answers."""
    found = sorted(Path(report.__path__[0], "schema").glob("*.json"))
    parsed = [json.loads(path.read_text(encoding="utf-8")) for path in found]
    return table(
        ("schema", "title"), ((f"`{schema['$id']}`", schema["title"]) for schema in parsed)
    )


def described(
    extensions: Mapping[str, MatchExtension] | Mapping[str, TargetExtension],
) -> Iterable[tuple[str, str]]:
    """Pair names with what the modules that hold them say of themselves."""
    pages = {
        id(value): read_docstring(name)
        for name, module in sorted(sys.modules.items())
        if name.startswith(("podpath.xtables.matches.", "podpath.xtables.targets."))
        for value in vars(module).values()
        if isinstance(value, MatchExtension | TargetExtension)
    }
    for name, extension in sorted(extensions.items()):
        text = first_sentence(pages[id(extension)])
        yield f"`{name}`", re.sub(r"^`-[mj] [^:]*: ", "", text)


def read_docstring(name: str) -> str | None:
    """Return a module's docstring as the repository has it: an installed wheel leaves it out."""
    path = SOURCES / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")), clean=False)


def first_sentence(text: str | None) -> str:
    """Return the first paragraph of a docstring on one line."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Spell a Markdown table."""
    lines = [heads, ("---",) * len(heads), *rows]
    return (
        "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )
        + "\n"
    )


PARTS: dict[str, Callable[[], str]] = {
    "stages": stages,
    "matches": matches,
    "opaque-matches": opaque_matches,
    "targets": targets,
    "silent-targets": silent_targets,
    "boundaries": boundaries,
    "formats": formats,
    "commands": commands,
    "bundle-files": bundle_files,
    "schemas": schemas,
}
"""By the name in a page's `<!-- generated: NAME -->`."""
