"""Files of patterns: named pieces are put wherever they are meant, and none is made up."""

from __future__ import annotations

import pytest

from podpath.net.word_file import parse_words, read_word_file


def test_parts_are_put_into_every_pattern() -> None:
    """A part may use an earlier one; texts in lists and tables are filled, other values kept."""
    text = r"""
parts.DIGIT = '\d'
parts.PORT = '%{DIGIT}{1,5}'
rows = [["a", ':%{PORT}']]
[[shape]]
start = 'port %{PORT}'
nested = true
"""

    assert parse_words(text) == {
        "rows": [["a", r":\d{1,5}"]],
        "shape": [{"start": r"port \d{1,5}", "nested": True}],
    }


def test_a_part_that_does_not_exist_is_an_error() -> None:
    """Nobody searches for a piece by its name."""
    with pytest.raises(KeyError):
        parse_words("rows = ['%{PORT}']")


def test_a_file_is_read_beside_its_module() -> None:
    """The words of documents are such a file."""
    words = read_word_file("podpath.evidence.documents", "mentions.toml")

    assert words["words"]["kubelet"] == "kubelets?"
