"""Tables of `kubectl get` that a selector chose."""

from __future__ import annotations

import pytest

from podpath.evidence.kubernetes.records import ApiObjectRecord
from tests.evidence.consoles import block, read


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        ("-l example.org/edge", {"example.org/edge": ""}),
        ("--selector=zone=a,example.org/edge", {"zone": "a", "example.org/edge": ""}),
        ("-l '!example.org/edge'", None),
        ("-l 'zone in (a,b)'", None),
        ("", None),
    ],
)
def test_rows_of_nodes_have_the_labels_that_were_asked_for(
    asked: str, labels: dict[str, str] | None
) -> None:
    """A term of which only some values, or none, fit says nothing of one row."""
    text = "NAME    STATUS   ROLES           AGE   VERSION\nyew-1   Ready    worker   90d   v1.31.2"
    reading = read(block(text, f"kubectl get nodes {asked}".strip()))
    (node,) = (one for one in reading.records if isinstance(one, ApiObjectRecord))
    shown = node.tree.at("metadata", "labels")

    assert labels == (shown and {name: value.text for name, value in shown.fields.items()})


def test_a_line_that_a_filter_leaves_of_a_description() -> None:
    """Whose it is, the command says."""
    text = "Annotations:              metallb.universe.tf/address-pool: dmz"
    reading = read(block(text, "kubectl describe svc web | grep Annotations"))
    (service,) = (one for one in reading.records if isinstance(one, ApiObjectRecord))
    path = ("metadata", "annotations", "metallb.universe.tf/address-pool")

    assert ("Service", "web") == (service.kind, service.name)
    assert "dmz" == service.tree.text_at(*path)
