"""`kubectl get` of kinds of which there is no object."""

from __future__ import annotations

import pytest

from podpath.evidence.records import StatementRecord
from podpath.net.statements import NoObjects
from tests.evidence.consoles import block, read


def nothing_of(command: str, line: str = "No resources found") -> list[NoObjects]:
    """Return what a command is said to have found none of."""
    records = read(block(line, command)).records
    found = [one.statement for one in records if isinstance(one, StatementRecord)]
    return [one for one in found if isinstance(one, NoObjects)]


def test_the_command_says_which_kinds_and_where() -> None:
    """Groups are left out; without a namespace it is the default one."""
    wide = nothing_of("kubectl get l2advertisements.metallb.io,bgpadvertisements -A")
    one = nothing_of("kubectl get netpol", "No resources found in shop namespace.")

    assert wide == [NoObjects(("l2advertisements", "bgpadvertisements"), "")]
    assert one == [NoObjects(("netpol",), "shop")]
    assert nothing_of("kubectl get netpol") == [NoObjects(("netpol",), "default")]


@pytest.mark.parametrize(
    "command",
    [
        "kubectl get pods -l app=web",
        "kubectl get pod web-0",
        "kubectl get pods | grep web",
        "kubectl delete pods",
        "",
    ],
)
def test_what_was_looked_for_is_not_the_whole_kind(command: str) -> None:
    """A label, a name or a filter leaves others out, and without a command nothing is known."""
    assert nothing_of(command) == []
