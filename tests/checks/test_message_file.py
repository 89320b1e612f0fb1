"""A room's file of faults that a message tells by itself."""

from __future__ import annotations

import pytest

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.ground import Ground
from podpath.checks.message_check import MessageCheck, Value
from podpath.checks.message_file import parse_checks, read_checks
from podpath.checks.registry import ROOMS
from podpath.net.messages import MessageKind

FILE = """
[[check]]
name = "lease-lost"
title = "the host lost its lease."
kinds = ["lease given"]
categories = ["host-firewall"]
needs.device = "eth0"
claim = "The lease{by} is lost."
values.by = { names = ["server", "name"], frame = [" of ", ""] }
values.device = { default = "a card" }
breaks = "all"
cure = "ask again"
commands = ["dhclient {device}"]
certainty = 0.5
ask.fact = "whether it is"
ask.command = "ip addr"
ask.decides = "no address: it is"
settled_by = ["ENDED"]
what = \"\"\"
One sentence that goes \\
on.
\"\"\"
why = "Because."
confirm = \"\"\"
ip addr
ip route
\"\"\"
fix = "Mend it."
references = "dhclient(8)"
"""
CHECK = MessageCheck(
    name="lease-lost",
    title="the host lost its lease.",
    kinds=(MessageKind.LEASE_GIVEN,),
    categories=(Category.HOST_FIREWALL,),
    needs=("device", "eth0"),
    claim="The lease{by} is lost.",
    values=(Value("by", ("server", "name"), frame=(" of ", "")), Value("device", default="a card")),
    breaks="all",
    cure="ask again",
    commands=("dhclient {device}",),
    certainty=0.5,
    ask=FollowUp("whether it is", "ip addr", "no address: it is"),
    settled_by=frozenset({Ground.ENDED}),
    what="One sentence that goes on.",
    why="Because.",
    confirm="ip addr\nip route",
    fix="Mend it.",
    references="dhclient(8)",
)


def test_a_fault_is_read_with_all_that_it_may_say() -> None:
    """Each field comes in its type, and a text without its last line's end."""
    assert parse_checks(FILE) == (CHECK,)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("lease given", "lease gone"),
        ("host-firewall", "host-gone"),
        ("ENDED", "GONE"),
        ("breaks", "brakes"),
        ("ask.fact", "ask.question"),
        ("names =", "name ="),
    ],
)
def test_a_misspelled_field_is_refused(right: str, wrong: str) -> None:
    """Nothing that stands in a file is passed over."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        parse_checks(FILE.replace(right, wrong))


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_faults(room: str) -> None:
    """The file is installed with the code, and no name stands twice."""
    names = [check.name for check in read_checks(room)]
    assert names
    assert len(names) == len(set(names))
