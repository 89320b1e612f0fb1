"""What every answer of the library can do: print, show itself in a notebook, and become a document
of its published schema.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from podpath.net.errors import UsageError
from podpath.report.style import Style

if TYPE_CHECKING:
    from podpath.datapath.tracing.trace import Branch
    from podpath.report.drawings.path_drawing import PathDrawing


PAGE_STYLE = Style(color=True, verbose=True, width=1000)
"""How a page shows a text: the reader's window breaks its lines."""


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

    def html(self) -> str:
        """Return the answer as one HTML file to hand on, which loads and runs nothing."""
        from podpath.report.pages.text_page import render_text_page  # noqa: PLC0415 - only where it is asked for

        return render_text_page(self.text(PAGE_STYLE), self.exit_code)

    @property
    @abstractmethod
    def exit_code(self) -> int:
        """The exit code of the command that gives the same answer."""

    def data(self) -> dict[str, Any]:
        """Return the JSON document as plain Python values."""
        document: dict[str, Any] = json.loads(self.json())
        return document


class DrawnResult(Result):
    """An answer with the path of a connection, which can be drawn."""

    __slots__ = ()

    @property
    @abstractmethod
    def drawn(self) -> Branch | None:
        """The branch that is drawn; None where nothing was walked."""

    def svg(self) -> str:
        """Return the path as a drawing."""
        from podpath.report.drawings.path_svg import render_path_svg  # noqa: PLC0415 - only where something is drawn

        return render_path_svg(self._draw())

    def mermaid(self) -> str:
        """Return the path as a Mermaid diagram."""
        from podpath.report.drawings.path_mermaid import render_path_mermaid  # noqa: PLC0415 - only where something is drawn

        return render_path_mermaid(self._draw())

    def _draw(self) -> PathDrawing:
        from podpath.report.drawings.path_drawing import draw_path  # noqa: PLC0415 - only where something is drawn

        if self.drawn is None:
            raise UsageError("no connection was walked: there is no path to draw; give --probe")
        return draw_path(self.drawn)
