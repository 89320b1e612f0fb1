"""What kubectl asks for completions of `kubectl podpath ...`: a program in PATH called
`kubectl_complete-podpath`, with the words of the line, the one to complete last (maybe empty).

It prints a choice to a line, with a tab and its description where it has one, and in the last line
`:` and what the shell may do beside (cobra's `ShellCompDirective`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import IntEnum

import click
from click.shell_completion import ShellComplete

from podpath.cli.main import podpath


class ShellDirective(IntEnum):
    """What the shell completes beside the choices."""

    FILES = 0
    NOTHING = 4
    FOLDERS = 16


_OF_TYPES = {"file": ShellDirective.FILES, "dir": ShellDirective.FOLDERS}


def list_completions(words: Sequence[str]) -> Iterator[str]:
    """Yield the lines that kubectl wants for the words of a line."""
    *before, last = words or ("",)
    found = ShellComplete(podpath, {}, "podpath", "").get_completions(before, last)
    known = bool(found) or last.startswith("-")
    directive = ShellDirective.NOTHING if known else ShellDirective.FILES
    for item in found:
        if item.type in _OF_TYPES:
            directive = _OF_TYPES[item.type]
        else:
            yield f"{item.value}\t{item.help}" if item.help else str(item.value)
    yield f":{directive.value}"


def main() -> None:
    """Print them."""
    for line in list_completions(sys.argv[1:]):
        click.echo(line)


if __name__ == "__main__":
    main()
