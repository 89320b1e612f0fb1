"""A command that was tried twice, with different results, and what was typed in between."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.provenance import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The same command fails and works, and commands that change the host stand between."""

    failed: Span
    worked: Span
    changes: tuple[tuple[str, Span], ...]
    """Each command that was typed between the two, with its line."""

    @property
    def is_cure(self) -> bool:
        """Tell whether it fails first: what was typed since then cured it."""
        return self.failed.line < self.worked.line
