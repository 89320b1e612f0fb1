"""Defaults from `podpath.toml`: the user's own, and the one in the working directory."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from podpath.cli.main import run

TICKET = "```\n$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n```\n"


class Done(NamedTuple):
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


class Place:
    """A working directory with a ticket, and a user's configuration folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Make both."""
        self.own = folder / "config" / "podpath" / "podpath.toml"
        self.here = folder / "work" / "podpath.toml"
        self.own.parent.mkdir(parents=True)
        self.here.parent.mkdir()
        (folder / "ticket.md").write_text(TICKET, encoding="utf-8")
        self._capsys = capsys

    def run(self, *arguments: str) -> Done:
        """Run the command there."""
        code = run(arguments or ("diagnose", "../ticket.md"))
        return Done(code, *self._capsys.readouterr())


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Place]:
    """Provide one without any configuration, and be there."""
    made, before = Place(tmp_path, capsys), gc.get_threshold()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.own.parents[1]))
    monkeypatch.chdir(made.here.parent)
    yield made
    gc.set_threshold(*before)


def test_defaults_are_the_command_lines_unless_it_says_otherwise(place: Place) -> None:
    """The user's own file, then the working directory's, then the command line."""
    place.own.write_text('color = "always"\n[diagnose]\njson = true\n[trace]\nsize = 99\n')
    assert "podpath/diagnosis/v1" == json.loads(place.run().stdout)["schema"]
    place.own.write_text('color = "always"\n')
    assert "\x1b[" in place.run().stdout
    place.here.write_text('color = "never"\n')
    assert "\x1b[" not in place.run().stdout
    assert "\x1b[" in place.run("diagnose", "../ticket.md", "--color", "always").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("color = 'never'\nsize =\n", ":2: invalid value"),
        ("\ncolour = 'never'\n", ":2: colour: expected it in the table of a command"),
        ("color = 'red'\n", ":1: color: 'red' is not one of"),
        ("[diagnose]\nbrief = 'yes'\n", ":2: brief: expected true or false, saw 'yes'"),
        ("[diagnose]\n\nsvgs = 'a'\n", ":3: svgs: `podpath diagnose` has no such option"),
        ("[diagnose]\nprobe = 'tcp a > b'\n", ":2: probe: expected a list of texts"),
        ("[diagnoze]\ncolor = 'never'\n", ":2: there is no command 'diagnoze'"),
        ("max-size = 'much'\n\"x\\u001b\" = 1\n", ":1: x\\x1b: expected it in the table"),
    ],
)
def test_errors_name_file_and_line(place: Place, text: str, said: str) -> None:
    """They are usage errors, on one line."""
    place.own.write_text(text, encoding="utf-8")
    done = place.run()
    assert (2, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert f"{place.own}{said}" in done.stderr


def test_help_needs_no_configuration(place: Place) -> None:
    """Whoever has a wrong one still learns what is right."""
    place.own.write_text("color = ", encoding="utf-8")
    assert [0, 0, 0] == [
        place.run(*words).returncode for words in (("--help",), ("diagnose", "-h"), ("--version",))
    ]


def test_a_working_directory_says_only_how_answers_look(place: Place) -> None:
    """Neither what is asked, nor what is read or written."""
    place.here.write_text("[diagnose]\nbrief = true\n", encoding="utf-8")
    assert place.run("diagnose", "../ticket.md", "--brief").stdout == place.run().stdout
    for key in ("html = 'page.html'", "live = true", "max-size = '1'"):
        place.here.write_text(f"[diagnose]\n{key}\n", encoding="utf-8")
        done = place.run()
        assert (2, [place.here]) == (done.returncode, list(place.here.parent.iterdir()))
        assert "podpath.toml:2: " in done.stderr
        assert f"it may only stand in {place.own}" in done.stderr


@pytest.mark.parametrize(
    "hostile",
    ["bundle", "netns above", "evidence", "itself", "writable", "link", "pipe", "stranger"],
)
def test_nothing_of_a_bundle_is_trusted(place: Place, hostile: str) -> None:
    """A file that came along with evidence, or that others can write, is as if it were not there:
    not even its errors are said.
    """
    place.here.write_text("brief = true\nevil", encoding="utf-8")
    asked = ["diagnose", "../ticket.md"]
    match hostile:
        case "bundle":
            (place.here.parent / "bundle.json").write_text("{}")
        case "netns above":
            (place.here.parents[1] / "netns").mkdir()
        case "evidence":
            asked.append("..")
        case "itself":
            asked.append("podpath.toml")
        case "writable":
            place.here.chmod(0o666)
        case "link":
            place.here.rename(place.here.with_name("other.toml"))
            place.here.symlink_to("other.toml")
        case "pipe":
            place.here.unlink()
            os.mkfifo(place.here)
        case _:
            if os.geteuid() != 0:
                pytest.skip("needs root")
            os.chown(place.here, 65534, 65534)
    done = place.run(*asked)
    assert "podpath.toml:" not in done.stderr
    assert done.returncode in {0, 1, 3}


def test_the_users_own_file_may_be_a_link(place: Place) -> None:
    """As those who keep their configuration elsewhere have it; in other hands it is not read."""
    kept = place.here.parent / "kept.toml"
    kept.write_text('color = "always"\n', encoding="utf-8")
    place.own.symlink_to(kept)
    assert "\x1b[" in place.run().stdout
    kept.chmod(0o666)
    assert "\x1b[" not in place.run().stdout
