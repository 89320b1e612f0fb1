"""The documents are true: generated parts are fresh, links lead somewhere, README's commands are
the ones that CI runs.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import podpath
from scripts import generate_docs
from tests.command import podpath as command_line

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("README.md")]
)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


def named(page: Path) -> str:
    """Name a page as a test's id."""
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = page.read_text(encoding="utf-8")
    return {
        re.sub(r"[^\w\- ]", "", heading["text"].lower()).replace(" ", "-")
        for heading in HEADING.finditer(text)
    }


def test_generated_parts_are_fresh() -> None:
    """`make docs` would change nothing."""
    stale = [
        named(path)
        for path, text in generate_docs.generated().items()
        if path.read_text(encoding="utf-8") != text
    ]

    assert stale == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link to a file of the repository, and to a heading in it, has its target."""
    broken = []
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        path, _, anchor = link["target"].partition("#")
        target = page if not path else page.parent / path
        if not link["target"].startswith("https://") and (
            not target.exists() or (anchor and anchor not in anchors(target))
        ):
            broken.append(link["target"])

    assert broken == []


def test_every_package_has_its_paragraph_and_its_law() -> None:
    """docs/architecture.md tells of each package, and no other."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### (\w+)\n\n\S(?:.|\n)*?\n\*\*Law:\*\* ", text, re.MULTILINE)
    packages = {path.parent.name for path in (ROOT / "src" / "podpath").glob("*/__init__.py")}

    apart = {
        "podpath_capture",
        "podpath_fleet",
        "podpath_lab",
        "podpath_mcp",
        "podpath_protect",
        "podpath_ui",
    }
    assert packages | apart == set(sections)


def test_ci_runs_the_readmes_test_command() -> None:
    """README's second command and CI's are the same."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert re.search(r"^scripts/test$", readme, re.MULTILINE)
    assert run.rstrip().endswith("exec scripts/test")


def test_the_answer_in_the_readme_is_what_podpath_says() -> None:
    """Every line of the answer shown is printed by the command shown, in that order."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"\.venv/bin/podpath (?P<arguments>diagnose \S+)$", readme, re.MULTILINE)
    shown = re.search(r"```text\n(?P<answer>CAUSE.*?)```", readme, re.DOTALL)
    assert command is not None
    assert shown is not None
    printed = iter(command_line(*command["arguments"].split(), cwd=ROOT).stdout.splitlines())
    answer = [line for line in shown["answer"].splitlines() if line.strip(" .")]

    assert [] == [
        line for line in answer if not any(line.rstrip() == other.rstrip() for other in printed)
    ]


def test_the_changelog_knows_the_version() -> None:
    """The installed version, the source's and the changelog's first are one."""
    first = re.search(
        r"^## (?P<version>\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert first is not None
    assert first["version"] == podpath.__version__


def test_help_targets_are_the_makefiles() -> None:
    """`make help` lists every target."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (?P<names>.+)$", text, re.MULTILINE)

    assert phony is not None
    assert set(phony["names"].split()) == set(re.findall(r"^(\w+):.*## ", text, re.MULTILINE))


def test_the_extras_that_docs_name_exist() -> None:
    """`pip install 'podpath[zstd]'` installs something."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named_extras = {
        extra
        for page in PAGES
        for extra in re.findall(r"podpath\[(\w+)\]", page.read_text(encoding="utf-8"))
    }

    assert named_extras <= set(settings["project"]["optional-dependencies"])


NAMED_TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<test>test_\w+)(?:\[(?P<case>[\w-]+)\])?`")


def test_tests_named_in_agreement_exist() -> None:
    """Each of the 56 behaviours of the kernel names tests that are there, and those that none holds
    say so.
    """
    page = (ROOT / "docs" / "quality" / "agreement.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| +\d+ \|", line)]
    assert [str(number) for number in range(1, 57)] == [line.split("|")[1].strip() for line in rows]
    assert [] == [line for line in rows if not NAMED_TEST.search(line) and "not held" not in line]
    missing = []
    for named_test in NAMED_TEST.finditer(page):
        file = (
            named_test["file"]
            if named_test["file"].startswith("tests/")
            else f"tests/kernel/{named_test['file']}"
        )
        text = (ROOT / file).read_text(encoding="utf-8")
        case = named_test["case"]
        recorded = (
            case is None
            or "recorded" not in named_test["test"]
            or (ROOT / f"tests/data/agreement/{case}.json").exists()
        )
        if f"def {named_test['test']}(" not in text or not recorded:
            missing.append(named_test[0])
    assert missing == []
