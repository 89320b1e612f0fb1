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
JSONPATH = (
    r"""kubectl get po -o jsonpath='{range .items[*]}{.metadata.name}{"\t"}"""
    r"""{.status.podIP} on {.spec.nodeName}{"\n"}{end}'"""
)
UNHEADED = (
    "k get po --no-headers -o custom-columns=N:.metadata.name,IP:.status.podIP,ON:.spec.nodeName"
)
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
    [
        "kubectl get pods -o wide | awk '{print $2,$6}'",
        "kubectl get pods | awk '{print $1,$6}'",
        "kubectl get pods -o json | awk '{print $1}'",
        "kubectl get pods -o wide | awk '{print $1}' | wc -l",
        "kubectl get nodes -o jsonpath='{range .items[*]}{.spec.podCIDR}{end}'",
        "k get no -o jsonpath='{range .items[*]}{.metadata.name}{.spec.podCIDR}{end}'",
        "kubectl get nodes -o wide",
        "kubectl get widgets -o custom-columns=N:.metadata.name",
        "ls",
    ],
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


@pytest.mark.parametrize(
    ("command", "lines", "found"),
    [
        (
            "kubectl get po -A -o wide | awk '{print $2,$1,$7,$8}'",
            ("NAME NAMESPACE IP NODE", "a-0 shop 10.1.0.9 n1", "b-0 shop <none> <none>"),
            ["Pod shop/a-0 10.1.0.9 n1", "Pod shop/b-0  "],
        ),
        (
            "kubectl -n x get pods -o wide | awk '{print $1, $7}'",
            ("a-0 n1", "b-0 5d", "c-0"),
            ["Pod x/a-0  n1"],
        ),
        (
            "kubectl get nodes -o name",
            ("node/larch-1", "node/larch-2"),
            ["Node /larch-1  ", "Node /larch-2  "],
        ),
        (
            "kubectl get -n pods svc -o name",
            ("service/api",),
            ["Service pods/api  "],
        ),
        (
            "kubectl get po --all-namespaces=true -Aowide | awk '{print $1,$2,$7}'",
            ("shop a-0 10.1.0.9",),
            ["Pod shop/a-0 10.1.0.9 "],
        ),
        (
            JSONPATH,
            ("a-0\t10.1.0.9 on n1",),
            ["Pod /a-0 10.1.0.9 n1"],
        ),
        (
            UNHEADED,
            ("a-0   10.1.0.9   n1",),
            ["Pod /a-0 10.1.0.9 n1"],
        ),
    ],
)
def test_rows_without_a_heading(command: str, lines: tuple[str, ...], found: list[str]) -> None:
    """The command says what each word is; what cannot be what its column holds is not read."""
    rows = objects(command, *lines)

    assert recognise_columns(source(command, *lines)) > 0 or len(lines) == 3
    assert found == [
        f"{row.kind} {row.namespace}/{row.name} {row.tree.text_at('status', 'podIP')} "
        f"{row.tree.text_at('spec', 'nodeName')}"
        for row in rows
    ]


def test_a_pod_with_its_address_can_be_walked_from() -> None:
    """As one of a whole table."""
    command = "kubectl get pods -o wide | awk '{print $1,$6}'"
    records = read_columns(source(command, "a-0 10.1.0.9")).records

    assert ["ApiObjectRecord", "PodRecord"] == [type(one).__name__ for one in records]


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


def test_what_stands_above_the_heading_is_no_heading() -> None:
    """A mark that something was left out, for one."""
    assert ["larch-1", "larch-2", "larch-3"] == [one.name for one in objects(NODES, "...", *TABLE)]


def test_a_row_beside_its_headings_is_unread() -> None:
    """Where blanks were lost, a column would end within a word."""
    reading = read_columns(source(NODES, "N CIDR", "larch-1 10.52.8.0/24"))

    assert not [one for one in reading.records if isinstance(one, ApiObjectRecord)]
    assert [4] == [one.span.line for one in reading.gaps]


def test_a_row_with_another_end_is_no_row() -> None:
    """It is found out at once, however many words the row has."""
    fields = "{.spec.a} " * 30
    command = f"k get no -o jsonpath='{{range .items[*]}}{{.metadata.name}} {fields}end{{end}}'"

    assert recognise_columns(source(command, "word " * 100)) == 0


def test_two_nodes_with_one_range_are_seen() -> None:
    """What the manual pages ask for is read."""
    text = "Pods answer for each other.\n\n```\n$ " + "\n".join((NODES, *TABLE)) + "\n```\n"
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert [one.check for one in found] == ["pod-ranges-overlap"]


def test_a_list_in_braces_is_a_part_of_the_object() -> None:
    """What stands in a cell as JSON is put into the list that the path names, beside other fields;
    a pod's node does for its name.
    """
    command = (
        r"""kubectl get po -n web -o jsonpath='{range .items[*]}{.spec.nodeName}{"\t"}"""
        r"""{.spec.containers[0].ports}{"\n"}{end}'"""
    )
    (pod,) = read_columns(source(command, 'm3\t[{"hostPort":81}]')).records

    assert isinstance(pod, ApiObjectRecord)
    (container,) = pod.tree.items_at("spec", "containers")
    assert ["81"] == [port.text_at("hostPort") for port in container.items_at("ports")]
    assert ("m3", "") == (pod.tree.text_at("spec", "nodeName"), pod.name)
