"""Places as hyperlinks: where the terminal takes them, and to plain files of text alone."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from podpath.cli.hyperlinks import make_linker, takes_hyperlinks
from podpath.cli.main import podpath
from tests.command import COMMAND

TICKET = """\
root@{name}:~# ip route
default via 10.9.0.1 dev eth0
10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.2
blackhole 203.0.113.0/24
root@{name}:~# ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    inet 10.9.0.2/24 brd 10.9.0.255 scope global eth0
"""
PROBE = ("--probe", "tcp 10.9.0.2 > 203.0.113.9:80")
_LINK = re.compile(r"\x1b\]8;;([^\x1b]*)\x1b\\([^\x1b]*)\x1b\]8;;\x1b\\")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7200"}, False),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, False),
    ],
)
def test_only_terminals_that_are_known_take_them(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], *, expected: bool
) -> None:
    """Others would print the address, or nothing; a file never takes them."""
    assert not takes_hyperlinks({"TERM": "xterm-kitty"})
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert expected is takes_hyperlinks(environment)


def test_only_plain_files_of_text_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A click neither starts what a bundle brought along, nor follows a link, nor leaves an
    archive; what is in no file has no address.
    """
    monkeypatch.chdir(tmp_path)
    names = ("a b#\x1b\u202e.md", "route.txt", "run.desktop", "page.html", "stdin", "program")
    for name in (*names, "x" * 200 + ".txt"):
        (tmp_path / name).touch()
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    link = make_linker()
    given = (*names, "link.txt", "route.txt/../route.txt", ".", "missing.txt", "a\0.txt", "\udc80")
    linked = {name: address for name in given if (address := link(name, 7)) is not None}
    folder = f"file://{os.uname().nodename}{tmp_path}"
    assert linked == {
        "a b#\x1b\u202e.md": f"{folder}/a%20b%23%1B%E2%80%AE.md#7",
        "route.txt": f"{folder}/route.txt#7",
    }
    deep = "/".join(["d" * 200] * 12)
    (tmp_path / deep).mkdir(parents=True)
    (tmp_path / deep / "a.txt").touch()
    assert link(f"{deep}/a.txt", 1) is None


def test_quoted_lines_lead_to_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is the same with and without them, and a document for programs has none."""
    monkeypatch.chdir(tmp_path)
    Path("ticket.md").write_text(TICKET.format(name="node1"), encoding="utf-8")
    asked = ["diagnose", "ticket.md", *PROBE]
    plain, linked, document = (
        CliRunner().invoke(podpath, [*asked, *more]).stdout
        for more in ((), ("--hyperlink", "always"), ("--hyperlink", "always", "--json"))
    )
    found = _LINK.findall(linked)
    assert [(f"file://{os.uname().nodename}{tmp_path}/ticket.md#4", "ticket.md:4")] == found[:1]
    assert plain == _LINK.sub(r"\2", linked)
    assert ("\x1b" in plain, "\\u001b]" in document) == (False, False)


@pytest.mark.parametrize(
    ("variables", "options", "rows", "linked"),
    [
        ("FORCE_HYPERLINK=1", "", 200, True),
        ("FORCE_HYPERLINK=1", "--hyperlink never", 200, False),
        ("FORCE_HYPERLINK=1", "", 5, False),  # few pagers pass them on
        ("FORCE_HYPERLINK=1", "--hyperlink always", 5, True),
        ("FORCE_HYPERLINK=0", "", 200, False),
    ],
)
def test_on_a_terminal(
    tmp_path: Path, variables: str, options: str, rows: int, *, linked: bool
) -> None:
    """They are there unless they are not wanted, or a pager comes between."""
    (tmp_path / "ticket.md").write_text(TICKET.format(name="node1"), encoding="utf-8")
    line = (
        f"stty rows {rows} cols 100; env {variables} TERM=xterm PODPATH_PAGER='sed s/^/@/' "
        f"{COMMAND} diagnose ticket.md {PROBE[0]} '{PROBE[1]}' {options}"
    )
    done = subprocess.run(
        ["script", "-qec", line, "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={name: os.environ[name] for name in os.environ if name not in {"LINES", "COLUMNS"}},
    )
    assert (linked, rows == 5) == ("\x1b]8;;file://" in done.stdout, done.stdout.startswith("@"))
