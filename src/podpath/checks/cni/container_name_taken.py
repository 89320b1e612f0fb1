"""container-name-taken: a container of an earlier start keeps the name that a new one needs.

What it is
    `Conflict. The container name is already in use`: the runtime holds an exited container of that name.

Why it breaks
    The kubelet or compose cannot create the new container, so what it should run stays away; refused connections are
    its shadow.

How to confirm
    docker ps -a | grep NAME

How to fix
    docker rm -f NAME of the exited container; find why it was not removed (a full disk, a daemon restarted on the
    way).

References
    moby, daemon/names.go
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.OTHER,)
NAME = "container-name-taken"
KINDS = (MessageKind.NAME_TAKEN,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    container = get_value(said, "name", default="of the new one")
    meaning = Meaning(
        claim=f"An old container keeps the name {container}, so the new one is not created.",
        breaks="what that container should run",
        cure="remove the exited container",
        commands=(f"docker rm {container}",),
    )
    yield tell(NAME, said, meaning)
