"""Build the documentation as a site: build/site/html, whose pages open without a server.

    python scripts/build_site.py [FOLDER]

The pages are those of docs/, and whatever they link to within the repository. They are laid out as
they stand in it, so that a link works there as it does on the site. The navigation is the list in
docs/README.md. Warnings are errors: a link or an anchor that leads nowhere fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
FIRST = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "deploy/README.md")
LISTS = ("docs/howto/README.md",)
"""Pages whose own list of pages stands below them in the navigation."""
CLOSED = "incidents/sealed"
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s#]+)(?:#[^)\s]*)?\)")
ITEM = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<target>[^)\s#]+)\)", re.MULTILINE)
SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!## ).*\n?)*)", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
Nav = list[dict[str, "str | Nav"]]


def list_links(page: Path) -> Iterator[Path]:
    """Yield the files of the repository that a page links to."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.finditer(text):
        target = (page.parent / link["target"]).resolve()
        if "://" not in link["target"] and target.is_file() and target.is_relative_to(ROOT):
            yield target


def list_files() -> list[Path]:
    """Return the pages, and every file that one of them links to."""
    waiting = [ROOT / name for name in FIRST] + sorted((ROOT / "docs").rglob("*.md"))
    found = dict[Path, None]()
    while waiting:
        path = waiting.pop()
        if path in found or path.is_relative_to(ROOT / CLOSED):
            continue
        found[path] = None
        if path.suffix == ".md":
            waiting += list_links(path)
    return sorted(found)


def make_nav() -> Nav:
    """Return the navigation: the sections of docs/README.md, and what their items link to."""
    sections = SECTION.finditer((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    start: Nav = [{"podpath": "README.md"}, {"All pages": "docs/README.md"}]
    return start + [
        {section["title"]: list_items(section["body"], ROOT / "docs")} for section in sections
    ]


def list_items(text: str, folder: Path) -> Nav:
    """Return the items of a list of pages; one that is a list itself stands with its own."""
    items: Nav = []
    for item in ITEM.finditer(text):
        target = (folder / item["target"]).resolve()
        name = str(target.relative_to(ROOT))
        title = item["title"].partition(":")[0]
        if name in LISTS:
            below: Nav = [{title: name}]
            items.append(
                {title: below + list_items(target.read_text(encoding="utf-8"), target.parent)}
            )
        elif target.suffix == ".md":
            items.append({title: name})
    return items


def lay_out(folder: Path) -> Path:
    """Copy the pages, write the settings with the navigation, and return where these stand."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    for path in list_files():
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    settings = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(source),
        "site_dir": str(folder / "html"),
        "nav": make_nav(),
    }
    written = folder / "mkdocs.yml"
    written.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return written


def main(arguments: list[str]) -> int:
    """Build the site into a folder."""
    folder = Path(arguments[0]).resolve() if arguments else ROOT / "build" / "site"
    folder.mkdir(parents=True, exist_ok=True)
    settings = lay_out(folder)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # the theme's word on its successor
    # Not `--quiet`: that hides warnings from what counts them, too.
    done = subprocess.run(
        [*command, "--config-file", str(settings)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    print("\n".join(told), end="\n" if told else "", file=sys.stderr)
    if done.returncode == 0:
        print(folder / "html" / "index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
