"""`podpath protect`: the group of what keeps the path; each command's module is imported when it is
called.
"""

from __future__ import annotations

import click

from podpath.cli.main import CommandEntry, LazyGroup

COMMANDS: dict[str, CommandEntry] = {
    "validate": CommandEntry(
        "podpath_protect.cli.validate",
        "Prove, before a pod's containers start, that its traffic is redirected.",
    ),
    "chain": CommandEntry(
        "podpath_protect.cli.chain",
        "Keep a plugin in the CNI configuration that the runtime loads; judge such a folder.",
    ),
    "agent": CommandEntry(
        "podpath_protect.cli.agent",
        "Run every part in one process, with health, metrics, events and a node taint.",
    ),
    "order": CommandEntry(
        "podpath_protect.cli.order",
        "Check and fix the order of base chains' jumps that CNIs depend on.",
    ),
    "sysctl": CommandEntry(
        "podpath_protect.cli.sysctl",
        "Check, correct and keep the sysctls that pods' packets need.",
    ),
    "repair": CommandEntry(
        "podpath_protect.cli.repair",
        "Find a node's pods that started without redirect rules; mend or replace them.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def protect() -> None:
    """Keep the path from breaking.

    Each command does one thing, needs only the privileges for that, and says what it lacks.
    """
