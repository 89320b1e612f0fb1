"""The site: built with warnings as errors, every link and anchor of its pages leads somewhere, and
nothing is loaded from elsewhere.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from scripts import build_site

ROOT = Path(__file__).resolve().parents[1]
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
STYLE = frozenset({"stylesheet", "icon", "preload"})
"""Of links in a head, those that a browser loads."""


class Page(HTMLParser):
    """What a page links to, loads, and has anchors for."""

    def __init__(self, path: Path) -> None:
        """Read a page."""
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names."""
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        loads = tag != "link" or found.get("rel", "") in STYLE
        if tag in LOADED and LOADED[tag] in found and loads:
            self.loaded.append(found[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the built site's folder."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "build_site.py"), str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (0, "") == (done.returncode, done.stderr)
    return folder / "html"


def list_broken(site: Path) -> Iterator[str]:
    """Yield the links within the site that lead nowhere."""
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            place, anchor = urldefrag(link)
            if "://" in place or place.startswith("mailto:"):
                continue
            target = path if not place else (path.parent / unquote(place)).resolve()
            target = target / "index.html" if target.is_dir() else target
            known = target not in pages or unquote(anchor) in pages[target].anchors
            if not target.is_file() or not known:
                yield f"{path.relative_to(site)}: {link}"


def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    """Also those that the generator made, and those between pages of docs/ and the README."""
    assert [] == list(list_broken(site))


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """A page shows without a network: no fonts, scripts or pictures of others."""
    loaded = {
        one
        for path in site.rglob("*.html")
        for one in Page(path).loaded
        if one.startswith(("http", "//"))
    }

    assert loaded == set()


def test_every_page_of_docs_is_in_the_navigation(site: Path) -> None:
    """docs/README.md lists every page of docs/, or a list that it lists does."""
    text = str(build_site.make_nav())
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "evidence"]

    assert (site / "docs" / "howto" / "coredns-loop.html").is_file()
    assert [] == [path.name for path in pages if str(path.relative_to(ROOT)) not in text]


def test_a_dead_link_fails_the_build(tmp_path: Path) -> None:
    """A warning of the generator is an error."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text("[gone](gone.md)\n", encoding="utf-8")
    settings = f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: pages\nsite_dir: html\n"
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", str(tmp_path / "mkdocs.yml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert "gone.md" in done.stderr


def test_what_is_sealed_is_on_no_page() -> None:
    """The site has no file of the sealed half of the incidents."""
    assert not [path for path in build_site.list_files() if build_site.CLOSED in str(path)]
