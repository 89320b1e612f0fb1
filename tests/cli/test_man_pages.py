"""Man pages and completions, made by the commands and installed by the wheel."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import click
import pytest

from podpath.cli.main import COMMANDS, podpath
from scripts.man_pages import COMPLETIONS, _escape, make_completions, make_pages, write_share

CORE = [name for name, entry in COMMANDS.items() if entry.is_own]


def test_every_command_has_its_page_with_every_option() -> None:
    """What `--help` lists stands there, too."""
    pages = make_pages()
    assert {"podpath.1", *(f"podpath-{name}.1" for name in CORE)} == set(pages)
    root = click.Context(podpath)
    for name in CORE:
        page = pages[f"podpath-{name}.1"].replace("\\-", "-")
        command = podpath.get_command(root, name)
        assert command is not None
        words = [word for option in command.params for word in option.opts if word[0] == "-"]
        assert [] == [word for word in words if word not in page]
    listed = pages["podpath.1"].replace("\\-", "-").replace("\\(aq", "'")
    assert [] == [one for one in COMMANDS.values() if one.summary not in listed]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".so /etc/passwd", r"\&.so /etc/passwd"),
        ("'br", r"\(aqbr"),
        (r"C:\n -x", r"C:\en \-x"),
        ("run `podpath why`", r"run \fBpodpath why\fP"),
        ("~/a^b`", r"\(ti/a\(hab\(ga"),
    ],
)
def test_roff_takes_nothing_for_its_own(text: str, expected: str) -> None:
    """Neither a request at a line's beginning nor an escape."""
    assert expected == _escape(text)


def test_pages_are_sound(tmp_path: Path) -> None:
    """Only known requests begin a line, and groff, where it is there, has nothing to say."""
    write_share(tmp_path)
    requests = {".TH", ".SH", ".PP", ".TP", ".nf", ".fi"}
    for path in sorted((tmp_path / "man" / "man1").iterdir()):
        text = path.read_text(encoding="utf-8")
        assert requests >= {line.split()[0] for line in text.splitlines() if line[:1] in {".", "'"}}
        if shutil.which("groff"):
            done = subprocess.run(
                ["groff", "-man", "-Tascii", "-ww", "-z", str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            assert "" == done.stderr


def test_completions_are_those_of_the_command() -> None:
    """Each stands where its shell looks for it, and asks podpath itself."""
    made = make_completions()
    assert set(COMPLETIONS.values()) == set(made)
    assert [] == [path for path, text in made.items() if "_PODPATH_COMPLETE" not in text]
    assert made["zsh/site-functions/_podpath"].startswith("#compdef podpath")


def test_the_wheel_brings_them() -> None:
    """They are installed below `share`, where man and the shells look."""
    try:
        found = metadata.distribution("podpath")
    except metadata.PackageNotFoundError:
        pytest.skip("podpath is not installed")
    if "editable" in (found.read_text("direct_url.json") or ""):
        pytest.skip("podpath is installed in place")
    installed = " ".join(str(file) for file in found.files or ())
    wanted = [f"share/man/man1/podpath-{name}.1" for name in CORE]
    wanted += ["share/man/man1/podpath.1", *(f"share/{path}" for path in COMPLETIONS.values())]
    assert [] == [path for path in wanted if re.search(rf"{path}\b", installed) is None]
