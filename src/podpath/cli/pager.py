"""Long answers through the user's pager, as git shows its own: only on a terminal, and only what
does not fit on its screen.

The pager's command comes from the user alone (PODPATH_PAGER, PAGER), and no shell runs it.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from podpath.net.errors import UsageError
from podpath.report.escape import escape

OFF = "podpath.no-pager"
"""Where a call's `--no-pager` is kept."""
VARIABLES = ("PODPATH_PAGER", "PAGER")
"""Who says which pager is used, the first one that is set."""
USUAL = "less"
FITTING = {"LESS": "FRX", "LV": "-c"}
"""Set for the pager unless the user has: colors are passed on, and what fits on a screen needs no
key.
"""
_UNSEEN = re.compile(r"\x1b(?:\[[0-9;]*m|\]8;;[^\x1b]*\x1b\\)")
"""What takes no room on the screen: colors and the addresses of hyperlinks."""


def find_pager(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the pager's command; nothing where the user wants none, or there is none.

    `UsageError` where a variable is no command.
    """
    for name in VARIABLES:
        command = environment.get(name)
        if command is None:
            continue
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"{name}: expected a command, saw {command!r}: {error}") from error
        return [] if words in ([], ["cat"]) else words
    import shutil  # slow to load

    return [USUAL] if shutil.which(USUAL) else []


def is_paged(text: str) -> bool:
    """Tell whether a text is longer than the screen of the terminal that it is for."""
    context = click.get_current_context(silent=True)
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    if context is not None and OFF in context.meta:
        return False
    import shutil  # as above

    columns, rows = shutil.get_terminal_size()
    lines = (len(_UNSEEN.sub("", line)) for line in text.splitlines())
    return sum(max(1, -(-length // columns)) for length in lines) >= rows


def print_long(text: str) -> None:
    """Print a text on standard output, through the pager where it is longer than the screen."""
    if not is_paged(text) or not _page(text):
        click.echo(text, nl=False, color=True)


def _page(text: str) -> bool:
    """Let the pager show a text; False where there is none, or it cannot be started, which is said:
    the answer and its exit code do not depend on it.
    """
    try:
        command = find_pager()
    except UsageError as error:
        click.echo(f"podpath: {escape(str(error))}", err=True)
        return False
    if not command:
        return False
    sys.stdout.flush()
    environment = FITTING | os.environ
    if os.environ.get("SUDO_UID"):
        environment["LESSSECURE"] = "1"  # who may run podpath as root may not yet start a shell so
    import subprocess

    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        click.echo(f"podpath: pager {escape(command[0])}: {str(reason).lower()}", err=True)
        return False
    with _leaving_interrupts():
        process.communicate(text.encode(sys.stdout.encoding, "backslashreplace"))
    return True


@contextmanager
def _leaving_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the pager, which is started already."""
    import signal

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
