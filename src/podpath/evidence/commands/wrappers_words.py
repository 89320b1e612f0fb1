"""What a wrapper runs, and how its own options are skipped: what all wrappers (`sudo`, `nsenter`,
`kubectl exec`) share.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.evidence.commands.shells import ShellWord, base_name


class WrappedCommand(NamedTuple):
    """What a wrapper runs."""

    place: int
    """Index of the first word of what it runs; past the end where it runs a shell."""
    netns: str | None = None
    enters: bool = False
    text: str | None = None
    """What it runs, where that is one quoted word (`sh -c '...'`)."""
    keeps_prompt: bool = False


SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh", "ksh", "fish"})


def skip_options(words: tuple[ShellWord, ...], place: int, valued: frozenset[str]) -> int:
    """Return the index of the first word that is neither an option nor an option's value."""
    while place < len(words):
        word = words[place].text
        if word == "--":
            return place + 1
        if not word.startswith("-") or word == "-":
            return place
        place += 2 if word in valued else 1
    return place


def find_option(words: tuple[ShellWord, ...], *names: str) -> str | None:
    """Return the value of the first of these options: `--net=X`, `--net X`, `-t X`, `-tX`."""
    for place, word in enumerate(words):
        for name in names:
            if word.text == name and place + 1 < len(words):
                return words[place + 1].text
            if name.startswith("--") and word.text.startswith(f"{name}="):
                return word.text[len(name) + 1 :]
            if (
                not name.startswith("--")
                and len(word.text) > 2
                and word.text.startswith(name)
                and not word.text.startswith("--")
            ):
                return word.text[2:].removeprefix("=")
    return None


def opened(words: tuple[ShellWord, ...], place: int) -> int:
    """Return the index of what is run; past the end where that is a bare shell."""
    rest = words[place:]
    only_shell = (
        bool(rest)
        and base_name(rest[0].text) in SHELLS
        and all(word.text in {"-l", "-i", "--login"} for word in rest[1:])
    )
    return len(words) if only_shell else place
