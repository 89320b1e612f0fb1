"""Which bundles a set of files is, and of which a file is."""

from __future__ import annotations

from podpath.evidence.layouts import retina
from podpath.evidence.layouts.table import LAYOUTS, NamedFile, find_bundles, is_single, place_file


def test_two_bundles_that_name_no_node_are_of_two() -> None:
    """Where one nameless bundle is given it needs no name; two are told apart by their folders."""
    one = [NamedFile(f"a/{name}", b"") for name in ("ip-resources.txt", "iptables-rules.txt")]
    other = [NamedFile(file.name.replace("a/", "b/"), b"") for file in one]
    assert [None] == [bundle.host for bundle in find_bundles(one)]
    assert {"a", "b"} == {bundle.host for bundle in find_bundles([*one, *other])}


def test_a_file_is_of_the_innermost_bundle() -> None:
    """A file outside of every root is of none; one that no row knows is still of its bundle."""
    bundles = find_bundles(
        [NamedFile(f"x/{name}", b"") for name in ("ip-resources.txt", "iptables-rules.txt")]
    )
    found = place_file(bundles, "x/unheard-of")
    assert found is not None
    assert (retina.LAYOUT, None) == (found[0].layout, found[1])
    assert place_file(bundles, "y/ip-resources.txt") is None


def test_every_layout_can_be_recognised() -> None:
    """Each has marks enough, or knows its file by content; names are unique."""
    assert all(layout.knows is not None or len(layout.marks) >= layout.needed for layout in LAYOUTS)
    assert len(LAYOUTS) == len({layout.name for layout in LAYOUTS})
    assert not is_single(b'{"p": 1}')
