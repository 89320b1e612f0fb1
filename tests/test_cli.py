"""The command line: exit codes, errors on standard error, colors, help that is fast, and quiet
ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podpath.checks.registry import CHECKS
from podpath.cli.main import COMMANDS
from podpath.version import __version__
from tests.command import COMMAND, podpath, slowness, spent_by_children, start

ROUTES = """\
root@node1:~# ip route
default via 10.9.0.1 dev eth0
10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.2
blackhole 203.0.113.0/24
root@node1:~# ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 02:00:00:00:00:0e brd ff:ff:ff:ff:ff:ff
    inet 10.9.0.2/24 brd 10.9.0.255 scope global eth0
"""
BLOCKED, OPEN = "tcp 10.9.0.2 > 203.0.113.9:80", "tcp 10.9.0.2 > 198.51.100.9:80"


@pytest.fixture
def ticket(tmp_path: Path) -> Path:
    """Provide a file with a host's routes and addresses."""
    file = tmp_path / "ticket.md"
    file.write_text(ROUTES, encoding="utf-8")
    return file


def test_version_and_help_name_what_there_is() -> None:
    """Every command stands in the help, with the exit codes."""
    assert f"podpath {__version__}" in podpath("--version").stdout
    said = podpath("--help").stdout
    assert [name for name in COMMANDS if name not in said] == []
    assert "Exit codes" in said


def test_help_is_fast() -> None:
    """The best of ten runs takes no more than 150 ms of CPU: no reader and no check is imported for
    it.
    """
    taken = []
    for _ in range(10):
        before = spent_by_children()
        start("--help")
        taken.append(spent_by_children() - before)
    assert min(taken) < 0.15 * slowness()


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_help(command: str) -> None:
    """With its usage and, where it takes evidence, an example."""
    done = podpath(command, "--help")
    assert done.returncode == 0
    assert f"Usage: podpath {command}" in done.stdout


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_of_a_command_is_fast(command: str) -> None:
    """The best of five runs takes no more than 250 ms of CPU: what reads and reasons is imported
    as a command runs.
    """
    taken = []
    for _ in range(5):
        before = spent_by_children()
        start(command, "--help")
        taken.append(spent_by_children() - before)
    assert min(taken) < 0.25 * slowness()


@pytest.mark.parametrize(
    ("probe", "code", "verdict"), [(BLOCKED, 1, "NEVER"), (OPEN, 3, "UNDECIDED")]
)
def test_trace_exits_by_its_verdict(ticket: Path, probe: str, code: int, verdict: str) -> None:
    """1 where it never works; 3 where it works as far as a fragment shows, which clears nothing."""
    done = podpath("trace", ticket, "--probe", probe, "--json")
    assert (code, verdict) == (done.returncode, json.loads(done.stdout)["verdict"])


@pytest.mark.parametrize(("probe", "code"), [(BLOCKED, 1), (OPEN, 3)])
def test_diagnose_exits_by_its_verdict(ticket: Path, probe: str, code: int) -> None:
    """1 with a fault, 3 with none in a fragment that leaves out what could decide."""
    assert code == podpath("diagnose", ticket, "--probe", probe).returncode


def test_standard_input_is_evidence() -> None:
    """`-` stands for it."""
    done = subprocess.run(
        [COMMAND, "trace", "-", "--probe", BLOCKED],
        input=ROUTES,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "stdin:4 | blackhole 203.0.113.0/24" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("frobnicate",), "No such command"),
        (("diagnos", "x"), "Did you mean 'diagnose'?"),
        (("diagnose",), "Missing argument"),
        (("diagnose", "--nonsense", "x"), "No such option"),
        (("diagnose", "nothing-here.md"), "nothing-here.md"),
        (("trace", "x", "--probe", "tcp here > there"), "expected"),
        (("explain", "rpfilter"), "rp-filter"),
        (("completion", "tcsh"), "tcsh"),
    ],
)
def test_errors_say_what_was_expected_and_what_to_do(
    arguments: tuple[str, ...], words: str
) -> None:
    """On standard error, with exit code 2, and nothing on standard output."""
    done = podpath(*arguments)
    assert (2, "") == (done.returncode, done.stdout)
    assert words in done.stderr
    assert all(line.startswith("podpath: ") for line in done.stderr.splitlines())


def test_colors_are_for_terminals(ticket: Path) -> None:
    """None into a pipe; `--color always` forces them."""
    assert "\x1b[" not in podpath("diagnose", ticket, "--probe", BLOCKED).stdout
    assert "\x1b[" in podpath("diagnose", ticket, "--probe", BLOCKED, "--color", "always").stdout
    assert "\x1b[" not in podpath("diagnose", ticket, "--probe", BLOCKED, "--color", "never").stdout


@pytest.mark.parametrize(
    ("variables", "color"),
    [("TERM=xterm", True), ("TERM=xterm NO_COLOR=1", False), ("TERM=dumb", False)],
)
def test_a_terminal_gets_colors_unless_it_wants_none(
    ticket: Path, variables: str, *, color: bool
) -> None:
    """NO_COLOR is honoured, and so is a dumb terminal."""
    environment = f"env -u NO_COLOR PODPATH_PAGER=cat {variables}"
    line = f"{environment} {COMMAND} diagnose {ticket} --probe '{BLOCKED}'"
    done = subprocess.run(
        ["script", "-qec", line, "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert color is ("\x1b[1;31m" in done.stdout)


def test_a_reader_that_goes_away_ends_it_quietly(ticket: Path) -> None:
    """`podpath trace ... | head -1` says nothing of a broken pipe."""
    line = f"'{COMMAND}' trace '{ticket}' --probe '{BLOCKED}' --json | head -c 1"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60
    )
    assert ("{", "") == (done.stdout, done.stderr)


def test_every_page_is_printed() -> None:
    """`checks` lists what `explain` prints."""
    listed = podpath("checks").stdout
    assert [check.name for check in CHECKS if check.name not in listed] == []
    assert podpath("explain", "rp-filter").stdout.startswith("rp-filter: ")
    assert json.loads(podpath("explain", "rp-filter", "--json").stdout)["check"] == "rp-filter"
    assert {row["check"] for row in json.loads(podpath("checks", "--json").stdout)} == {
        check.name for check in CHECKS
    }


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_complete_commands(shell: str) -> None:
    """Each shell's script calls the command back."""
    assert "_PODPATH_COMPLETE" in podpath("completion", shell).stdout


def test_a_locale_without_unicode_gets_ascii(ticket: Path) -> None:
    """No sign is printed that the output's encoding lacks."""
    done = subprocess.run(
        [COMMAND, "diagnose", ticket, "--probe", BLOCKED], capture_output=True, check=False,
        timeout=60, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.stdout.isascii()
    assert done.returncode == 1


@pytest.mark.parametrize("asked", ["", *COMMANDS])
def test_help_imports_no_reader(asked: str) -> None:
    """Neither podpath's own help nor a command's needs what reads evidence, walks or checks."""
    code = (
        f"import sys; from podpath.cli.main import run; run([*{asked.split()}, '--help']); "
        "heavy = {'evidence.recognition', 'datapath.walk', 'checks.registry', 'library.reading'}; "
        "sys.exit(not heavy.isdisjoint(name.removeprefix('podpath.') for name in sys.modules))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=False, timeout=60
        ).returncode
        == 0
    )
