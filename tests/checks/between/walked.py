"""What a walk from a pod of one node to a pod of another shows to be wrong between the two."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes_between import find_between
from podpath.node.cluster import Cluster
from podpath.node.node import Node
from tests.datapath.devices.test_underlay import PROBE


def find(here: Node, there: Node) -> tuple[str, str, str] | None:
    """Return the fault, the namespace of the step that made it, and the line that decides; None
    where the connection works, or fails by something else.
    """
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")
    branch = converse(node, PROBE).branches[0]
    cause = find_between(node, branch, branch.last)
    if branch.works or cause is None:
        return None
    line = cause.step.spans[0].text if cause.step.spans else ""
    return cause.check, cause.step.netns, line


def works(here: Node, there: Node) -> bool | None:
    """Tell whether the pods reach each other."""
    node = Cluster(nodes={"a": here, "b": there}).seen_from("a")
    return converse(node, PROBE).branches[0].works
