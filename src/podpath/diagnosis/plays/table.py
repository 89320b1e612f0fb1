"""Reads the playbook: a file for each family of questions, a table `[[play]]` for each of them with
the fields of a `Play`. Clues and outputs stand there by their values.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from podpath.diagnosis.clues import Clue, Contrast, ShownPart, TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.net.data_files import read_data
from podpath.net.failures import FailureKind
from podpath.net.technologies import Technology

FAMILIES = ("services", "rules", "links", "plugins", "meshes", "hosts", "fallbacks")
"""Of plays that the clues support equally, the one listed first is asked first."""
_KINDS: tuple[Iterable[Clue], ...] = (
    FailureKind,
    TrafficKind,
    Contrast,
    Technology,
    ShownPart,
)
CLUES: Mapping[str, Clue] = {clue.value: clue for kind in _KINDS for clue in kind}


@cache
def list_plays() -> tuple[Play, ...]:
    """Return the whole playbook, read when the first question is looked for."""
    plays: list[Play] = []
    for family in FAMILIES:
        plays += parse_plays(read_data("podpath.diagnosis.plays", f"{family}.toml"))
    return tuple(plays)


def parse_plays(text: str) -> tuple[Play, ...]:
    """Parse a family's file; a field or word that does not exist is an error of ours and raises."""
    return tuple(map(_parse_play, tomllib.loads(text)["play"]))


def _parse_play(table: Mapping[str, Any]) -> Play:
    fields: dict[str, Any] = {}
    for name, value in table.items():
        fields[name] = _READERS[name](value) if name in _READERS else value
    return Play(**fields)


def _parse_signs(weights: Mapping[str, int]) -> Mapping[Clue, int]:
    return {CLUES[word]: weight for word, weight in weights.items()}


def _parse_clues(words: Sequence[str]) -> frozenset[Clue]:
    return frozenset(CLUES[word] for word in words)


def _parse_outputs(words: Sequence[str]) -> frozenset[AnsweringOutput]:
    return frozenset(map(AnsweringOutput, words))


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "decides": tuple,
    "signs": _parse_signs,
    "needs": _parse_clues,
    "held": _parse_outputs,
}
"""How each field is read that is neither a text nor a number."""
