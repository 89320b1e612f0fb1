"""What callers may give as evidence and as probes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from podpath.collect.targets import write_packed
from podpath.library.given import (
    Packed,
    Pasted,
    ThisNode,
    list_paths,
    list_pieces,
    name_piece,
    parse_probes,
    place_probes,
)
from podpath.library.reading import read
from podpath.net.errors import UsageError
from podpath.testing.nodes import given_node, probe

TEXT = "tcp 10.0.0.1 > 10.0.0.2:80"


def test_one_piece_needs_no_list() -> None:
    """A path, as text or as a path, and pasted text stand for themselves; only paths are read as
    files.
    """
    pasted = Pasted("net.ipv4.ip_forward = 0")
    assert [("a",), (Path("b"),), (pasted,)] == [
        list_pieces(one) for one in ("a", Path("b"), pasted)
    ]
    assert ("a", "b") == list_paths(["a", ThisNode(), pasted, Path("b")])


def test_pieces_are_named_in_errors() -> None:
    """Standard input, pasted text and this node have names too."""
    assert ["standard input", "t.md", "ticket", "this node"] == [
        name_piece(piece) for piece in ("-", Path("t.md"), Pasted("", "ticket"), ThisNode())
    ]


def test_probes_are_text_or_values() -> None:
    """Both make the same probe; names wait for the evidence, and what is wrong is said at once."""
    named = "tcp pod/shop/web-0 > 10.0.0.2:80"
    assert (probe(TEXT), probe(TEXT)) == parse_probes([TEXT, named, probe(TEXT)])
    assert (probe(TEXT), probe(TEXT)) == place_probes([TEXT, probe(TEXT)], given_node())
    with pytest.raises(UsageError, match="web-0"):
        place_probes([named], given_node())
    with pytest.raises(UsageError, match="tcp to"):
        parse_probes(["tcp to nowhere"])


def test_a_packed_bundle_in_memory_is_evidence() -> None:
    """It is read as the file would be, quoted by its name, and its content stands in no message."""
    out = io.BytesIO()
    write_packed(out, {"netns/host/ip-route.txt": b"default via 10.0.0.1 dev eth0\n"})
    packed = Packed(out.getvalue(), "node1.tar.gz")
    case = read(packed)
    assert [source.name for source in case.sources] == ["node1.tar.gz/netns/host/ip-route.txt"]
    assert name_piece(packed) == "node1.tar.gz"
    assert list_pieces(packed) == (packed,)
    assert repr(packed) == "Packed(name='node1.tar.gz')"
