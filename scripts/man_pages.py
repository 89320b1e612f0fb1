"""Man pages and completion scripts from what `--help` prints from: the commands themselves.

    scripts/man_pages.py FOLDER

writes FOLDER/man/man1/*.1 and the three shells' files; the wheel is built with them
(`scripts/build_hook.py`), so that `man podpath-diagnose` and Tab work once it is installed.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import click
from click.shell_completion import ShellComplete, get_completion_class

from podpath.cli.main import COMMANDS, podpath
from podpath.version import __version__

COMPLETIONS = {
    "bash": "bash-completion/completions/podpath",
    "zsh": "zsh/site-functions/_podpath",
    "fish": "fish/vendor_completions.d/podpath.fish",
}
"""Where each shell looks, below `share`."""
FILES = (
    ("~/.config/podpath/podpath.toml", "Defaults of options."),
    ("podpath.toml", "How answers look in this working directory."),
    ("~/.local/state/podpath/last-checks", "What the last answer found, for podpath explain."),
)
VARIABLES = (
    ("PODPATH_PAGER, PAGER", "What shows an answer longer than the screen."),
    ("NO_COLOR", "Set to anything: no colors."),
    ("FORCE_HYPERLINK", "1 or 0: quoted lines are hyperlinks, or are not."),
    ("PODPATH_TRACEBACK", "Set to anything: an internal error shows where it came from."),
)
_LITERAL = re.compile(r"`([^`]+)`")


def make_pages() -> Mapping[str, str]:
    """Return the pages of podpath's own commands, and their own first, by the files' names."""
    root = click.Context(podpath, info_name="podpath", **podpath.context_settings)
    pages = {"podpath.1": _render(root, "podpath", "find out why a pod cannot reach something")}
    for name, entry in COMMANDS.items():
        command = podpath.get_command(root, name)
        if command is not None and entry.is_own:
            context = click.Context(command, info_name=name, parent=root)
            pages[f"podpath-{name}.1"] = _render(context, f"podpath-{name}", entry.summary)
    return pages


def make_completions() -> Mapping[str, str]:
    """Return each shell's completion script, by its path below `share`."""
    made = {}
    for shell, path in COMPLETIONS.items():
        kind = cast("type[ShellComplete]", get_completion_class(shell))
        made[path] = kind(podpath, {}, "podpath", "_PODPATH_COMPLETE").source().strip() + "\n"
    return made


def write_share(folder: Path) -> None:
    """Write all of them below a folder that stands for `share`."""
    files = {f"man/man1/{name}": text for name, text in make_pages().items()} | {
        **make_completions()
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _render(context: click.Context, name: str, summary: str) -> str:
    command = context.command
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH {_quote(name.upper())} 1 "" {_quote(f"podpath {__version__}")}',
        ".SH NAME",
        rf"{_escape(name)} \- {_escape(summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        rf"\fB{_escape(context.command_path)}\fP {_escape(usage)}",
        ".SH DESCRIPTION",
        *_describe(command.help or ""),
    ]
    records = [
        record for each in command.get_params(context) if (record := each.get_help_record(context))
    ]
    lines += [".SH OPTIONS", *_list(records)]
    if isinstance(command, click.Group):
        lines += [".SH COMMANDS", *_list([(each, COMMANDS[each].summary) for each in COMMANDS])]
    lines += [".SH FILES", *_list(FILES), ".SH ENVIRONMENT", *_list(VARIABLES)]
    others = [each for each, entry in COMMANDS.items() if entry.is_own]
    also = ["podpath", *(f"podpath-{each}" for each in others)]
    shown = ", ".join(rf"\fB{_escape(each)}\fP(1)" for each in also if each != name)
    return "\n".join([*lines, ".SH SEE ALSO", shown, ""])


def _describe(text: str) -> Iterator[str]:
    """Yield a command's text: paragraphs are filled, those after a backspace stay as they are."""
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        yield ".PP"
        if block.startswith("\b"):
            lines = block.removeprefix("\b").strip("\n").split("\n")
            yield from (".nf", *map(_escape, lines), ".fi")
        else:
            yield _escape(" ".join(block.split()))


def _list(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, text in rows:
        yield from (".TP", rf"\fB{_escape(term)}\fP", _escape(" ".join(text.split())))


def _escape(text: str) -> str:
    """Spell a line so that roff takes none of it for its own."""
    safe = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("^", r"\(ha")
    safe = safe.replace("~", r"\(ti")
    safe = _LITERAL.sub(r"\\fB\1\\fP", safe).replace("`", r"\(ga")
    return rf"\&{safe}" if safe.startswith(".") else safe


def _quote(text: str) -> str:
    return '"' + text.replace('"', "") + '"'


if __name__ == "__main__":
    write_share(Path(sys.argv[1]))
