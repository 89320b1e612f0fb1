"""Tests of causes and what is claimed of them."""

from __future__ import annotations

from podpath.checks.cause import Cause, Claim
from podpath.datapath.conversations.conversation import converse
from podpath.testing.nodes import given_netns, given_node, probe


def given_cause() -> Cause:
    """Return the cause of a connection that fails for want of a route."""
    branch = converse(
        given_node(given_netns("host", "eth0 192.0.2.2/24")), probe("tcp 192.0.2.2 > 8.8.8.8:80")
    ).branches[0]
    return Cause(check="no-route", branch=branch, trace=branch.last, step=branch.last.deciding)


def test_a_cause_is_told_apart_by_where_it_decided() -> None:
    """Without a rule, the stage and the namespace tell causes of one fault apart."""
    assert ("no-route", "host", "route output") == given_cause().key


def test_remarks_are_added_in_order() -> None:
    """What goes with a claim is said behind it."""
    claim = Claim(cause=given_cause()).with_remark("One.").with_remark("Two.")

    assert ("One.", "Two.") == claim.remarks
