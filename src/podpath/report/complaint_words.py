"""Which connection a complaint was taken for, in words: its ends, and how each was found."""

from __future__ import annotations

from podpath.diagnosis.complained import ChosenBy, Complained

_WORDS: dict[ChosenBy, str] = {
    ChosenBy.NAMED: "named",
    ChosenBy.ONLY: "the only one shown",
    ChosenBy.FIRST: "the first of several shown",
    ChosenBy.USUAL: "the usual choice, since nothing says otherwise",
}


def say_complained(one: Complained) -> str:
    """Say what was asked about, and which parts of it were chosen."""
    parts = "; ".join(
        f"{choice.side.value} {choice.value} ({_WORDS[choice.how]})" for choice in one.choices
    )
    return f"Walked for the complaint at {one.span}: {one.probe}. {parts[:1].upper()}{parts[1:]}."
