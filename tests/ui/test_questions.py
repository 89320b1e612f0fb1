"""What the page asks, and the answers it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.reading import read
from podpath.net.errors import PodpathError, UsageError
from podpath_ui.bounds import COMMAND, KEPT
from podpath_ui.questions import Questions, list_fixes
from tests.report.pages.documents import Document
from tests.ui.evidence import HEALTHY, asking, read_ticket, reader


@pytest.fixture
def questions() -> Questions:
    """Return the questions about the node that does not forward."""
    return Questions(reader())


def _text(questions: Questions, number: int) -> str:
    page = questions.read_page(number)
    assert page is not None
    document = Document(page)
    assert document.strange == []
    return document.text


def test_a_connection_is_followed(questions: Questions) -> None:
    """The answer is the page that `trace --html` writes."""
    answer = questions.follow(asking())
    (page,) = answer["pages"]
    assert answer["asked"].startswith("tcp 10.244.1.5 > 10.96.0.10:80")
    assert "net.ipv4.ip_forward = 0" in _text(questions, page["number"])


def test_what_breaks_it_comes_with_a_fix(questions: Questions) -> None:
    """A certain cause's commands are offered to be tried."""
    answer = questions.explain(asking())
    assert answer["color"] == "bad"
    assert [one["commands"] for one in answer["fixes"]] == [["sysctl -w net.ipv4.ip_forward=1"]]


def test_a_change_is_walked_before_and_after(questions: Questions, repository: Path) -> None:
    """Three pages: what the change does, the walk before it and the walk after it. What is not
    shown stays undecided.
    """
    bundle = repository / "examples/incidents/rp-filter-reset/bundle"
    asked = asking(source="10.88.5.61", target="192.168.77.11", port="6443")
    found = Questions(lambda: read(bundle))
    answer = found.change(asked, "sysctl -w net.ipv4.conf.all.rp_filter=0", "")
    assert answer["heading"] == "Before: fails. After: undecided."
    assert answer["color"] == "warn"
    titles = [page["title"] for page in answer["pages"]]
    assert titles == ["What the change does", "Before", "After"]
    said, before, after = (_text(found, page["number"]) for page in answer["pages"])
    assert "the change:1 | sysctl -w net.ipv4.conf.all.rp_filter=0" in said
    assert "NEVER" in before
    assert "UNDECIDED" in after
    assert questions.change(asking(), "sysctl -w net.ipv4.ip_forward=1", "host")["color"] == "warn"


def test_a_change_that_is_not_modeled_leaves_it_undecided(questions: Questions) -> None:
    """A command that nobody models is named."""
    answer = questions.change(asking(), "ip route del default\nip link set eth0 down", "host")
    assert answer["color"] == "warn"
    assert "not applied" in _text(questions, answer["pages"][0]["number"])


@pytest.mark.parametrize(
    ("change", "netns"),
    [("", "host"), ("hello", "host"), ("sysctl -w net.ipv4.ip_forward=1", "nowhere")],
)
def test_what_is_no_change_is_refused(questions: Questions, change: str, netns: str) -> None:
    """Nothing, something that no format knows, and a namespace that is not there."""
    with pytest.raises(UsageError):
        questions.change(asking(), change, netns)


def test_another_node_is_compared_with(questions: Questions) -> None:
    """The difference that explains it is named; without another node it is asked for."""
    with pytest.raises(UsageError, match="choose one first"):
        questions.compare(asking())
    assert questions.take_other("good\u202e.md", HEALTHY.encode()) == "good\\u202e.md"
    answer = questions.compare(asking())
    assert "net.ipv4.ip_forward is 0 here, and 1" in _text(questions, answer["pages"][0]["number"])
    assert questions.offer()["compared"] == "good\\u202e.md"


@pytest.mark.parametrize("data", [b"", b"\x1f\x8bbroken", b"PK\x03\x04broken", b"\xff\xfe\x00"])
def test_what_is_no_bundle_is_refused(questions: Questions, data: bytes) -> None:
    """Broken archives and what is no output are said, and compared with is what was before."""
    with pytest.raises(PodpathError):
        questions.take_other("x", data)
    assert questions.other is None


def test_the_oldest_answers_go(questions: Questions) -> None:
    """So many are kept, and no more."""
    first = questions.follow(asking())["pages"][0]["number"]
    for _ in range(KEPT):
        last = questions.follow(asking(source="192.0.2.10"))["pages"][0]["number"]
    assert questions.read_page(first) is None
    assert questions.read_page(last) is not None


def test_a_live_node_is_read_again() -> None:
    """What it says then is what is offered; evidence that is not live is not read again."""
    cases = iter((read_ticket(), read_ticket(HEALTHY)))
    questions = Questions(lambda: next(cases), live=True)
    questions.read_again()
    assert questions.offer()["sysctls"]["host"] == {"net.ipv4.ip_forward": "1"}
    with pytest.raises(UsageError, match="--live"):
        Questions(reader()).read_again()


def test_only_whole_commands_of_certain_causes_are_offered() -> None:
    """A possible cause's fix and one that is too long are left out."""
    short = {"title": "t", "commands": ["ip route del default"]}
    long = {"title": "t", "commands": ["x" * (COMMAND + 1)]}
    none: dict[str, object] = {"title": "t", "commands": []}
    found = {
        "findings": [
            {"certainty": 1, "repairs": [long, none, short]},
            {"certainty": 0.5, "repairs": [short]},
        ]
    }
    assert list_fixes(found) == [{"title": "t", "commands": ["ip route del default"]}]
