"""Answers and drawings on their way out."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from podpath.cli.main import podpath
from podpath.cli.options import AnswerFiles
from podpath.cli.output import note_unwritten, show, write_beside, write_files, write_text
from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.trace import trace
from podpath.net.errors import MissingExtra, UsageError
from tests.command import podpath as call
from tests.library.samples import NO_FORWARDING, PROBE


@pytest.mark.parametrize("as_json", [True, False])
def test_answer_is_printed_with_its_exit_code(*, as_json: bool) -> None:
    """As text or as a document, whole, and the command ends there."""
    answer = trace(NO_FORWARDING, PROBE)

    @click.command()
    def command() -> None:
        show(answer, as_json=as_json, color="never", verbose=False)

    done = CliRunner().invoke(command)
    assert (1, answer.json() if as_json else answer.text()) == (done.exit_code, done.stdout)


def test_what_was_read_is_answered_where_it_cannot_be_kept() -> None:
    """A note beside the answer ends the command with 2, after it."""
    answer = trace(NO_FORWARDING, PROBE)

    @click.command()
    def command() -> None:
        note_unwritten("kept: no space left on device")
        show(answer, as_json=True, color="never", verbose=False)

    done = CliRunner().invoke(command)
    assert done.stdout == answer.json()
    assert str(done.exception) == "kept: no space left on device"


def test_the_answer_is_printed_where_a_file_needs_more_packages(tmp_path: Path) -> None:
    """What has to be installed is said after the answer."""
    answer = trace(NO_FORWARDING, PROBE)

    def render() -> bytes:
        raise MissingExtra("needs pyarrow")

    @click.command()
    def command() -> None:
        write_beside(str(tmp_path / "a.parquet"), render)
        show(answer, as_json=True, color="never", verbose=False)

    done = CliRunner().invoke(command)
    assert (answer.json(), "needs pyarrow") == (done.stdout, str(done.exception))


def test_drawing_is_written_or_refused(tmp_path: Path) -> None:
    """A folder that is not there is the user's error."""
    write_text(str(tmp_path / "drawing.svg"), "<svg/>")

    assert (tmp_path / "drawing.svg").read_text(encoding="utf-8") == "<svg/>"
    for name in (str(tmp_path / "none" / "drawing.svg"), "a\0b"):
        with pytest.raises(UsageError, match=r"no such file|not a file name"):
            write_text(name, "")


TICKET = "examples/incidents/rp-filter-reset/ticket.md"


def test_answer_goes_into_each_file_that_is_asked_for(tmp_path: Path) -> None:
    """The page, the drawing and the diagram beside the printed text, which stays as it is."""
    files = AnswerFiles(*(str(tmp_path / name) for name in ("a.html", "a.svg", "a.mmd")))
    answer = trace(NO_FORWARDING, PROBE)
    write_files(answer, files)
    written = [
        (tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "a.svg", "a.mmd")
    ]
    assert written == [answer.html(), answer.svg(), answer.mermaid()]
    write_files(answer, AnswerFiles(None, None, None))
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (("diagnose", TICKET, "--brief"), ("html", "svg", "mermaid")),
        (("timeline", TICKET), ("html", "svg")),
        (("capture", TICKET), ("html", "svg", "csv")),
        (("diff", TICKET, TICKET), ("html",)),
    ],
)
def test_the_answer_is_printed_where_a_file_cannot_be_written(
    words: tuple[str, ...], files: tuple[str, ...], tmp_path: Path
) -> None:
    """What took long is not lost: a line for each file that is not there says why, and the exit
    code tells scripts.
    """
    asked = [f"--{name}={tmp_path}/none/a.{name}" for name in files]
    plain, done = call(*words), call(*words, *asked)

    assert plain.stdout
    assert (2, plain.stdout) == (done.returncode, done.stdout)
    said = [f"podpath: {tmp_path}/none/a.{name}: no such file or directory" for name in files]
    assert sorted(said) == sorted(done.stderr.splitlines())


@pytest.mark.parametrize(
    "command",
    [
        ("diagnose", TICKET),
        ("trace", TICKET, "--probe", "tcp 10.88.5.203 > 10.88.5.61:9187"),
        ("diff", TICKET, TICKET),
        ("timeline", TICKET),
        ("capture", "examples/incidents/host-disconnect/ticket.md"),
    ],
    ids=lambda command: str(command[0]),
)
def test_every_answer_becomes_a_page(
    command: tuple[str, ...], repository: Path, tmp_path: Path
) -> None:
    """`--html` writes one file, and the exit code and text are those without it."""
    words = [str(repository / one) if one.endswith(".md") else one for one in command]
    page = tmp_path / "page.html"
    plain = CliRunner().invoke(podpath, [*words, "--color", "never"])
    done = CliRunner().invoke(podpath, [*words, "--color", "never", "--html", str(page)])
    assert (done.exit_code, done.stdout) == (plain.exit_code, plain.stdout)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_without_a_walk_there_is_nothing_to_draw() -> None:
    """The error says what to give."""
    answer = diagnose(Pasted("# lsmod\nModule                  Size  Used by\nbridge 311296 0\n"))
    with pytest.raises(UsageError, match="no path to draw; give --probe"):
        answer.svg()
