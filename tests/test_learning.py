"""The pages for learners are true: commands print what stands below them, and experiments happen
on the kernel as told.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import learning_parts, page_answers

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = [
    (page, example)
    for page in page_answers.list_pages()
    for example in page_answers.list_examples(page)
]
ANSWERS = [(page, one) for page, one in EXAMPLES if one.kind == "answer"]
EXPERIMENTS = [(page, one) for page, one in EXAMPLES if one.kind == "kernel"]


@pytest.mark.parametrize(
    ("page", "example"), ANSWERS, ids=[f"{page.stem}-{one.commands[:30]}" for page, one in ANSWERS]
)
def test_commands_print_what_the_page_shows(page: Path, example: page_answers.Example) -> None:
    """Each command of podpath on these pages prints, to the letter, the block below it."""
    assert page.read_text(encoding="utf-8").count(example.shown)
    assert example.shown == example.answer()


@pytest.mark.kernel("iptables", "conntrack", "nstat", "ping", "unshare")
@pytest.mark.parametrize(
    ("page", "example"), EXPERIMENTS, ids=[page.stem for page, _ in EXPERIMENTS]
)
def test_experiments_happen_as_told(page: Path, example: page_answers.Example) -> None:
    """Each script prints on this kernel what the page shows."""
    assert page.parent.name == "explain"
    assert example.shown == example.answer()


def test_there_are_twenty_questions() -> None:
    """Each has threads that ask it, and an answer."""
    pages = sorted((ROOT / "docs" / "howto").glob("*.md"))
    asked = [page for page in pages if page.name != "README.md"]

    assert len(asked) == 20
    assert [] == [
        page.name
        for page in asked
        if "https://github.com/" not in page.read_text(encoding="utf-8").split("\n##")[0]
        or not any(one.kind == "answer" for one in page_answers.list_examples(page))
    ]


def test_a_command_of_another_program_is_refused() -> None:
    """Only podpath's own commands are run for a page."""
    with pytest.raises(AssertionError, match="rm"):
        page_answers.ask("rm -r x\n")


def test_a_block_that_is_out_of_date_is_written(tmp_path: Path) -> None:
    """What is printed replaces what stood there, and the rest stays as it is."""
    page = tmp_path / "page.md"
    block = "```sh\npodpath --version\n```\n\n<!-- answer -->\n{}<!-- end -->\nrest\n"
    page.write_text(block.format("```text\nold\n```\n"), encoding="utf-8")

    page_answers.renew(page, kernel=False)

    written = page.read_text(encoding="utf-8")
    assert "podpath, version" in written or "podpath 0" in written
    assert "old" not in written
    assert written.endswith("<!-- end -->\nrest\n")


def test_owners_are_those_of_the_table() -> None:
    """The page of owners names kube-proxy's chains, and spells no pattern of forty characters."""
    text = learning_parts.owners()

    assert "| kube-proxy | `KUBE-SERVICES`, " in text
    assert "`CNI-HASH`" in text
