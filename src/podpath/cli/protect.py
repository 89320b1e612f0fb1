"""`podpath protect`: the group of what keeps the path; each command's module is imported when it is called."""

from __future__ import annotations

import click

from podpath.cli.main import Entry, LazyGroup

COMMANDS: dict[str, Entry] = {
    "validate": Entry("podpath.cli.protect_validate", "Prove, before a pod's containers start, that its traffic is redirected."),
    "order": Entry("podpath.cli.protect_order", "Check and mend the order of base chains' jumps that CNIs depend on."),
    "sysctl": Entry("podpath.cli.protect_sysctl", "Check, put right and keep the sysctls that pods' packets need."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def protect() -> None:
    """Keep the path from breaking.

    Each command does one thing, needs no more than that takes, and says what it lacks.
    """
