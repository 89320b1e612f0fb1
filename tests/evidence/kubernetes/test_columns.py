"""Tables of which the command says what each column is."""

from __future__ import annotations

import pytest

import podpath
from podpath.evidence.kubernetes.columns import (
    ShownField,
    parse_columns,
    read_columns,
    recognise_columns,
)
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.library.given import Pasted
from podpath.net.provenance import Source

NODES = "kubectl get nodes -o custom-columns=N:.metadata.name,CIDR:.spec.podCIDR"
RANGE = ("spec", "podCIDR")
TABLE = (
    "N         CIDR",
    "larch-1   10.52.8.0/24",
    "larch-2   <none>",
    "",
    "larch-3   10.52.8.0/24",
)


def source(command: str, *lines: str) -> Source:
    """Make the answer of a command."""
    return Source(name="ticket.md", lines=lines, first_line=3, command=command)


def objects(command: str, *lines: str) -> list[ApiObjectRecord]:
    """Return the objects of a table."""
    records = read_columns(source(command, *lines)).records
    return [record for record in records if isinstance(record, ApiObjectRecord)]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (NODES, RANGE),
        ("oc get no -o=custom-columns='N:{.metadata.name},CIDR:{.spec.podCIDR}'", RANGE),
        (r"k get po --output=custom-columns=N:.metadata.name,C:'.metadata.labels.a\.b/c'",
         ("metadata", "labels", "a.b/c")),
    ],
)  # fmt: skip
def test_the_command_names_the_fields(command: str, path: tuple[str, ...]) -> None:
    """Each column with its heading and path."""
    found = parse_columns(command)

    assert found is not None
    assert found.columns[0] == ShownField("N", ("metadata", "name"), listed=False)
    assert found.columns[1].path == path


@pytest.mark.parametrize(
    "command",
    ["kubectl get nodes -o wide", "kubectl get widgets -o custom-columns=N:.metadata.name", "ls"],
)
def test_another_command_names_none(command: str) -> None:
    """Nor does one about a kind that nothing asks about."""
    assert parse_columns(command) is None
    assert recognise_columns(source(command, *TABLE)) == 0


def test_a_row_is_an_object() -> None:
    """What it does not have is no field."""
    rows = objects(NODES, *TABLE)

    assert recognise_columns(source(NODES, *TABLE)) > 0
    assert [(row.kind, row.name) for row in rows] == [
        ("Node", "larch-1"),
        ("Node", "larch-2"),
        ("Node", "larch-3"),
    ]
    assert [row.tree.text_at("spec", "podCIDR") for row in rows] == [
        "10.52.8.0/24",
        "",
        "10.52.8.0/24",
    ]
    assert rows[2].span.line == 7


def test_lists_and_namespaces() -> None:
    """A list stands in brackets, or its elements behind commas."""
    command = (
        "kubectl get pod -A -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name,"
        "IPS:.status.podIPs[*].ip"
    )
    rows = objects(command, "NS     NAME    IPS", "shop   web-0   10.0.0.9,fd00::9")
    ranges = objects(
        NODES.replace("podCIDR", "podCIDRs"), "N    CIDR", "n1   [10.1.0.0/24 fd00::/64]"
    )

    assert (rows[0].namespace, rows[0].name) == ("shop", "web-0")
    assert [one.text for one in rows[0].tree.items_at("status", "podIPs", "ip")] == [
        "10.0.0.9",
        "fd00::9",
    ]
    assert [one.text for one in ranges[0].tree.items_at("spec", "podCIDRs")] == [
        "10.1.0.0/24",
        "fd00::/64",
    ]


def test_a_row_without_a_name_is_unread() -> None:
    """It is nobody's."""
    reading = read_columns(source(NODES, "N         CIDR", "          10.52.8.0/24"))

    assert not [one for one in reading.records if isinstance(one, ApiObjectRecord)]
    assert len(reading.gaps) == 1


def test_two_nodes_with_one_range_are_seen() -> None:
    """What the manual pages ask for is read."""
    text = "Pods answer for each other.\n\n```\n$ " + "\n".join((NODES, *TABLE)) + "\n```\n"
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert [one.check for one in found] == ["pod-ranges-overlap"]
