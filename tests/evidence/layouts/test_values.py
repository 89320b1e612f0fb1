"""Values as Go programs write them in JSON."""

from __future__ import annotations

import pytest

from podpath.evidence.layouts.values import (
    bytes_at,
    fields_at,
    fields_in,
    load_fields,
    mac_at,
    number_at,
    prefix_of,
    spell_prefix,
    text_at,
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"IP": "10.1.2.0", "Mask": "////AA=="}, "10.1.2.0/24"),
        ({"IP": "0.0.0.0", "Mask": "AAAAAA=="}, "default"),
        ({"IP": "fd00::", "Mask": "//////////8AAAAAAAAAAA=="}, "fd00::/64"),
        ({"IP": "10.1.2.0", "Mask": "/wD/AA=="}, ""),
        ({"IP": "soon", "Mask": "////AA=="}, ""),
        ({"IP": "10.1.2.0"}, ""),
        ({}, ""),
    ],
)
def test_networks(fields: dict[str, object], expected: str) -> None:
    """A network is an address and its mask in base 64; a mask with holes is none."""
    assert expected == spell_prefix(fields)


def test_an_address_keeps_its_host_part() -> None:
    """The address of a device is given with the length of its network."""
    assert ("10.1.2.3", 24) == prefix_of({"IP": "10.1.2.3", "Mask": "////AA=="})


def test_members_of_other_types() -> None:
    """What is of another type than asked for is as if it were not there."""
    fields = load_fields('{"a": 1, "b": "x", "c": [{"d": 2}, 3], "e": true, "m": "AgAK9AEF"}')
    assert (1, 0, 0) == (number_at(fields, "a"), number_at(fields, "b"), number_at(fields, "e"))
    assert ("x", "") == (text_at(fields, "b"), text_at(fields, "a"))
    assert [{"d": 2}] == [*fields_in(fields["c"])]
    assert {} == fields_at(fields, "c")
    assert "02:00:0a:f4:01:05" == mac_at(fields, "m")
    assert b"" == bytes_at(fields, "b")
    assert {} == load_fields("[1]")
    assert {} == load_fields("{")
