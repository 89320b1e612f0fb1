"""Objects of a case."""

from __future__ import annotations

from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree
from podpath.node.objects import ApiObject


def test_an_object_is_named_with_its_namespace() -> None:
    """Where nothing tells the namespace the name stands alone."""
    tree = Tree(value={}, span=Span(Source(name="x", lines=("a",)), 1, 1))
    one = ApiObject(kind="Pod", namespace="shop", name="web-0", tree=tree)
    assert ("shop/web-0", tree.span) == (one.title, one.span)
    assert "web-0" == ApiObject(kind="Pod", namespace="", name="web-0", tree=tree).title
