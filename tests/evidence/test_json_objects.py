"""JSON listings, whole, pretty-printed, cut and damaged."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.json_objects import (
    InvalidJson,
    JsonObject,
    decode_first_wins,
    head_of,
    is_set,
    number_of,
    object_of,
    objects_of,
    scan_objects,
    text_of,
    words_of,
)
from tests.evidence.consoles import block

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=5),
    st.sampled_from([None, 1, 4]),
)
def test_objects_come_back_with_the_lines_they_stand_on(
    values: list[dict[str, object]], indent: int | None
) -> None:
    """Whatever the layout, each object is found, and its lines hold its text."""
    source = block(json.dumps(values, indent=indent))

    found = [item for item in scan_objects(source) if isinstance(item, JsonObject)]

    assert values == [item.value for item in found]
    for item in found:
        assert item.text in "\n".join(source.lines[item.first : item.last + 1])


def test_a_cut_object_costs_only_itself() -> None:
    """The objects before are read; the cut one is damage up to the end."""
    whole = json.dumps([{"dst": "a"}, {"dst": "b", "x": {"y": 1}}], indent=4)

    items = list(scan_objects(block(whole[: whole.index('"y"')])))

    assert [{"dst": "a"}] == [item.value for item in items if isinstance(item, JsonObject)]
    assert [(4, 7)] == [(item.first, item.last) for item in items if isinstance(item, InvalidJson)]


def test_a_damaged_object_in_the_middle_costs_only_itself() -> None:
    """Reading goes on at the next object."""
    items = list(scan_objects(block('[{"a":1},{"b":oops},{"c":3}]')))

    assert [{"a": 1}, {"c": 3}] == [item.value for item in items if isinstance(item, JsonObject)]
    assert 1 == sum(isinstance(item, InvalidJson) for item in items)


def test_nesting_without_end_is_damage() -> None:
    """A document that is made to exhaust the stack is refused in part, not raised."""
    items = list(scan_objects(block('[{"a":' + "[" * 100_000)))

    assert [True] == [isinstance(item, InvalidJson) for item in items]


def test_of_equal_keys_the_first_can_be_kept() -> None:
    """Python keeps the last one; iproute2 means the first."""
    assert {"dst": "10.0.0.0/8", "id": 1} == decode_first_wins(
        '{"dst":"10.0.0.0/8","id":1,"dst":"1.2.3.4"}'
    )


def test_getters_give_none_for_another_type() -> None:
    """JSON of a ticket is not trusted to be what iproute2 prints."""
    value: dict[str, object] = {
        "s": "x",
        "n": 5,
        "b": True,
        "o": {"k": 1},
        "l": ["a", 1, {"m": 2}],
        "z": None,
        "f": False,
    }

    assert ("x", "5", None, None) == (
        text_of(value, "s"),
        text_of(value, "n"),
        text_of(value, "b"),
        text_of(value, "l"),
    )
    assert (5, None, None, None) == tuple(number_of(value, key) for key in ("n", "b", "s", "none"))
    assert ({"k": 1}, {}) == (object_of(value, "o"), object_of(value, "s"))
    assert ([{"m": 2}], []) == (objects_of(value, "l"), objects_of(value, "o"))
    assert (("a",), ()) == (words_of(value, "l"), words_of(value, "s"))
    assert (True, True, False, False) == tuple(
        is_set(value, key) for key in ("z", "b", "f", "none")
    )


def test_the_head_is_empty_for_what_is_no_json() -> None:
    """Text that does not begin with a bracket is not searched for keys."""
    assert ("", '[{"a":1}]') == (head_of(block('see "dst": "x"')), head_of(block('[{"a":1}]')))
