"""What the shells are told when they ask for completions."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from podpath.cli.main import COMPLETING, podpath
from podpath.cli.shell_completion import BashWords, FishWords, ZshWords
from tests.command import COMMAND

IN_BASH = """\
source <({command} completion bash)
COMP_WORDS=({words})
COMP_CWORD={at}
compopt() {{ echo "compopt $2"; }}
_podpath_completion {command}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("kind", [BashWords, ZshWords, FishWords])
@pytest.mark.parametrize(
    ("words", "last", "found"),
    [
        (["diagnose"], "tick", [("tick", "file")]),
        (["diagnose", "a.md", "--good"], "b", [("b", "file")]),
        (["timeline"], "", [("", "file")]),
        (["diagnose"], "--no-such", []),
        (["completion"], "b", [("bash", "plain")]),
        ([], "diag", [("diagnose", "plain")]),
        (["explain"], "rp-", [("rp-filter", "plain")]),
    ],
)
def test_what_nothing_is_known_of_may_be_a_file(
    kind: type[BashWords | ZshWords | FishWords],
    words: list[str],
    last: str,
    found: list[tuple[str, str]],
) -> None:
    """Evidence, and what options take; an option that there is not is none."""
    asked = kind(podpath, {}, "podpath", COMPLETING)
    assert found == [(item.value, item.type) for item in asked.get_completions(words, last)]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here: apt-get install bash")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("podpath", "diagnose", "tick"), "compopt default"),
        (("podpath", "diagnose", "--mermai"), "--mermaid"),
        (("podpath", "diag"), "diagnose"),
    ],
)
def test_bash_gets_it_from_the_command(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """By the script that `podpath completion bash` prints."""
    script = IN_BASH.format(command=COMMAND, words=" ".join(words), at=len(words) - 1)
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    assert said in done.stdout.splitlines()
