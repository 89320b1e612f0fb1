"""An answer on standard output, and the command's exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from podpath.cli.hyperlinks import CHOICE, make_linker, takes_hyperlinks
from podpath.cli.last_answer import keep_checks
from podpath.cli.options import AnswerFiles
from podpath.cli.pager import is_paged, print_long
from podpath.cli.terminal import choose_style
from podpath.library.result import DrawnResult, Result
from podpath.net.errors import PodpathError, UsageError
from podpath.report.style import Style

_UNWRITTEN = "podpath.unwritten"
"""Where a call notes which files beside its answer could not be written, and why."""


def show(
    answer: Result, *, as_json: bool, color: str, verbose: bool, brief: bool = False
) -> NoReturn:
    """Print an answer as the user wants it, and end the command with its exit code; `UsageError`,
    once it is printed, where a file beside it could not be written.
    """
    context = click.get_current_context()
    if as_json:
        click.echo(answer.json(), nl=False)
    else:
        keep_checks(finding.check for finding in getattr(answer, "findings", ()))
        _print(answer, choose_style(color, verbose=verbose, brief=brief))
    unwritten: Sequence[str] = context.meta.get(_UNWRITTEN, ())
    if unwritten:
        raise UsageError("\n".join(unwritten))
    context.exit(answer.exit_code)


def _print(answer: Result, style: Style) -> None:
    """Print an answer as text: long ones through the pager, of which few versions pass hyperlinks
    on, so that only who always wants them gets them there.
    """
    choice = click.get_current_context().meta.get(CHOICE, "auto")
    linked = replace(style, link=make_linker())
    text = answer.text(linked if choice == "always" else style)
    if choice == "auto" and takes_hyperlinks() and not is_paged(text):
        text = answer.text(linked)
    print_long(text)


def write_files(answer: DrawnResult, files: AnswerFiles) -> None:
    """Write an answer into the files that are asked for, as `write_beside` does."""
    write_beside(files.html, answer.html)
    write_beside(files.svg, answer.svg)
    write_beside(files.mermaid, answer.mermaid)


def write_beside(path: str | None, render: Callable[[], str | bytes]) -> None:
    """Write a file beside the answer, where one is asked for. Where it cannot be written, or what
    writes it is not installed, `show` says so after the answer, which took longer.
    """
    if path is None:
        return
    try:
        made = render()
        write_bytes(path, made.encode() if isinstance(made, str) else made)
    except PodpathError as error:
        note_unwritten(str(error))


def note_unwritten(why: str) -> None:
    """Note what could not be written, for `show` to say after the answer."""
    click.get_current_context().meta.setdefault(_UNWRITTEN, []).append(why)


def write_text(path: str, text: str) -> None:
    """Write a text into a file; `UsageError` where it cannot be written."""
    write_bytes(path, text.encode())


def write_bytes(path: str, data: bytes) -> None:
    """Write bytes into a file; `UsageError` where it cannot be written."""
    try:
        Path(path).write_bytes(data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"{path}: {str(reason).lower()}") from error


def write_new(path: str, text: str) -> None:
    """Write a text into a file that is not there yet; `-` is standard output."""
    if path == "-":
        click.echo(text, nl=False)
    elif Path(path).exists():
        raise UsageError(f"{path}: expected a file that does not exist yet")
    else:
        write_text(path, text)
