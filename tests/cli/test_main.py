"""The front door: whatever the system refuses ends as its own error, on one line."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from podpath.cli.main import COMMANDS, NEEDED_TOO, name_program

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "podpath"]
USAGE, BROKEN_PIPE = 2, 141
TICKET = "```\n$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n```\n"


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    assert done.stderr.count("\n") == 1
    assert "fault of podpath" not in done.stderr
    return done.stderr.removeprefix("podpath: ").strip()


def _shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "ticket.md").write_text(TICKET, encoding="utf-8")
    return subprocess.run(
        ["sh", "-c", line, *COMMAND],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
    )


@pytest.mark.parametrize(
    "asked", ["diagnose ticket.md", "diagnose ticket.md --json", "checks", "--help"]
)
def test_a_full_disk(tmp_path: Path, asked: str) -> None:
    """It is the system's error, and the code is neither of an answer nor of a crash."""
    done = _shell(f'"$0" "$@" {asked} > /dev/full', tmp_path)
    assert (USAGE, "no space left on device") == (done.returncode, _complaint(done))


def test_a_closed_output(tmp_path: Path) -> None:
    """Nobody can be answered: that is said where somebody may see it."""
    done = _shell('"$0" "$@" diagnose ticket.md >&-', tmp_path)
    assert (USAGE, "standard output is closed") == (done.returncode, _complaint(done))


def test_closed_errors(tmp_path: Path) -> None:
    """An answer needs no standard error."""
    done = _shell('"$0" "$@" checks 2>&-', tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    assert "chain-order" in done.stdout


@pytest.mark.parametrize("asked", ["diagnose -", "timeline -", "capture -"])
def test_a_closed_input(tmp_path: Path, asked: str) -> None:
    """There is nothing in it: the caller's error, and no fault of ours."""
    done = _shell(f'"$0" "$@" {asked} <&-', tmp_path)
    assert done.returncode == USAGE
    assert "stdin" in _complaint(done) or "standard input" in _complaint(done)


def test_a_reader_that_has_gone() -> None:
    """The command ends as one that SIGPIPE ended, and says nothing."""
    process = subprocess.Popen([*COMMAND, "checks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert (b"", BROKEN_PIPE) == (process.stderr.read(), process.wait(60))
    process.stderr.close()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("missing/node.tar.gz", "missing/node.tar.gz: no such folder: missing"),
        (
            "node.7z",
            (
                "node.7z: expected a folder or a name with .tar.gz, .tgz, .tar.zst, .tar, .zip, "
                "saw .7z"
            ),
        ),
        ("ticket.md", "ticket.md exists already; name another file or remove it"),
        ("ticket.md/node", "ticket.md/node: {folder}/ticket.md is no folder"),
    ],
)
def test_a_bundle_that_cannot_be_written(tmp_path: Path, target: str, expected: str) -> None:
    """The node is not asked for it first."""
    done = _shell(f'"$0" "$@" snapshot -o {target}', tmp_path)
    assert (USAGE, expected.format(folder=tmp_path)) == (done.returncode, _complaint(done))


def test_a_lifted_limit(tmp_path: Path) -> None:
    """What would be cut is read where that is asked for; a size that is none is refused."""
    long = (" " * 999 + "\n") * 4_200
    (tmp_path / "long.md").write_text(TICKET + long + TICKET, encoding="utf-8")
    cut, lifted, wrong = (
        _shell(f'"$0" "$@" diagnose long.md {option}', tmp_path)
        for option in ("", "--max-size 5M", "--max-size much")
    )
    assert "--max-size lifts the limit" in " ".join((cut.stdout + cut.stderr).split())
    assert "--max-size" not in lifted.stdout + lifted.stderr
    assert (USAGE, True) == (wrong.returncode, "expected a size such as 512M" in wrong.stderr)


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("/usr/bin/podpath", "podpath"),
        ("/root/.krew/bin/kubectl-podpath", "kubectl podpath"),
        ("-c", "podpath"),
    ],
)
def test_it_is_called_as_the_user_calls_it(called: str, name: str) -> None:
    """As a plugin of kubectl its usage says so."""
    assert name_program(called) == name


@pytest.mark.parametrize("asked", ["", "lab", "protect chain"])
def test_without_a_command_its_help_is_shown(asked: str) -> None:
    """As help looks, on standard error: nothing was asked that has an answer."""
    words = asked.split()
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    helped = subprocess.run(
        [*COMMAND, *words, "--help"], capture_output=True, text=True, check=True
    )
    assert (USAGE, "", helped.stdout) == (done.returncode, done.stdout, done.stderr)


def test_whose_help_tells_more_is_said() -> None:
    """The command's, also where its option lacks what it takes."""
    done = subprocess.run(
        [*COMMAND, "diagnose", "--html"], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines() == [
        "podpath: Option '--html' requires an argument.",
        "podpath: run `podpath diagnose --help` for what is accepted",
    ]


THE_CORE_ALONE = """
import sys
for name in ("podpath_lab", "podpath_mcp", "podpath_protect", "podpath_ui"):
    sys.modules[name] = None
from podpath.cli.main import main
main()
"""


@pytest.mark.parametrize(
    "asked",
    [
        "lab",
        "lab --help",
        "lab agree --cases 5",
        "learn start",
        "mcp --folder /tmp",
        "protect",
        "protect --help",
        "protect validate --mode istio",
        "ui bundle/",
    ],
)
def test_a_distribution_that_is_not_installed(asked: str) -> None:
    """Whatever is asked of the lab, of protect or of mcp, one line says what to install."""
    name = asked.partition(" ")[0]
    done = subprocess.run(
        [sys.executable, "-c", THE_CORE_ALONE, *asked.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (USAGE, "") == (done.returncode, done.stdout)
    brought = "lab" if name == "learn" else name
    words = f"`podpath {name}` is not part of the core: pip install podpath-{brought}"
    assert words in _complaint(done)
    assert _complaint(done).endswith(f"./packages/podpath-{brought})")


def test_a_checkout_has_what_else_a_distribution_needs() -> None:
    """Of what stands beside the core, none is on an index yet: the hint names all of it."""
    for name in sorted({entry.distribution for entry in COMMANDS.values()} - {""}):
        project = tomllib.loads((ROOT / "packages" / name / "pyproject.toml").read_text("utf-8"))
        needed = {one.partition("==")[0] for one in project["project"]["dependencies"]}
        own = {one for one in needed if one.startswith("podpath-")}
        assert own == {NEEDED_TOO[name]} if name in NEEDED_TOO else own == set()


def test_what_is_not_installed_is_listed() -> None:
    """Help names every command of the contract, whether its distribution is there or not."""
    done = subprocess.run(
        [sys.executable, "-c", THE_CORE_ALONE, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode
    assert "lab         Rebuild a node on the real kernel" in done.stdout
    assert "protect     Keep the path from breaking" in done.stdout


TOO_MUCH = """
import click
from podpath.cli import main

@click.command()
def checks():
    bytearray(1 << 60)

main.COMMANDS["checks"] = main.CommandEntry("__main__", "")
main.main(["checks"])
"""


def test_memory_that_is_not_there() -> None:
    """It is the system that has none, and no bug."""
    done = subprocess.run(
        [sys.executable, "-c", TOO_MUCH], capture_output=True, text=True, check=False
    )
    assert (USAGE, "") == (done.returncode, done.stdout)
    assert _complaint(done).startswith("out of memory: ")


@pytest.mark.parametrize("asked", ["checks", "diagnose ticket.md"])
def test_a_working_directory_that_is_gone(tmp_path: Path, asked: str) -> None:
    """What needs none works; a relative name is said to be missing."""
    done = _shell(f'mkdir gone; cd gone; rmdir ../gone; "$0" "$@" {asked}', tmp_path)
    if asked == "checks":
        assert (0, "") == (done.returncode, done.stderr)
    else:
        assert (USAGE, "ticket.md: no such file or directory") == (
            done.returncode,
            _complaint(done),
        )
