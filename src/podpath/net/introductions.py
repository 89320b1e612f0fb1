"""How prose leads over to an output: as one that was printed, or as one that nobody has seen."""

from __future__ import annotations

import re

_SUPPOSED = re.compile(
    r"\b(?:would|could|might|is (?:expected|supposed) to|should) (?:then |now |also |instead )*"
    r"(?:print|say|show|report|return|output|give|read|look like|see)s?\b[^.!?]*:\W*$|"
    r"\b(?:similar to|just like) (?:how )?\w+ (?:handles|does|prints|says)\b[^.!?]*:\W*$",
    re.IGNORECASE,
)


def is_supposed(sentence: str) -> bool:
    """Tell whether the sentence above an output says that it would or should be printed."""
    return _SUPPOSED.search(sentence) is not None
