"""Tests for what an extension says of its options."""

from __future__ import annotations

from podpath.xtables.extension import MatchExtension, OptionMeaning


def test_words_are_counted_by_option() -> None:
    """The reader of rules takes from here where an option ends."""
    flag = OptionMeaning(lambda _: lambda seen: seen.mark != 0, words=0)
    toy = MatchExtension(
        name="toy",
        options={"any": flag, "mark": OptionMeaning(lambda _: lambda seen: seen.mark == 0)},
        forms=(),
    )

    assert {"any": 0, "mark": 1} == toy.words
