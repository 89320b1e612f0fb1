"""A node without the network plugin's agent."""

from __future__ import annotations

import pytest

from podpath.checks.cni.agent_absent import check
from tests.checks.pasted import ticket_of

NODES = "$ kubectl get nodes -o name\nnode/elm-1\nnode/elm-2\nnode/elm-3"
LISTED = "$ kubectl -n kube-system get pods -o wide -l app={name}"
ROW = "{name}-{letters}   1/1   Running   0   20d   10.1.0.{number}   elm-{number}"
LETTERS = ("4kq2x", "zz8lp", "h7fbd")


def listing(name: str, *numbers: int, command: str = LISTED) -> str:
    """List the pods of a DaemonSet on some of the nodes."""
    rows = (ROW.format(name=name, letters=LETTERS[one - 1], number=one) for one in numbers)
    return "\n".join((command.format(name=name), *rows))


def ticket(*outputs: str, prose: str = "Pods on node elm-3 reach no other node.") -> str:
    """Write a ticket with outputs."""
    return f"{prose}\n\n```\n" + "\n".join(outputs) + "\n```\n"


def test_the_node_that_people_miss() -> None:
    """It is certain for a plugin's agent, with the node and the agent's pods quoted."""
    (finding,) = check(ticket_of(ticket(NODES, listing("cilium", 1, 2))))

    assert finding.certainty == 1
    assert finding.evidence[0].text == "node/elm-3"
    assert len(finding.evidence) == 3


@pytest.mark.parametrize(
    ("outputs", "prose"),
    [
        ((NODES, listing("cilium", 1, 2)), "Pods on node elm-1 reach no other node."),
        ((NODES, listing("cilium", 1, 2)), "A pod on node elm-3 is refused by the database."),
        ((NODES, listing("house-cni", 1, 2)), "Pods on node elm-3 reach no other node."),
    ],
)
def test_what_is_possible(outputs: tuple[str, ...], prose: str) -> None:
    """What fails is another node's, or another thing; or nobody knows what the pods are."""
    (finding,) = check(ticket_of(ticket(*outputs, prose=prose)))

    assert finding.certainty < 1
    assert "Taints" in finding.asks[0].command


@pytest.mark.parametrize(
    "outputs",
    [
        (NODES, listing("cilium", 1, 2, 3)),
        (NODES, listing("cilium", 1)),
        (NODES, listing("web", 1, 2)),
        (NODES, listing("cilium-operator-6f5d8bbf4b", 1, 2)),
        (NODES, listing("cilium", 1, 2, command=f"{LISTED} | head -3")),
        (NODES, listing("cilium", 1, 2, command=f"{LISTED} | grep elm")),
        (
            NODES,
            listing("cilium", 1, 2, command="$ kubectl get po -o wide cilium-4kq2x cilium-zz8lp"),
        ),
        (NODES, listing("cilium", 1, 2, command=f"{LISTED} --field-selector a=b")),
        (NODES.replace("-o name", "-l pool=a"), listing("cilium", 1, 2)),
        (NODES.replace("\nnode/elm-1", ""), listing("cilium", 1, 2)),
        (listing("cilium", 1, 2),),
    ],
)
def test_what_misses_no_agent(outputs: tuple[str, ...]) -> None:
    """All nodes have one, several lack it, it is no agent, or a listing is a part."""
    assert not list(check(ticket_of(ticket(*outputs))))
