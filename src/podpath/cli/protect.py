"""`podpath protect`: the group of what keeps the path; each command's module is imported when it is called."""

from __future__ import annotations

import click

from podpath.cli.main import Entry, LazyGroup

COMMANDS: dict[str, Entry] = {}


@click.group(cls=LazyGroup, table=COMMANDS)
def protect() -> None:
    """Keep the path from breaking.

    Each command does one thing, needs no more than that takes, and says what it lacks.
    """
