"""YAML and JSON as they are pasted, whole and in parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.text.trees import lines_of, read_embedded, read_tree
from podpath.net.provenance import Source
from podpath.net.trees import Tree


def grow(text: str) -> tuple[Tree, ...]:
    """Read a text."""
    source = Source(name="x", lines=tuple(text.split("\n")))
    return read_tree(source, source.lines, 1).trees


def plain(tree: Tree) -> object:
    """Take the places off."""
    if isinstance(tree.value, str):
        return tree.value
    if isinstance(tree.value, tuple):
        return [plain(item) for item in tree.value]
    return {name: plain(item) for name, item in tree.value.items()}


def test_yaml_of_an_object() -> None:
    """Fields, lists at the indentation of their field, quotes, comments and flow values are
    read.
    """
    text = (
        'kind: Service   # of mine\nspec:\n  ports:\n  - name: "http"\n    port: 80\n'
        "  - {port: 443}\n  selector: {app: web}\n"
    )
    ports = [{"name": "http", "port": "80"}, {"port": "443"}]

    assert [{"kind": "Service", "spec": {"ports": ports, "selector": {"app": "web"}}}] == [
        plain(one) for one in grow(text)
    ]


def test_documents_are_parted() -> None:
    """A line of dashes begins another document."""
    assert [{"a": "1"}, {"b": "2"}] == [plain(one) for one in grow("a: 1\n---\nb: 2")]


def test_a_text_block_keeps_its_lines() -> None:
    """What a block holds can be read by itself, each line at its place."""
    (tree,) = grow('data:\n  Corefile: |\n    .:53 {\n    }\n  conf: |\n    {"a": {"b": 1}}\n')
    corefile, conf = tree.at("data", "Corefile"), tree.at("data", "conf")
    assert corefile is not None
    assert conf is not None

    assert [(".:53 {", 3), ("}", 4)] == [
        (line.strip(), span.line) for line, span in lines_of(corefile)
    ]
    (inner,) = read_embedded(conf).trees
    assert {"a": {"b": "1"}} == plain(inner)
    assert 6 == inner.span.line


def test_a_text_in_one_line() -> None:
    """A text with escaped line ends stands in one line with all that it holds."""
    (tree,) = grow('{"data": {"conf": "a:\\n  b: 1"}}')
    conf = tree.at("data", "conf")
    assert conf is not None
    (inner,) = read_embedded(conf).trees

    assert {"a": {"b": "1"}} == plain(inner)
    assert 1 == inner.span.line


def test_json_that_is_cut() -> None:
    """What is open at the end counts as closed there; an ellipsis is passed over."""
    assert [{"a": {"b": ["1", {"c": "x:y"}]}}] == [
        plain(one) for one in grow('{"a": {"b": [1, {"c": "x:y"\n ...')
    ]


def test_fields_know_their_lines() -> None:
    """A field is quoted by the line of its name."""
    (tree,) = grow("a:\n  b: 1\n  c:\n  - 2")
    found = tree.at("a", "c")
    assert found is not None
    assert ("  c:", 3, 4) == (found.line.text, found.span.line, found.span.last_line)


def test_what_is_no_field_is_told() -> None:
    """A line of prose between fields is unread, and the rest is not lost."""
    source = Source(name="x", lines=("a: 1", "so it goes!", "b: 2"))
    grown = read_tree(source, source.lines, 1)
    assert (1,) == grown.unread
    assert {"a": "1", "b": "2"} == plain(grown.trees[0])


def test_a_deep_nest_ends() -> None:
    """Thousands of brackets take no stack."""
    assert grow('{"a":' * 5000)
    assert grow("\n".join(" " * depth + "a:" for depth in range(1500)))


@given(st.text(alphabet="ab:-#{}[]|>\"'\\, \n\t.", max_size=200))
def test_no_text_is_refused(text: str) -> None:
    """Whatever stands there is read, and every place is in the text."""
    for tree in grow(text):
        assert 1 <= tree.span.line <= tree.span.last_line <= text.count("\n") + 1
