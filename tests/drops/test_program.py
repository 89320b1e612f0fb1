"""The program is made for the kernel whose types it is given."""

from __future__ import annotations

import pytest

from podpath.drops.btf import TypeTable
from podpath.drops.program import (
    COUNT,
    EVENT,
    KEY,
    MEMBERS,
    PACKET,
    ProgramMaps,
    assemble_program,
    find_layout,
)
from podpath.net.errors import PodpathError
from tests.drops.made_btf import POINTER, TYPEDEF, MadeBtf

MAPS = ProgramMaps(3, 4, 5, 6)


def types(*, parameters: int = 5, conntrack: bool = True, without: str = "") -> TypeTable:
    """Make the types of a kernel, each member at a place of its own."""
    made = MadeBtf()
    number = made.integer("unsigned int", 4)
    nets = made.compound("possible_net_t", [("net", number, 0)])
    common = made.compound("sock_common", [("skc_net", nets, 64)])
    shared = made.compound("ns_common", [("inum", number, 32)])
    kinds = {"nd_net": nets, "__sk_common": common, "ns": shared}
    structs: dict[str, list[tuple[str, int, int]]] = {}
    for place, (name, path) in enumerate(MEMBERS.values()):
        member = path.partition(".")[0]
        if member != without:
            structs.setdefault(name, []).append((member, kinds.get(member, number), place * 64))
    if conntrack:
        structs["sk_buff"].append(("_nfct", number, 2048))
        structs["nf_conn"] = [("tuplehash", number, 128), ("status", number, 1024)]
        structs["nf_conntrack_tuple_hash"] = [("tuple", number, 128)]
    for name, members in structs.items():
        made.compound(name, members)
    function = made.refer(POINTER, made.prototype([number] * parameters))
    made.refer(TYPEDEF, function, "btf_trace_kfree_skb")
    return TypeTable(made.emit())


def test_offsets_are_those_of_the_kernel() -> None:
    """Each member is where the types have it, inside embedded structs too."""
    layout = find_layout(types())

    assert layout.at["head"] == 0
    assert layout.at["inode"] == 8 * list(MEMBERS).index("inode") + 4
    assert layout.conntrack == (256, 16 + 16, 128)
    assert layout.has_reason


def test_an_old_kernel_has_no_reasons() -> None:
    """Before v5.17 the tracepoint has two arguments (and the context that all have)."""
    old, new = find_layout(types(parameters=3)), find_layout(types(parameters=4))

    assert (old.has_reason, new.has_reason) == (False, True)
    assert len(assemble_program(old, MAPS)) < len(assemble_program(new, MAPS))


def test_without_conntrack_the_program_asks_for_none() -> None:
    """A kernel whose types do not have conntrack gets a shorter program."""
    bare = find_layout(types(conntrack=False))

    assert bare.conntrack is None
    assert len(assemble_program(bare, MAPS)) < len(assemble_program(find_layout(types()), MAPS))


def test_what_lacks_is_named() -> None:
    """A kernel without a member that the program needs is refused by the member's name."""
    with pytest.raises(PodpathError, match=r"sk_buff\.mac_header"):
        find_layout(types(without="mac_header"))


def test_layouts_are_aligned() -> None:
    """What the program writes in words of eight bytes is a multiple of that."""
    assert [KEY.size % 8, COUNT.size % 8, (EVENT.size - PACKET) % 8] == [0, 0, 0]
