"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])


def evidence_argument(function: F) -> F:
    """Take any mix of files, folders, archives and `-` for standard input."""
    return click.argument("evidence", nargs=-1, required=True, metavar="EVIDENCE...")(function)


def output_options(function: F) -> F:
    """Say how the answer is printed."""
    function = click.option("--json", "as_json", is_flag=True, help="Print one JSON document of the published schema.")(function)
    colour = click.Choice(["auto", "always", "never"])
    function = click.option("--color", "colour", type=colour, default="auto", show_default=True, help="Colour the text.")(
        function
    )
    return click.option("-v", "--verbose", is_flag=True, help="List every gap, branch and near miss.")(function)
