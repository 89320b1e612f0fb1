"""Answers and drawings on their way out."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from podpath.cli.output import show, write_text
from podpath.library.trace import trace
from podpath.net.errors import UsageError
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


def test_drawing_is_written_or_refused(tmp_path: Path) -> None:
    """A folder that is not there is the user's error."""
    write_text(str(tmp_path / "drawing.svg"), "<svg/>")

    assert (tmp_path / "drawing.svg").read_text(encoding="utf-8") == "<svg/>"
    for name in (str(tmp_path / "none" / "drawing.svg"), "a\0b"):
        with pytest.raises(UsageError, match=r"no such file|not a file name"):
            write_text(name, "")
