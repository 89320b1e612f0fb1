"""The verdict of a diagnosis: a closed set, with the exit code that each has."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What a diagnosis says in one word. The values are those of the published JSON schema."""

    FAULT = "fault"
    """A cause or a fault is certain."""
    POSSIBLE = "possible"
    """Undecided: causes are possible, or something forbids the all-clear."""
    NONE = "none"
    """The all-clear: what was in question was walked to the end, works, and nothing that could have
    decided is missing.
    """

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command that gives this verdict."""
        return _EXIT_CODES[self]


_EXIT_CODES = {Verdict.FAULT: 1, Verdict.POSSIBLE: 3, Verdict.NONE: 0}
