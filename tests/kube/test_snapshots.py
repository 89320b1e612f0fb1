"""Tests of `kube.snapshots`: what is agreed on names one node."""

from __future__ import annotations

from podpath.kube.snapshots import audience_of, right_to, right_to_watch


def test_token_and_right_are_of_one_node() -> None:
    """No two nodes share an audience, and the right is in a group of our own."""
    assert audience_of("a") != audience_of("b")
    right = right_to("a")
    assert (right.group, right.resource, right.subresource) == ("podpath.dev", "nodes", "snapshot")
    assert (right.verb, right.name) == ("get", "a")


def test_watching_is_a_right_of_its_own() -> None:
    """Who may have snapshots may not watch for that."""
    right = right_to_watch("a")
    assert (right.group, right.resource, right.subresource) == ("podpath.dev", "nodes", "drops")
    assert (right.verb, right.name) == ("get", "a")
