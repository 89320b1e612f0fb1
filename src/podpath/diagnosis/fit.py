"""How what a walk says fits what somebody saw."""

from __future__ import annotations

from enum import StrEnum


class Fit(StrEnum):
    """How a world fits a symptom."""

    EXPLAINS = "explains"
    KEEPS = "keeps"
    """It worked, and works."""
    CONTRADICTS = "contradicts"
    UNDECIDED = "undecided"
    OPEN = "open"
    """Nobody says what became of it."""
