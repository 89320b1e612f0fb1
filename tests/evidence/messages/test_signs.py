"""Signs looked for at once: those that a search one by one finds, in the same order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.messages.signs import SignIndex

WORDS = st.text("abcé\n ", max_size=6)


@given(st.lists(WORDS, max_size=12), st.text("abcé\n ", max_size=40))
def test_the_same_signs_are_found_as_one_by_one(signs: list[str], text: str) -> None:
    """Short ones and those that overlap, too; each once, in the order in which they stand."""
    assert [sign for sign in dict.fromkeys(signs) if sign in text] == SignIndex(signs).find(text)


def test_a_sign_may_be_shorter_than_what_stands_for_one() -> None:
    """It is looked for in every text."""
    assert ["ab", ""] == SignIndex(("ab", "abc", "", "b c")).find("xab")
