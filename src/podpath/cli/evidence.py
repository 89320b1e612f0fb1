"""Evidence from the command line to the case of one node, with a word about the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from podpath.collect.limits import DEFAULT, Limits
from podpath.library.given import Piece
from podpath.library.progress import Progress
from podpath.report.escape import escape

if TYPE_CHECKING:
    from podpath.library.case import Case


def read_one(
    pieces: Sequence[Piece],
    asking: Sequence[str] = (),
    *,
    node: str | None = None,
    limits: Limits = DEFAULT,
    progress: Progress,
) -> Case:
    """Read all evidence; of several nodes say which one is taken, and how to choose another."""
    from podpath.library.asked_ends import doubt_ends
    from podpath.library.reading import read

    case = read(pieces, asking=asking, node=node, limits=limits, progress=progress)
    names = [escape(one.name) for one in case.nodes]
    if len(names) > 1:
        said = (
            f"the evidence covers {len(names)} nodes ({', '.join(names)}); this answer is about "
            f"{names[0]}; choose another with --node"
        )
        click.echo(f"podpath: {said}", err=True)
    say_doubt(doubt_ends((case,), asking))
    return case


def say_doubt(sentences: Sequence[str]) -> None:
    """Say which ends are probably mistyped, beside the answer."""
    for sentence in sentences:
        click.echo(f"podpath: {escape(sentence)}", err=True)
