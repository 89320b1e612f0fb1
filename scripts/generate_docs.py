"""Write the generated pages and parts of docs/ from the code that they tell of.

    python scripts/generate_docs.py            # write
    python scripts/generate_docs.py --check    # say which are out of date

A page is either generated whole, or has a part between `<!-- generated: NAME -->` and `<!-- end
-->`.
"""

from __future__ import annotations

import re
import sys
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path

from podpath.checks.registry import CHECKS, Check

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts import learning_parts, modelled_tables, parity_tables, timeline_tables  # noqa: E402  # the folder above is only now on the path

MARK = re.compile(
    r"(?P<open><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<close><!-- end -->)", re.DOTALL
)


def picture() -> str:
    """Draw the packages in their layers, as the import-linter contract has them, upper ones
    first.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {
        contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]
    }
    rows = [
        [name.strip(" ()") for name in layer.split("|")] for layer in contracts["layers"]["layers"]
    ]
    rows = [[name for name in row if (ROOT / "src" / "podpath" / name).is_dir()] for row in rows]
    width = 60
    lines = ["+" + "-" * width + "+"]
    for row in rows:
        cell = width // len(row)
        lines.append(
            "|"
            + "|".join(name.center(cell - (index > 0)) for index, name in enumerate(row)).ljust(
                width
            )
            + "|"
        )
        lines.append("+" + "-" * width + "+")
    return "```text\n" + "\n".join(lines) + "\n```\n"


def checks_page() -> str:
    """Make the manual of faults from the checks' docstrings."""
    head = (
        "# Faults that podpath knows by name\n\n"
        "Generated from the checks' docstrings: `podpath explain NAME` prints the same page. A "
        "fault that only a walk sees has\n"
        "no function that looks for it: the diagnosis names it by the step that decided.\n"
        "What a capture shows is found in captures alone, too.\n\n"
        "| fault | what it is | found by |\n|---|---|---|\n"
    )
    rows = "".join(
        f"| [{check.name}](#{check.name}) | {check.summary} | {check.found_by} |\n"
        for check in CHECKS
    )
    return head + rows + "".join(check_section(check) for check in CHECKS)


def check_section(check: Check) -> str:
    """Make one fault's section: its headings as headings, what confirms it as commands, the rest as
    it stands.
    """
    _, _, body = check.page.strip().partition("\n\n")
    parts = re.split(r"\n(?=\S)", body)
    sections = [f"\n## {check.name}\n\n`{check.name}`: {check.summary}\n"]
    for part in parts:
        heading, _, rest = part.partition("\n")
        text = textwrap.dedent(rest).strip("\n")
        sections.append(
            f"\n**{heading}**\n\n"
            + (f"```sh\n{text}\n```\n" if "confirm" in heading else f"{text}\n")
        )
    return "".join(sections)


PARTS: dict[str, Callable[[], str]] = {
    "picture": picture,
    **learning_parts.PARTS,
    **modelled_tables.PARTS,
    **parity_tables.PARTS,
    **timeline_tables.PARTS,
}
PAGES: dict[str, Callable[[], str]] = {"docs/checks.md": checks_page, **learning_parts.PAGES}


def generated() -> dict[Path, str]:
    """Return every page that has something generated, as it has to be."""
    pages = {ROOT / path: make() for path, make in PAGES.items()}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path not in pages and MARK.search(text):
            pages[path] = MARK.sub(
                lambda mark: mark["open"] + PARTS[mark["name"]]() + mark["close"], text
            )
    return pages


def main(arguments: list[str]) -> int:
    """Write what is out of date, or only name it."""
    check = "--check" in arguments
    stale = 0
    for path, text in generated().items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
