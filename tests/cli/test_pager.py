"""Long answers through a pager: on a terminal alone, and only what is longer than its screen."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from podpath.cli.pager import find_pager
from podpath.net.errors import UsageError
from tests.command import COMMAND

TICKET = "```\n$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n```\n"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PODPATH_PAGER": "most -s", "PAGER": "more"}, ["most", "-s"]),
        ({"PAGER": "more '-x 1'"}, ["more", "-x 1"]),
        ({"PODPATH_PAGER": "", "PAGER": "more"}, []),
        ({"PAGER": "cat"}, []),
        ({}, ["less"] if shutil.which("less") else []),
    ],
)
def test_the_pager_is_the_users(variables: dict[str, str], expected: list[str]) -> None:
    """Our own variable comes first; an empty one, or cat, means none."""
    assert expected == find_pager(variables)


def test_a_pager_that_is_no_command() -> None:
    """The variable is named."""
    with pytest.raises(UsageError, match="PAGER: expected a command"):
        find_pager({"PAGER": "less 'x"})


def _at_terminal(line: str, folder: Path, rows: int, **variables: str) -> tuple[int, str]:
    """Run a command on a terminal of so many rows; return its exit code and what stood there."""
    (folder / "ticket.md").write_text(TICKET, encoding="utf-8")
    kept = folder / "code"
    command = f"stty rows {rows} cols 80; {shlex.quote(str(COMMAND))} {line}; echo $? >{kept}"
    plain = {name: os.environ[name] for name in os.environ if name not in {"LINES", "COLUMNS"}}
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env=plain | {"TERM": "xterm"} | variables,
    )
    return int(kept.read_text()), done.stdout.replace("\r", "")


@pytest.mark.parametrize(
    ("line", "rows", "paged"),
    [
        ("checks", 20, True),
        ("explain rp-filter", 20, True),
        ("checks", 5_000, False),
        ("checks --no-pager", 20, False),
        ("checks --json", 20, False),
    ],
)
def test_what_is_longer_than_the_screen_is_paged(
    tmp_path: Path, line: str, rows: int, *, paged: bool
) -> None:
    """A pager gets the whole text, and documents for programs never go through one."""
    code, shown = _at_terminal(line, tmp_path, rows, PODPATH_PAGER="sed s/^/@/")
    assert (0, paged) == (code, shown.startswith("@"))


@pytest.mark.parametrize(
    ("pager", "said"),
    [
        ("true", ""),  # left at once
        ("missing-pager", "podpath: pager missing-pager: no such file or directory"),
        ("less 'x", "podpath: PODPATH_PAGER: expected a command"),
    ],
)
def test_the_exit_code_is_the_answers(tmp_path: Path, pager: str, said: str) -> None:
    """Whatever becomes of the pager; where it cannot run, the answer is printed."""
    code, shown = _at_terminal("explain rp-filter", tmp_path, 3, PODPATH_PAGER=pager)
    assert (0, bool(said)) == (code, "rp_filter" in shown)
    assert said in shown


def test_into_a_file_nothing_is_paged(tmp_path: Path) -> None:
    """Nor on a terminal that is dumb."""
    code, shown = _at_terminal("checks > listed", tmp_path, 3, PODPATH_PAGER="false")
    assert (0, "") == (code, shown)
    code, shown = _at_terminal("checks", tmp_path, 3, PODPATH_PAGER="false", TERM="dumb")
    assert (tmp_path / "listed").read_text(encoding="utf-8") == shown


def test_a_less_that_root_was_given_starts_no_shell(tmp_path: Path) -> None:
    """Who may run podpath by sudo may not yet run everything."""
    pager = "sh -c 'env; cat >/dev/null'"
    _, shown = _at_terminal("checks", tmp_path, 3, PODPATH_PAGER=pager, SUDO_UID="1000")
    assert {"LESS=FRX", "LESSSECURE=1"} <= set(shown.splitlines())
    _, shown = _at_terminal("checks", tmp_path, 3, PODPATH_PAGER=pager, LESS="S", SUDO_UID="")
    assert {"LESS=S", "LESSSECURE=1"} & set(shown.splitlines()) == {"LESS=S"}
