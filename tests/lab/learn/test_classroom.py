"""A lesson from beginning to end by the command, and what is left when its world is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from podpath_lab.apply import LabError
from podpath_lab.learn import command
from podpath_lab.learn.classroom import Classroom, is_working, list_words

needs_kernel = pytest.mark.kernel("iptables-nft-restore", "tcpdump", "curl", "nsenter", "unshare")


def learn(folder: Path, *words: str) -> int:
    """Run `podpath learn` and return its exit code."""
    done = command.learn.main(["--folder", str(folder), *words], standalone_mode=False)
    return done if isinstance(done, int) else 0


def _lives(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    except OSError:
        return False


@needs_kernel
def test_a_lesson_is_lived_through(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is broken for a learner's curl too; hints come one after another; a wrong answer and a
    check too early say so; the cure is found to work; podpath's own answer names the fault; and
    nothing is left.
    """
    folder = tmp_path / "lesson"

    def say(*words: str) -> str:
        learn(folder, *words)
        return capfd.readouterr().out

    assert "tcp 10.1.0.2 > 10.1.0.3:80 from pod1" in say("start")
    try:
        with pytest.raises(LabError, match="is under way"):
            learn(folder, "start")
        assert say("run", "host", "--", "curl", "-sm9", "http://10.1.0.3/") == "hello\n"
        assert learn(folder, "run", "pod1", "--", "curl", "-sm1", "http://10.1.0.3/") == 28
        assert say("hint").startswith("Hint 1 of 4: ")
        assert say("hint").startswith("Hint 2 of 4: ")
        assert learn(folder, "check") == 1
        assert capfd.readouterr().out == "Not yet: the client sees 'timeout'.\n"
        assert learn(folder, "check", "rp-filter") == 1
        assert learn(folder, "check", "ip-forward") == 0
        assert learn(folder, "run", "host", "--", "sysctl", "-qw", "net.ipv4.ip_forward=1") == 0
        assert learn(folder, "check") == 0
        solved = say("solve", "--fix")
        assert "sysctl -w net.ipv4.ip_forward=1" in solved
        assert solved.endswith("It works again.\n")
    finally:
        process = Classroom(folder).find_process()
        learn(folder, "stop")
    assert not _lives(process)
    assert not folder.exists()
    assert not Path("/run/netns/pod1").exists()
    with pytest.raises(LabError, match="no lesson is under way"):
        learn(folder, "check")


@needs_kernel
def test_a_killed_world_takes_everything_along(tmp_path: Path) -> None:
    """A learner's program that still runs inside ends with it, and the next lesson can begin."""
    classroom = Classroom(tmp_path / "lesson")
    classroom.start("nowhere")
    process = classroom.find_process()
    words = ["nsenter", f"--target={process}", "--mount", "--net", "--pid", "--"]
    inside = subprocess.Popen([*words, *list_words("pod1", ("sleep", "600"))])
    while not Path(f"/proc/{inside.pid}/task/{inside.pid}/children").read_text().strip():
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    assert inside.wait(30) != 0
    for ask in (classroom.try_connection, classroom.give_hint, classroom.find_process):
        with pytest.raises(LabError, match="world of the lesson 'nowhere' is gone"):
            ask()
    assert classroom.read_note() == ("nowhere", 0)
    classroom.stop()
    assert not classroom.folder.exists()


def test_without_a_lesson_it_is_said(tmp_path: Path) -> None:
    """Each step says that there is nothing to do it with, and to stop is no error."""
    classroom = Classroom(tmp_path / "none")
    with pytest.raises(LabError, match="no lesson is under way"):
        classroom.give_hint()
    with pytest.raises(LabError, match="no lesson is under way"):
        classroom.try_connection()
    classroom.stop()


def test_a_broken_note_is_no_lesson(tmp_path: Path) -> None:
    """Whatever stands in the note's place, it is an error that says what to do."""
    (tmp_path / "lesson.json").write_text('{"name": 1}')
    with pytest.raises(LabError, match="no lesson is under way"):
        Classroom(tmp_path).read_note()


def test_what_a_client_sees_is_judged() -> None:
    """Only an answer counts."""
    assert is_working("ok")
    assert not is_working("connected")
    assert list_words("pod1", ())[-2:] == ("bash", "--norc")
