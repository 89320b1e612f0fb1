"""Tests for reading elements of sets."""

from __future__ import annotations

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from podpath.datapath.sets.elements import TYPES, ElementReading, parse_element, type_dimensions
from podpath.node.netfilter import SetMember


def reading(kind: str) -> ElementReading:
    """Say how the elements of a set of this type are read."""
    return ElementReading(kind, type_dimensions(kind), 4, {})


def test_types_have_their_dimensions() -> None:
    """The name says them; a list of sets and an unknown type have none of their own."""
    assert ("ip", "port", "net") == type_dimensions("hash:ip,port,net")
    assert () == type_dimensions("list:set") == type_dimensions("frob:ip")


def test_a_range_stands_for_many_elements() -> None:
    """Ranges of addresses become networks, ranges of ports single ports."""
    elements = parse_element(SetMember(("10.0.0.0-10.0.0.5", "tcp:80-81")), reading("hash:ip,port"))

    assert 4 == len(elements)
    assert {30, 31} == {element.lengths[0] for element in elements}


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("hash:ip", ("fd00::1",)),
        ("hash:ip", ("10.0.0.1", "80")),
        ("hash:ip,port", ("10.0.0.1", "tcp:http")),
        ("hash:ip", ("10.0.0.0-10.200.0.0",)),
        ("hash:ip,mark", ("10.0.0.1", "many")),
    ],
)
def test_what_is_not_understood_gives_no_element(kind: str, parts: tuple[str, ...]) -> None:
    """The set is then not whole, and says so."""
    assert () == parse_element(SetMember(parts), reading(kind))


@hypothesis_given(
    st.sampled_from(sorted(TYPES)),
    st.lists(st.text("0123456789.:/-abcdef", max_size=18), max_size=3),
)
def test_no_element_is_too_strange_to_read(kind: str, parts: list[str]) -> None:
    """Whatever stands there, reading gives elements or none."""
    assert isinstance(parse_element(SetMember(tuple(parts)), reading(kind)), tuple)
