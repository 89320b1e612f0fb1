"""How prose leads over to an output: as one that was printed, as one that nobody has seen, or as
what helped.
"""

from __future__ import annotations

import re

_WIDTH = 400
"""How much of the end of a sentence is looked at."""
_PRINTS = r"(?:print|say|show|report|return|output|give|read|look like|see)s?\b"
_TO_THE_END = (
    r"(?:(?!\b(?:but|however|yet|whereas|actually|(?:and|while) (?:it|i|we|here|there))\b)"
    r"[^.!?;])*:\W*$"
)
"""Up to the colon, with no word of what was printed in its place."""
_SUPPOSED = re.compile(
    r"(?<!instead of what it )(?<!instead of what )"
    r"\b(?:would|could|might|is (?:expected|supposed) to|should) (?:then |now |also |instead )*"
    rf"{_PRINTS}{_TO_THE_END}|"
    rf"\bexpect(?:s|ed)? (?:[\w-]+ ){{0,4}}to {_PRINTS}{_TO_THE_END}|"
    r"\bexpected (?:output|listing|answer)s?(?: is| was| would be)?:\W*$|"
    r"^\W*(?:(?:the|an?|this|its|their) )?(?:\w+ )?(?:(?:in|from|of) (?:the|their|its|an?) )?"
    r"(?:\w+ )?(?:manual|documentation|docs|readme|tutorial|guide|book|wiki)\b[^.!?:]{0,30}"
    r"\b(?:shows?|says?|has|prints?|gives?|expects?)\W*$|"
    rf"\b(?:similar to|just like) (?:how )?\w+ (?:handles|does|prints|says)\b{_TO_THE_END}",
    re.IGNORECASE,
)


def is_supposed(sentence: str) -> bool:
    """Tell whether the sentence above an output says that it would or should be printed."""
    return _SUPPOSED.search(sentence[-_WIDTH:]) is not None


_CLAUSE_END = re.compile(r"[.;!?](?:\s|$)")
_HELPED = re.compile(
    r"\b(?:then|now|since|afterwards?|after (?:that|this)|and|which|this|that|it|what)\b.{0,40}?"
    r"\b(?:work(?:s|ed)|help(?:s|ed)|solv(?:es|ed)|fix(?:es|ed)|cur(?:es|ed))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|nothing|nobody|none|neither|until|before|but|stop\w*|fail\w*|broke\w*|"
    r"only (?:until|till|for)|no (?:more|longer)|used to|earlier|previously|yesterday|"
    r"worked\b.{0,40}?\bthen)\b|n't\b",
    re.IGNORECASE,
)


def is_remedy(label: str) -> bool:
    """Tell whether the words above commands say that it works by them."""
    clauses = _CLAUSE_END.split(label[-_WIDTH:])
    return any(_HELPED.search(one) and not _DENIED.search(one) for one in clauses)
