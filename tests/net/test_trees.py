"""Values with their places."""

from __future__ import annotations

from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

SOURCE = Source(name="x", lines=("a:", "  b: 1", "c:", "- d: 2"))


def at(line: int, value: object, last: int | None = None) -> Tree:
    """Make a value at a line."""
    return Tree(value=value, span=Span(SOURCE, line, last or line))  # type: ignore[arg-type]  # whatever the test needs


TREE = at(1, {"a": at(1, {"b": at(2, "1")}, 2), "c": at(3, (at(4, {"d": at(4, "2")}),), 4)}, 4)


def test_fields_are_found_by_their_path() -> None:
    """A path leads to a field, to a text, or to nothing."""
    assert "1" == TREE.text_at("a", "b")
    assert "" == TREE.text_at("a", "b", "c")
    assert TREE.at("z") is None
    assert ["2"] == [item.text_at("d") for item in TREE.items_at("c")]


def test_a_value_knows_its_line() -> None:
    """The first line is the one to quote."""
    found = TREE.at("a")
    assert found is not None
    assert "a:" == found.line.text


def test_nothing_has_many_spellings() -> None:
    """Empty lists, fields, and words for nothing are empty."""
    nothing: tuple[object, ...] = ((), {}, "", "null", "<none>")
    something: tuple[object, ...] = ("0", (at(1, ""),))

    assert all(at(1, value).is_empty for value in nothing)
    assert not any(at(1, value).is_empty for value in something)


def test_every_field_is_walked() -> None:
    """Fields below lists are found, too."""
    assert {"a", "b", "c", "d"} == {name for name, _ in TREE.walk()}


def test_named_fields_are_texts() -> None:
    """A list has no text, and a scalar no fields."""
    labels = at(1, {"app": at(1, "web"), "ports": at(1, (at(1, "80"),))})
    assert {"app": "web", "ports": ""} == labels.texts
    assert {} == at(1, "web").texts
