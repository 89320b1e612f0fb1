"""An answer on standard output, and the command's exit code."""

from __future__ import annotations

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
from podpath.net.errors import UsageError
from podpath.report.style import Style


def show(
    answer: Result, *, as_json: bool, color: str, verbose: bool, brief: bool = False
) -> NoReturn:
    """Print an answer as the user wants it, and end the command with its exit code."""
    if as_json:
        click.echo(answer.json(), nl=False)
    else:
        keep_checks(finding.check for finding in getattr(answer, "findings", ()))
        _print(answer, choose_style(color, verbose=verbose, brief=brief))
    click.get_current_context().exit(answer.exit_code)


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
    """Write an answer into the files that are asked for."""
    if files.html:
        write_text(files.html, answer.html())
    if files.svg:
        write_text(files.svg, answer.svg())
    if files.mermaid:
        write_text(files.mermaid, answer.mermaid())


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
