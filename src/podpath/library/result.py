"""What every answer of the library can do: print, show itself in a notebook, and become a document
of its published schema.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

from podpath.report.style import Style


class Printable(ABC):
    """Something that prints well, and shows itself in a notebook. Its subclasses are frozen."""

    __slots__ = ()

    @abstractmethod
    def text(self, style: Style | None = None) -> str:
        """Return it as text: plain and of 100 columns, unless a style says otherwise."""

    def __str__(self) -> str:
        """Return it as plain text."""
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        """Say in one line what it is: its data would fill pages."""
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        from podpath.report.notebook import render_html  # noqa: PLC0415 - only in a notebook

        return render_html(self.text(Style(color=True)))


class Result(Printable):
    """The answer to a question. Its subclasses hold the answer's data beside these ways to render
    it.
    """

    __slots__ = ()

    @abstractmethod
    def json(self) -> str:
        """Return the answer as one JSON document of its published schema."""

    @property
    @abstractmethod
    def exit_code(self) -> int:
        """The exit code of the command that gives the same answer."""

    def data(self) -> dict[str, Any]:
        """Return the JSON document as plain Python values."""
        document: dict[str, Any] = json.loads(self.json())
        return document
