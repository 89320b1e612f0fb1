"""What every answer of the library can do: print, show itself in a notebook, and become a document
of its published schema.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from podpath.net.errors import MissingExtra, UsageError
from podpath.report.style import PAGE_STYLE, Style

if TYPE_CHECKING:
    from podpath.datapath.tracing.trace import Branch
    from podpath.report.drawings.path_drawing import PathDrawing
    from podpath.report.tables import AnswerTable, TablePlan


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

    @property
    @abstractmethod
    def table_plan(self) -> TablePlan:
        """Which list of the document is the answer's table."""

    def table(self) -> AnswerTable:
        """Return the answer's main list as a table of plain values."""
        from podpath.report.tables import fill_table  # noqa: PLC0415 - only where it is asked for

        return fill_table(self.data(), self.table_plan)

    def to_dataframe(self, library: str | None = None) -> Any:  # noqa: ANN401  # of a library that need not be there
        """Return the answer's table as a data frame of pandas, else of polars, or of the `library`
        that is named; `MissingExtra` where it is not installed.
        """
        table = self.table()
        names, rows = list(table.columns), list(table.rows)
        for name in (library,) if library else ("pandas", "polars"):
            try:
                made = import_module(name)
            except ImportError:
                continue
            if name == "polars":
                return made.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
            return made.DataFrame(rows, columns=names)
        raise MissingExtra(f"to_dataframe() needs {library or 'pandas or polars'}: pip install it")

    def _repr_html_(self) -> str:
        """Show it in a notebook: its first lines, the drawing, the table, and the rest to open."""
        from podpath.report.notebook import render_cell, render_html  # noqa: PLC0415 - only in a notebook
        from podpath.report.tables import render_table  # noqa: PLC0415 - as above

        brief = render_html(self.text(Style(color=True, brief=True)))
        whole = render_html(self.text(Style(color=True)))
        return render_cell(brief, (self._picture(), render_table(self.table())), whole)

    def _picture(self) -> str:
        """Return the drawing that a notebook shows; empty where there is none."""
        return ""

    def data(self) -> dict[str, Any]:
        """Return the JSON document as plain Python values."""
        import json  # noqa: PLC0415 - slow to load

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

    def _picture(self) -> str:
        """Return the drawn path; empty where nothing was walked."""
        return self.svg() if self.drawn is not None else ""

    def _draw(self) -> PathDrawing:
        from podpath.report.drawings.path_drawing import draw_path  # noqa: PLC0415 - only where something is drawn

        if self.drawn is None:
            raise UsageError("no connection was walked: there is no path to draw; give --probe")
        return draw_path(self.drawn)
