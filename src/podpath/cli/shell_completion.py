"""What bash, zsh and fish are told when they ask for completions of a line.

click offers files only for parameters of a type of its own, and a shell that asks click offers none
by itself. Evidence may be a file, and so may what most options take: where nothing is known of a
word, the shell completes files.
"""

from __future__ import annotations

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)


class _FilesToo(ShellComplete):
    """Lets the shell complete files where no choice is known."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return the choices for a word, else that it may be a file."""
        found = super().get_completions(args, incomplete)
        if found or incomplete.startswith("-"):
            return found
        return [CompletionItem(incomplete, type="file")]


class BashWords(_FilesToo, BashComplete):
    """For bash."""


class ZshWords(_FilesToo, ZshComplete):
    """For zsh."""


class FishWords(_FilesToo, FishComplete):
    """For fish."""


def register() -> None:
    """Let click answer the shells by these."""
    for kind in (BashWords, ZshWords, FishWords):
        add_completion_class(kind)
