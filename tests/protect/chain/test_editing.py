"""Tests of `protect.chain.editing`: what of a file is kept, and which file is not edited at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.cni.conf import ConfFile, ConfProblem, parse_json
from podpath_protect.chain.editing import (
    ChainedPlugin,
    EditingError,
    chain,
    is_chained,
    list_entries,
    same_network,
    strip,
)
from tests.protect.folders import BRIDGE, MESH, listed

KIND = "linkerd-cni"
ENTRY = ChainedPlugin(KIND, MESH)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def conflist(text: str) -> ConfFile:
    """Make a list of its text."""
    return ConfFile(name="10-net.conflist", content=text.encode("utf-8", "surrogatepass"))


@given(VALUES)
def test_what_is_edited_says_the_same(value: object) -> None:
    """Whatever else stands in a file is the same after it was chained and stripped, or the file is
    refused.
    """
    file = conflist(json.dumps({"name": "n", "x": value, "plugins": [{"type": "bridge"}]}))
    try:
        edited = conflist(chain(file, ENTRY).content.decode())
    except EditingError:
        return
    assert is_chained(edited, KIND)
    assert same_network(file, edited, KIND)
    assert same_network(file, conflist((strip(edited, KIND) or b"").decode()), KIND)


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    """Whatever stands in a file or under its keys, it is edited or refused."""
    odd = text.encode("utf-8", "replace").decode()
    for content in (odd, f'{{"name": "n", "plugins": [{odd}]}}', json.dumps({"plugins": [text]})):
        try:
            edited = chain(conflist(content), ENTRY)
        except EditingError:
            continue
        assert not isinstance(
            parse_json(ConfFile(name=edited.name, content=edited.content)), ConfProblem
        )


@pytest.mark.parametrize(("one", "other"), [("1", "true"), ("1", "1.0"), ("0", "false")])
def test_values_of_other_kinds_are_another_network(one: str, other: str) -> None:
    """What Python takes for the same and a plugin does not is told apart."""
    texts = [f'{{"name": "n", "plugins": [{{"type": "a", "x": {held}}}]}}' for held in (one, other)]

    assert not same_network(conflist(texts[0]), conflist(texts[1]), KIND)


def test_the_last_of_several_entries_is_kept() -> None:
    """Of two entries the one that was chained last stays, as it is written, behind the others."""
    file = conflist(listed({"type": KIND, "a": 1}, BRIDGE, {"type": KIND, "a": 2, "name": "x"}))

    edited = conflist(chain(file, ENTRY).content.decode())

    assert ({"type": KIND, "a": 2, "name": "x"},) == list_entries(edited, KIND)
    assert [BRIDGE, {"type": KIND, "a": 2, "name": "x"}] == json.loads(edited.text)["plugins"]


@pytest.mark.parametrize("text", ['{"name": "n", "plugins": []}', '{"name": "n"}'])
def test_what_is_no_single_plugin_is_not_wrapped(text: str) -> None:
    """A list under the name of a single one, as Istio has it for a moment, is nobody's plugin."""
    with pytest.raises(EditingError, match="expected one plugin"):
        chain(ConfFile(name="10-net.conf", content=text.encode()), ENTRY)
