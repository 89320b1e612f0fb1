"""BTF is read as the kernel writes it, and damage is told."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.drops.btf import BtfError, TypeTable
from tests.drops.made_btf import CONST, POINTER, TYPEDEF, UNION, MadeBtf

NAMES = st.text("abcdefgh_", min_size=1, max_size=8)


@given(st.lists(st.tuples(NAMES, st.sampled_from((1, 2, 4, 8))), unique_by=lambda each: each[0]))
def test_members_are_found_where_they_were_put(fields: list[tuple[str, int]]) -> None:
    """Each member of a struct is at the sum of the sizes before it, and no other is found."""
    made = MadeBtf()
    numbers = {size: made.integer(f"u{size}", size) for size in (1, 2, 4, 8)}
    starts = [0, *accumulate(size for _, size in fields)]
    placed = [
        (name, numbers[size], start * 8)
        for (name, size), start in zip(fields, starts, strict=False)
    ]
    made.compound("thing", placed)
    types = TypeTable(made.emit())

    assert [bit // 8 for _, _, bit in placed] == [
        types.find_offset("thing", name) for name, _, _ in placed
    ]
    assert types.find_offset("thing", "absent") is None
    assert types.find_offset("other", "absent") is None


def test_members_of_embedded_structs_are_reached() -> None:
    """A dotted path goes into named members; anonymous ones and qualifiers are looked through."""
    made = MadeBtf()
    number = made.integer("unsigned int", 4)
    inner = made.compound("ns_common", [("count", number, 0), ("inum", number, 32)])
    renamed = made.refer(TYPEDEF, made.refer(CONST, inner), "ns_t")
    nameless = made.compound("", [("a", number, 0), ("ns", renamed, 64)], UNION)
    made.compound("net", [("first", number, 0), ("", nameless, 128)])
    types = TypeTable(made.emit())

    assert types.find_offset("net", "ns.inum") == 16 + 8 + 4


def test_a_pointer_is_not_followed() -> None:
    """What stands behind a pointer is not at an offset of the struct."""
    made = MadeBtf()
    number = made.integer("unsigned int", 4)
    device = made.compound("net_device", [("ifindex", number, 0)])
    made.compound("sk_buff", [("dev", made.refer(POINTER, device), 0)])
    types = TypeTable(made.emit())

    assert types.find_offset("sk_buff", "dev") == 0
    assert types.find_offset("sk_buff", "dev.ifindex") is None


def test_bit_fields_keep_their_width_out_of_the_offset() -> None:
    """Where a struct has bit fields, the highest byte of an offset is a width."""
    made = MadeBtf()
    number = made.integer("unsigned int", 4)
    made.compound("flags", [("a", number, 0), ("b", number, 32)], bitfields=True)

    assert TypeTable(made.emit()).find_offset("flags", "b") == 4


def test_values_of_an_enum_have_their_names() -> None:
    """An enum gives its names by value; one that is not there gives none."""
    made = MadeBtf()
    made.enum("skb_drop_reason", {"SKB_NOT_DROPPED_YET": 0, "SKB_DROP_REASON_NO_SOCKET": 3})
    types = TypeTable(made.emit())

    assert types.list_values("skb_drop_reason") == {
        0: "SKB_NOT_DROPPED_YET",
        3: "SKB_DROP_REASON_NO_SOCKET",
    }
    assert types.list_values("absent") == {}


def test_parameters_of_a_tracepoint_are_counted() -> None:
    """A typedef of a pointer to a function tells how many parameters it has."""
    made = MadeBtf()
    number = made.integer("unsigned int", 4)
    function = made.refer(POINTER, made.prototype([number] * 4))
    made.refer(TYPEDEF, function, "btf_trace_kfree_skb")
    made.refer(TYPEDEF, number, "u32")
    types = TypeTable(made.emit())

    assert types.count_parameters("btf_trace_kfree_skb") == 4
    assert types.count_parameters("u32") is None
    assert types.count_parameters("absent") is None


def test_types_in_a_circle_end() -> None:
    """A struct that holds itself, and a typedef of itself, as no kernel has them, are not followed
    for ever.
    """
    made = MadeBtf()
    made.compound("", [("", 1, 0)])
    made.refer(TYPEDEF, 2, "round")
    made.compound("outer", [("", 1, 0)])
    types = TypeTable(made.emit())

    assert types.find_offset("outer", "member") is None
    assert types.count_parameters("round") is None


def test_what_is_no_btf_is_refused() -> None:
    """Too few bytes, another magic, and a table that is cut off are errors that say so."""
    made = MadeBtf()
    made.integer("int", 4)
    whole = made.emit()
    for damaged in (
        b"",
        b"\xeb\x9f" + bytes(30),
        whole[:-1],
        whole[:12] + b"\xff" * 4 + whole[16:],
    ):
        with pytest.raises(BtfError):
            TypeTable(damaged)


@given(st.binary(max_size=200), st.integers(0, 60))
def test_damage_raises_nothing_else(noise: bytes, place: int) -> None:
    """Whatever bytes stand in a table, it is read or refused with a word."""
    made = MadeBtf()
    number = made.integer("unsigned int", 4)
    made.compound("thing", [("a", number, 0), ("b", number, 32)])
    whole = made.emit()
    damaged = whole[: 24 + place] + noise + whole[24 + place + len(noise) :]
    try:
        types = TypeTable(damaged)
    except BtfError:
        return
    assert (types.find_offset("thing", "b") or 0) >= 0
    assert isinstance(types.list_values("thing"), dict)
