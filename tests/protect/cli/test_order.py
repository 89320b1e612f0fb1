"""`podpath protect order`: the known orders, and an order that nobody knows."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from podpath.net.errors import UsageError
from podpath_protect.cli.order import order
from podpath_protect.order.rules import load_rules


def test_the_known_orders_are_listed_with_their_sources() -> None:
    """Each by its name, which --leave-out takes."""
    listed = CliRunner().invoke(order, ["--rules"])
    names = [line.partition(":")[0] for line in listed.output.splitlines() if line[:1].strip()]
    assert (0, [rule.name for rule in load_rules()]) == (listed.exit_code, names)


def test_one_that_is_left_out_is_not_listed() -> None:
    """What a look would enforce is what is listed."""
    first, *others = (rule.name for rule in load_rules())
    listed = CliRunner().invoke(order, ["--rules", "--leave-out", first]).output
    assert first not in [line.partition(":")[0] for line in listed.splitlines()]
    assert {True} == {f"{name}:" in listed for name in others}


def test_an_unknown_order_is_refused() -> None:
    """A rule that is misspelled would otherwise be enforced."""
    refused = CliRunner().invoke(order, ["--rules", "--leave-out", "no-such-order"])
    with pytest.raises(UsageError, match="no-such-order"):
        raise refused.exception or AssertionError(refused.output)
