"""Signs looked for at once: those that a search one by one finds, in the same order."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.text.signs import SignIndex, list_signs

WORDS = st.text("abcé\n ", max_size=6)
PIECE = r"(?:[abc]|\\[.d]|\[[abc-]\])[?*+]?"
PATTERN = re.compile(rf"(?:{PIECE}|\((?:\?:)?{PIECE}(?:\|{PIECE})*\)[?*+]?|\|){{1,6}}")
"""Patterns of pieces, alternatives and groups of one depth."""


@given(st.lists(WORDS, max_size=12), st.text("abcé\n ", max_size=40))
def test_the_same_signs_are_found_as_one_by_one(signs: list[str], text: str) -> None:
    """Short ones and those that overlap, too; each once, in the order in which they stand."""
    assert [sign for sign in dict.fromkeys(signs) if sign in text] == SignIndex(signs).find(text)


def test_a_sign_may_be_shorter_than_what_stands_for_one() -> None:
    """It is looked for in every text."""
    assert ["ab", ""] == SignIndex(("ab", "abc", "", "b c")).find("xab")


@pytest.mark.parametrize(
    ("pattern", "signs"),
    [
        ("flannel(?:d|\\.\\d+)?|kube-flannel", {"flannel", "kube-flannel"}),
        ("(?:docker )?swarm", {"swarm"}),
        ("cali[0-9a-f]{11}", {"cali"}),
        ("names?(?: server)?s?|dns", {"name", "dns"}),
        (r"vxlan\.calico|br\d{1,3}", {"vxlan.calico", "br"}),
        ("core-?dns", {"core"}),
        ("ab+c", {"ab"}),
        ("(?:real|true) ip|[45]xx?", {" ip", "x"}),
        ("dns|[45]x*", set()),
        ("a?|b", set()),
    ],
)
def test_each_alternative_gives_the_longest_of_its_literals(pattern: str, signs: set[str]) -> None:
    """What may be absent, stands in a group or is one of several characters is none."""
    assert signs == list_signs(pattern)


@given(st.from_regex(PATTERN, fullmatch=True, alphabet=st.sampled_from("abc.-12")), st.data())
def test_what_a_pattern_matches_holds_one_of_its_signs(pattern: str, data: st.DataObject) -> None:
    """Of any pattern."""
    signs = list_signs(pattern)
    text = data.draw(st.from_regex(pattern, fullmatch=True))

    assert not signs or any(sign in text for sign in signs)
