"""Parts of objects that a command picks, put where they belong."""

from __future__ import annotations

import pytest

from podpath.evidence.kubernetes.describe import read_describe, recognise_describe
from podpath.evidence.kubernetes.picked import (
    Pick,
    parse_described,
    parse_pick,
    read_pick,
    recognise_pick,
)
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.net.provenance import Source

PATH = ("spec", "selector")


def source(command: str, *lines: str) -> Source:
    """Make the answer of a command."""
    return Source(name="ticket.md", lines=lines, first_line=3, command=command)


@pytest.mark.parametrize(
    ("command", "pick"),
    [
        ("kubectl get svc -n shop web -o jsonpath={.spec.selector} | jq", ("Service", "shop")),
        ("k get service/web -o=jsonpath='{.spec.selector}' --namespace shop", ("Service", "shop")),
        ("oc get svc web -o json | jq .spec.selector", ("Service", "")),
        ("kubectl -n shop get po web -o jsonpath='{$.spec.selector}'", ("Pod", "shop")),
    ],
)  # fmt: skip
def test_a_command_says_what_it_picks(command: str, pick: tuple[str, str]) -> None:
    """Short names, `KIND/NAME`, options anywhere, jq behind a pipe."""
    assert parse_pick(command) == Pick(pick[0], pick[1], "web", PATH)


@pytest.mark.parametrize(
    "command",
    [
        "kubectl get svc -o jsonpath={.items[*].spec.selector}",
        "kubectl get svc web -o jsonpath='{range .items[*]}{.metadata.name}{end}'",
        "kubectl get svc web -o yaml",
        "kubectl describe svc web",
        "kubectl get secret web -o jsonpath={.data.token}",
        "cat web.json | jq .spec.selector",
        "",
    ],
)
def test_another_command_picks_nothing(command: str) -> None:
    """Lists, whole objects and what no check asks about are for other readers."""
    assert parse_pick(command) is None
    assert not recognise_pick(source(command, "{", '"app": "web"', "}"))


@pytest.mark.parametrize(
    "lines",
    [
        ('{"app":"web","tier":"x"}',),
        ("{", '  "app": "web",', '  "tier": "x"', "}"),
        ("{", '  "app": "web"', '  "tier": "x"', "}"),
    ],
    ids=["one line", "jq", "a comma is lost"],
)
def test_the_part_is_put_into_its_object(lines: tuple[str, ...]) -> None:
    """Each field keeps its line; nothing is left unread."""
    answer = source(
        "kubectl get ds -n shop web -o jsonpath={.spec.template.metadata.labels}", *lines
    )
    reading = read_pick(answer)
    (record,) = (one for one in reading.records if isinstance(one, ApiObjectRecord))
    labels = record.tree.at("spec", "template", "metadata", "labels")

    assert recognise_pick(answer)
    assert (record.kind, record.namespace, record.name) == ("DaemonSet", "shop", "web")
    assert labels is not None
    assert labels.texts == {"app": "web", "tier": "x"}
    assert not reading.gaps


def test_a_line_that_is_no_field_is_a_gap() -> None:
    """What stands behind the answer is not passed over."""
    reading = read_pick(
        source("kubectl get svc web -o jsonpath={.spec}", "{", '"a": "b"', "}", "$%&")
    )
    assert [gap.span.line for gap in reading.gaps] == [6]


@pytest.mark.parametrize(
    ("command", "described"),
    [
        ("kubectl describe node w1 | grep CIDR", Pick("Node", "", "w1", ())),
        ("kubectl describe svc/web -n shop", Pick("Service", "shop", "web", ())),
        ("kubectl describe nodes | grep PodCIDR", None),
        ("kubectl get node w1", None),
        ("describe node w1", None),
    ],
)
def test_a_command_says_what_it_describes(command: str, described: Pick | None) -> None:
    """One object by its name; a filter behind it may leave a line."""
    assert described == parse_described(command)


def test_a_line_of_a_description_is_of_the_object_that_its_command_names() -> None:
    """A filter leaves out the name."""
    found = source("kubectl describe node w1 | grep CIDR", "PodCIDR:   10.244.1.0/24")

    (record,) = (one for one in read_describe(found).records if isinstance(one, ApiObjectRecord))
    assert ("Node", "w1", "10.244.1.0/24") == (
        record.kind,
        record.name,
        record.tree.text_at("spec", "podCIDR"),
    )
    assert recognise_describe(found)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [("10.244.5.0/24", "10.244.5.0/24"), ('"10.244.5.0/24"', "10.244.5.0/24")],
)
def test_one_value_stands_alone(printed: str, expected: str) -> None:
    """As jsonpath prints a field that holds nothing else."""
    reading = read_pick(source("kubectl get node n1 -o jsonpath='{.spec.podCIDR}'", printed))
    (node,) = (one for one in reading.records if isinstance(one, ApiObjectRecord))

    assert ("Node", "n1", expected) == (node.kind, node.name, node.tree.text_at("spec", "podCIDR"))
