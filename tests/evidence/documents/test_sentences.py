"""The sentences of prose, each with the lines that it stands on; what is pasted is none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.sentences import list_sentences, list_taken
from podpath.net.provenance import Source


def test_sentences_are_parted_where_they_end() -> None:
    """Over the ends of lines, behind abbreviations of capitals, and not within fences."""
    lines = ("It is the gateway of the LAN. It cannot", "ping 10.0.0.1. Why?", "```", "a. B", "```")

    assert list(list_sentences(lines, set())) == [
        ("It is the gateway of the LAN.", 1, 1),
        ("It cannot ping 10.0.0.1.", 1, 2),
        ("Why?", 2, 2),
    ]


def test_option_says_of_nothing_that_it_timed_out() -> None:
    """Its name is left out, with the value that it is given; a timeout in words stays."""
    lines = (
        "+ exec kubelet --address=0.0.0.0 --streaming-connection-idle-timeout=30m",
        "curl --connect-timeout 5 to the pod ends with a timeout.",
    )

    assert [text for text, _, _ in list_sentences(lines, set())] == [
        "exec kubelet --address=0.0.0.0 curl  5 to the pod ends with a timeout."
    ]


def test_what_an_output_took_is_no_prose() -> None:
    """Its lines are left out, and part what stands around them."""
    taken = list_taken([Source(name="t", lines=("eth0: up",), first_line=2)])

    assert taken == {2}
    assert [text for text, _, _ in list_sentences(("It", "eth0: up", "fails"), taken)] == [
        "It",
        "fails",
    ]


@given(st.lists(st.text(max_size=40), max_size=8))
def test_each_sentence_stands_on_lines_of_the_text(lines: list[str]) -> None:
    """No text breaks it, and what it yields is in order."""
    found = list(list_sentences(lines, set()))

    assert all(1 <= first <= last <= len(lines) for _, first, last in found)
    assert [first for _, first, _ in found] == sorted(first for _, first, _ in found)
