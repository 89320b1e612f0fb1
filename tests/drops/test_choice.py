"""Drops are chosen by their ends, ports and reasons."""

from __future__ import annotations

import pytest

from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey
from podpath.net import protocols
from podpath.net.addresses import Address, Prefix

KEY = DropKey(
    "NETFILTER_DROP", 1, 7, 2, 2, 0x0800, protocols.TCP, protocols.SYN, 40000, 443,
    Address.parse("10.0.0.1"), Address.parse("192.0.2.7"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        (DropChoice(), True),
        (DropChoice(prefixes=(Prefix.parse("10.0.0.0/24"),)), True),
        (DropChoice(prefixes=(Prefix.parse("192.0.2.7"),)), True),
        (DropChoice(prefixes=(Prefix.parse("10.1.0.0/24"),)), False),
        (DropChoice(ports=frozenset({443, 80})), True),
        (DropChoice(ports=frozenset({80})), False),
        (DropChoice(reasons=frozenset({"NETFILTER_DROP"})), True),
        (DropChoice(reasons=frozenset({"NO_SOCKET"})), False),
        (DropChoice(ports=frozenset({443}), reasons=frozenset({"NO_SOCKET"})), False),
    ],
)
def test_a_drop_has_what_is_asked_for(choice: DropChoice, taken: bool) -> None:  # noqa: FBT001  # a column
    """Each condition that is stated must hold."""
    assert choice.takes(KEY) is taken


def test_daily_life_is_taken_where_it_is_asked_for() -> None:
    """All drops, or a reason by its name, bring what is left out otherwise."""
    daily = KEY._replace(reason="TCP_OLD_DATA")

    assert not DropChoice().takes(daily)
    assert DropChoice(daily=True).takes(daily)
    assert DropChoice(reasons=frozenset({"TCP_OLD_DATA"})).takes(daily)
    assert not DropChoice(daily=True, ports=frozenset({80})).takes(daily)


def test_what_has_no_address_is_in_no_prefix() -> None:
    """A frame without addresses is left out where some are asked for."""
    bare = KEY._replace(src=None, dst=None)

    assert not DropChoice(prefixes=(Prefix.parse("0.0.0.0/0"),)).takes(bare)
