"""`podpath lab`: the group of what asks the real kernel; its commands are imported as one of them
is called.
"""

from __future__ import annotations

import click

from podpath.cli.main import CommandEntry, LazyGroup

_WHERE = "podpath_lab.commands"
COMMANDS: dict[str, CommandEntry] = {
    "twin": CommandEntry(
        _WHERE, "Build the evidence's node on this kernel, and compare it with the model."
    ),
    "incident": CommandEntry(
        _WHERE, "Build a known incident's node, break it, diagnose it, and fix it."
    ),
    "replay": CommandEntry(_WHERE, "Ask again about a drop that `podpath watch --save` has kept."),
    "script": CommandEntry(
        _WHERE, "Print the evidence's node as a shell script that rebuilds it in namespaces."
    ),
    "agree": CommandEntry(
        _WHERE, "Generate nodes and probes, and compare this kernel with the model."
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def lab() -> None:
    """Rebuild nodes in network namespaces on the real kernel, and see what it does.

    Everything happens in the command's own namespaces: nothing in this machine's network is
    changed, and nothing is left behind, however the command ends. Needs root, except `lab script`
    and `lab incident` without a name.
    """
