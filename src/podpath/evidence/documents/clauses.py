"""The clauses of a sentence that says of one thing that it works and of another that it does not.

`Containers reach the host, but nothing beyond it` says two things of one subject. A clause without
a subject of its own has that of the clause before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_NOT_WHO = (
    r"(?:those|that|which|what|than|as|if|when|how|so|to|of|from|by|and|but|"
    r"no|not|none|nobody|nor|neither|never|hardly|barely|few|only|either|"
    r"sometimes|occasionally|rarely|maybe|perhaps|probably|possibly|"
    r"whether|unless|until|before|earlier|previously|formerly|yesterday|once|where|why|who|"
    r"because|since|although|though|like|i|we|they|you|he|she|it|"
    r"guess|think|suppose|assume|believe|wonder|expect|hope)"
)
"""Words before somebody of whom then nothing is said, or less, or of another moment."""
_WHO = (
    rf"(?:(?!{_NOT_WHO}\b)[\w.'-]+ ){{0,3}}"
    r"(?:pods?|nodes?|hosts?|containers?|guests?|machines?|vms?|clients?)(?: itself| themselves)?"
    r"(?: (?:on|in|of|behind|inside) (?:[\w.'-]+ ){0,3}?[\w.'-]+)?"
)
_AUXILIARY = (
    r"(?:do(?:es)?|did|ca(?=n['\u2019])|can|could|is|are|will)(?P<denied>n['\u2019]t| ?not)?"
    r"(?: (?:so|at all|any ?more|either|fine|just fine))?(?=[.,;:!]|$)"
)
_ELIDED = rf"{_WHO} {_AUXILIARY.replace('?P<denied>', '?:')}"
MOST = 12
"""Clauses of a sentence that are looked at."""
_JOINT = re.compile(
    r"[,:]?\s+(?=(?:but|whereas|although|though|however|while)\b)|"
    r",\s+(?=(?:yet|and (?:not|nothing|nobody|none|neither|no)|nothing|nobody|none|neither|not)\b)|"
    r"\s+(?=and (?:nothing|nobody|none|not)\b)|;\s+(?=\w)|"
    r",?\s+(?=and (?:hangs?|fails?|times? out|is (?:lost|refused)|gets? no|never|cannot|"
    r"does not)\b)|"
    rf",?\s+(?=(?:and|but|whereas|while) {_ELIDED})|,\s+(?={_ELIDED})|"
    r",\s+(?=(?:one|that|those) (?:to|from|on|of|at) )|"
    r",\s+(?=(?:(?:all|the) )?(?:others?|other \w+|rest) (?:can|do|does|works?)\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:but|whereas|although|though|however|while|yet|and)\b,?\s*)+", re.IGNORECASE
)
_DENIED = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
_ARE_DENIED = re.compile(r"\b(?:is|are)(?: not\b|n['\u2019]t\b)", re.IGNORECASE)
_ABLE = re.compile(r"ca|could|will", re.IGNORECASE)
_WISHED = re.compile(
    r"\b(?:to (?:reach|get|see|ping|open|resolve|access|connect)|want\w*|need\w*|"
    r"tr(?:y|ies|ied|ying)|attempt\w*|expect\w*|should|would|must|may|might|if|when|whether|how|suppos\w*|before|until|unless)\b",
    re.IGNORECASE,
)
"""What makes a clause no statement of what happens now."""
_BEING = re.compile(r"is|are", re.IGNORECASE)
_DENIAL = re.compile(
    r"^(?:not|nothing|nobody|none|neither|never|no(?! (?:problem|trouble|issue|error|failure|"
    r"change|difference)))\b",
    re.IGNORECASE,
)
_DOES = re.compile(_AUXILIARY, re.IGNORECASE)
_WHO_DOES = re.compile(rf"{_WHO} (?P<does>{_AUXILIARY})", re.IGNORECASE)


class Clause(NamedTuple):
    """A part of a sentence with a verdict of its own."""

    text: str
    works: bool


def find_elision(text: str) -> re.Match[str] | None:
    """Return what a clause has of its verb where it leaves the verb itself to the clause before,
    its group `denied` where it denies it: `pods do not`, `the node itself can`.
    """
    found = _WHO_DOES.match(text)
    return None if found is None else _DOES.match(text, found.start("does"))


def split_clauses(text: str, judge: Callable[[str], bool | None]) -> tuple[Clause, ...]:
    """Return the clauses of a sentence that says of some that they work and of others that they do
    not; none where it says one thing alone. `judge` tells what a clause says, if anything.
    """
    clauses: list[Clause] = []
    before = ""
    for part in _cut(text):
        works = judge(part)
        elided = find_elision(_OPENING.sub("", part))
        if works is None and elided is not None:
            works = _judge_elided(elided, before or (clauses[-1].text if clauses else ""))
        if works is False and elided is not None and before and not _WISHED.search(before):
            clauses.append(Clause(before.removesuffix("; "), works=True))
            before = ""
        if works is None and _DENIAL.match(_OPENING.sub("", part)):
            works = False
        if works is None and clauses:
            clauses[-1] = clauses[-1]._replace(text=f"{clauses[-1].text}; {part}")
        elif works is None:
            before += f"{part}; "
        else:
            clauses.append(Clause(before + _OPENING.sub("", part), works))
            before = ""
    both = {clause.works for clause in clauses}
    return tuple(clauses) if len(both) > 1 else ()


def _judge_elided(elided: re.Match[str], before: str) -> bool | None:
    """Tell whether somebody does what the clause before says; None where that clause names a
    failure, as `the node hangs, its pods do` does.
    """
    denied = elided["denied"] is not None
    if _ABLE.match(elided[0]) or denied:
        return not denied
    denial = _ARE_DENIED if _BEING.match(elided[0]) else _DENIED
    return True if denial.search(before) else None


def _cut(text: str) -> Iterator[str]:
    start = 0
    for count, found in enumerate(_JOINT.finditer(text)):
        if count == MOST:
            break
        yield text[start : found.start()]
        start = found.end()
    yield text[start:]
