"""Completion of `kubectl podpath ...`, as kubectl asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import podpath
from podpath.cli.plugin_completion import ShellDirective, list_completions

NOTHING, FILES = f":{ShellDirective.NOTHING}", f":{ShellDirective.FILES}"
KUBECTL = Path(sys.executable).parent / "kubectl"


@pytest.mark.parametrize(
    ("words", "choices", "last"),
    [
        (["w"], {"watch", "why"}, NOTHING),
        (["why", "--proto"], {"--protocol"}, NOTHING),
        (["why", "a", "b", "--protocol", ""], {"tcp", "udp", "icmp"}, NOTHING),
        (["diagnose", ""], set(), FILES),
        (["completion", "b"], {"bash"}, NOTHING),
        (["no-such-command", "x"], set(), FILES),
        (["diagnose", "--no-such"], set(), NOTHING),
    ],
)
def test_choices_and_what_the_shell_may_do_beside(
    words: list[str], choices: set[str], last: str
) -> None:
    """The last word is the one to complete; what nothing is known of may be a file."""
    *lines, directive = list_completions(words)

    assert {line.partition("\t")[0] for line in lines} == choices
    assert directive == last


def test_no_word_at_all_lists_every_command() -> None:
    """Each with its first sentence."""
    *lines, directive = list_completions([])

    assert any(line.startswith("why\t") for line in lines)
    assert directive == NOTHING


def test_kubectl_finds_and_asks_it(tmp_path: Path) -> None:
    """Both programs in PATH, as pip installs them: the real kubectl completes the plugin's line."""
    runs = {
        "kubectl-podpath": "podpath",
        "kubectl_complete-podpath": "podpath.cli.plugin_completion",
    }
    for name, module in runs.items():
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    source = str(Path(podpath.__file__).parents[1])
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        (KUBECTL, "__complete", "podpath", "why", "--proto"),
        capture_output=True, text=True, check=True,
        env={"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": source},
    )  # fmt: skip

    assert "--protocol" in done.stdout
    assert done.stdout.rstrip().endswith(NOTHING)
