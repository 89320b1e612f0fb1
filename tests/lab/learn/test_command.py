"""`podpath learn` on the command line."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from podpath.net.errors import UsageError
from podpath_lab.apply import LabError
from podpath_lab.learn.classroom import Classroom
from podpath_lab.learn.command import guide, judge, learn
from podpath_lab.learn.lessons import LESSONS, Lesson
from tests.command import COMMAND, podpath


@dataclass(frozen=True, slots=True)
class PaperClassroom(Classroom):
    """A classroom without a world: what is asked of it is noted, and all works again at once."""

    asked: list[str] = field(default_factory=list)

    def start(self, name: str) -> Lesson:
        self.asked.append(f"start {name}")
        self.folder.mkdir(exist_ok=True)
        (self.folder / "lesson.json").write_text(f'{{"name": "{name}", "hints": 0}}')
        return LESSONS[name]

    def try_connection(self) -> str:
        self.asked.append("try")
        return "ok" if self.asked.count("try") > 1 else "timeout"

    def find_process(self) -> int:
        return os.getpid()

    def stop(self) -> None:
        self.asked.append("stop")


def test_lessons_are_listed_without_root_and_without_a_terminal() -> None:
    """Each with the first sentence of its story, and how to begin."""
    done = podpath("learn")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [name for name, line in zip(LESSONS, lines, strict=False) if name in line] == list(
        LESSONS
    )
    assert lines[-1] == f"Begin with: sudo podpath learn start {next(iter(LESSONS))}"


def test_an_unknown_lesson_is_a_usage_error() -> None:
    """It says which there are."""
    with pytest.raises(UsageError, match=r"expected a lesson \(neighbors, "):
        learn.main(["start", "nothing"], standalone_mode=False)


def test_who_is_not_root_is_told(tmp_path: Path) -> None:
    """A user without privileges learns what is needed, and nothing is left."""
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", str(COMMAND), "learn", "start"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    if "setpriv" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("this user may not become another one, or may not read the command")
    assert done.returncode == 2
    assert "needs root" in done.stderr


def test_the_guide_goes_through_a_lesson(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hints, checks and the next lesson, by words; nothing is left at the end."""
    classroom = PaperClassroom(tmp_path / "lesson")
    words = iter(("what", "hint", "check", "check rp-filter", "check", "next", "quit"))
    guide(classroom, lambda: next(words))
    printed = capsys.readouterr().out
    for said in (
        "Say shell",
        "Hint 1 of 4",
        "Not yet: the client sees 'timeout'.",
        "Not rp-filter.",
    ):
        assert said in printed
    assert "It works again." in printed
    first, second = list(LESSONS)[:2]
    assert classroom.asked == [
        f"start {first}", "try", "try", "stop", f"start {second}", "stop",
    ]  # fmt: skip


def test_a_mistyped_fault_is_no_wrong_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nearest name is said, and the guide goes on."""
    classroom = PaperClassroom(tmp_path / "lesson")
    words = iter(("check ip-forwad", "quit"))
    guide(classroom, lambda: next(words))
    printed = capsys.readouterr().out
    assert "did you mean 'ip-forward'?" in printed
    assert "Not ip-forwad" not in printed
    with pytest.raises(UsageError, match="did you mean 'rp-filter'"):
        judge(classroom, "rp-filtr")


def test_the_last_hint_is_said_to_be_the_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who asks for more is told where the answer is."""
    classroom = PaperClassroom(tmp_path / "lesson")
    words = iter((*["hint"] * 4, "quit"))
    guide(classroom, lambda: next(words))
    before, last = capsys.readouterr().out.split("Hint 4 of 4")
    assert "the last one" not in before
    assert "That is the last one; `solve` shows podpath's answer." in last


def test_the_guide_leaves_the_lesson_of_another_shell_alone(tmp_path: Path) -> None:
    """Where one is under way, the guide does not begin, and does not end it."""

    class TakenClassroom(PaperClassroom):
        def start(self, name: str) -> Lesson:
            raise LabError(f"the lesson is under way, not {name}")

    classroom = TakenClassroom(tmp_path / "lesson")
    with pytest.raises(LabError):
        guide(classroom, lambda: "quit")
    assert classroom.asked == []


def test_the_guide_leaves_nothing_when_it_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C, or the end of the input, ends the lesson's world, too."""
    classroom = PaperClassroom(tmp_path / "lesson")

    def interrupt() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guide(classroom, interrupt)
    assert classroom.asked[-1] == "stop"


def test_lessons_are_listed_while_root_has_one_under_way(tmp_path: Path) -> None:
    """What root alone may read is no mistake of the user's."""
    folder = tmp_path / "lesson"
    folder.mkdir(mode=0)
    words = ["setpriv", "--reuid=65534", "--clear-groups", str(COMMAND)]
    done = subprocess.run(
        [*words, "learn", "--folder", str(folder), "list"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    if "setpriv" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("this user may not become another one, or may not read the command")
    assert done.returncode == 0
    assert "neighbors" in done.stdout
