"""Defaults of options from `podpath.toml`: the user's own, and the one in the working directory.

The working directory may be somebody else's: its file may only say how answers look, and is not
read at all where it lies in a bundle, in evidence that is asked about, or in other hands.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from podpath.net.errors import UsageError

NAME = "podpath.toml"
LOOKS = frozenset({"brief", "color", "hyperlink", "pager", "progress", "verbose"})
"""What the file in a working directory may say."""
_BUNDLED = ("bundle.json", "netns")
"""What lies in the folder of a bundle."""
_LONGEST = 1 << 16
_TABLE = re.compile(r"\s*\[\s*([\w-]+)\s*\]")
_KEY = re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")
_AT = re.compile(r"(.*) \(at line (\d+), column \d+\)")


class _Setting(NamedTuple):
    """A key, where it stands, and what it is set to."""

    key: str
    place: str
    value: object


class ConfigFile(NamedTuple):
    """One file's settings."""

    path: str
    settings: Mapping[str, Sequence[_Setting]]
    """By the table that they stand in; above all tables: by an empty name."""
    looks_only: bool


def find_configs(arguments: Sequence[str]) -> Iterator[ConfigFile]:
    """Yield the files that count, the user's own first; `UsageError` names a file's line that is no
    TOML. `arguments` are the words of the command line: evidence is among them.
    """
    own = _find_own()
    if own is not None and _is_ours(own, links=True):
        yield _read(str(own), looks_only=False)
    here = Path(NAME)
    if _is_ours(here, links=False) and not _is_evidence(arguments):
        yield _read(NAME, looks_only=True)


def _map_options(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by their long names."""
    found: dict[str, click.Option] = {}
    for option in command.params:
        if isinstance(option, click.Option):
            for word in option.opts:
                if word.startswith("--"):
                    found[word.removeprefix("--")] = option
    return found


def map_defaults(
    name: str, command: click.Command, files: Sequence[ConfigFile], known: Sequence[str]
) -> dict[str, Any]:
    """Return the defaults of a command's parameters, as click takes them; `UsageError` where a key
    is no option, or its value none that the option takes. `known` are the names of all commands.
    """
    options = _map_options(command)
    defaults: dict[str, Any] = {}
    for file in files:
        for table, settings in file.settings.items():
            if table and table not in known:
                raise UsageError(f"{settings[0].place}: there is no command {table!r}")
        for setting in file.settings.get("", ()):
            if setting.key not in LOOKS | {"max-size", "zone", "json"}:
                _refuse(setting, f"expected it in the table of a command, such as [{name}]")
            if setting.key in options:
                _take(setting, options[setting.key], file, defaults)
        for setting in file.settings.get(name, ()):
            if setting.key not in options:
                _refuse(setting, f"`podpath {name}` has no such option")
            _take(setting, options[setting.key], file, defaults)
    return defaults


def _take(
    setting: _Setting, option: click.Option, file: ConfigFile, defaults: dict[str, Any]
) -> None:
    if file.looks_only and setting.key not in LOOKS:
        own = _find_own() or f"~/.config/podpath/{NAME}"
        _refuse(setting, f"it may only stand in {own}")
    value: Any = setting.value
    if option.is_flag and not isinstance(value, bool):
        _refuse(setting, f"expected true or false, saw {value!r}")
    values = value if option.multiple else [value]
    if not isinstance(values, list) or not all(isinstance(each, str | int) for each in values):
        _refuse(setting, f"expected {'a list of texts' if option.multiple else 'a text'}")
    try:
        for each in values:
            option.type.convert(each, option, None)
    except click.BadParameter as error:
        raise UsageError(f"{setting.place}: {setting.key}: {error.message}") from error
    defaults[option.name or ""] = value


def _refuse(setting: _Setting, why: str) -> None:
    raise UsageError(f"{setting.place}: {setting.key}: {why}")


def _find_own() -> Path | None:
    """Return where the user's own file would be (XDG Base Directory Specification)."""
    stated = os.environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(stated):  # noqa: PTH117  # it may be empty
        return Path(stated) / "podpath" / NAME
    try:
        return Path.home() / ".config" / "podpath" / NAME
    except RuntimeError:
        return None


def _is_ours(path: Path, *, links: bool) -> bool:
    """Tell whether a plain file is there that only this user, or root, can have written."""
    try:
        found = path.stat() if links else path.lstat()
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid in {os.geteuid(), 0} and not found.st_mode & 0o022


def _is_evidence(arguments: Sequence[str]) -> bool:
    """Tell whether the working directory is a bundle's, or lies in a folder that is asked about."""
    here = Path.cwd()
    if any((folder / mark).exists() for folder in (here, *here.parents) for mark in _BUNDLED):
        return True
    words = {part for word in arguments for part in (word, word.partition("=")[2]) if part}
    for word in words:
        try:
            path = Path(word).resolve()
        except (OSError, ValueError, RuntimeError):
            continue
        if path == here / NAME or (path.is_dir() and here.is_relative_to(path)):
            return True
    return False


def _read(path: str, *, looks_only: bool) -> ConfigFile:
    import tomllib  # only where there is a file

    try:
        with Path(path).open("rb") as file:
            text = file.read(_LONGEST).decode("utf-8")
        tables = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: {str(error.strerror).lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: expected UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        found = _AT.fullmatch(str(error))
        where, why = (f"{path}:{found[2]}", found[1]) if found else (path, str(error))
        raise UsageError(f"{where}: {why[:1].lower()}{why[1:]}") from error
    settings: dict[str, list[_Setting]] = {"": []}
    lines = _number_keys(text)
    for key, value in tables.items():
        if isinstance(value, dict):
            settings[key] = [
                _Setting(inner, f"{path}:{lines.get((key, inner), 1)}", each)
                for inner, each in value.items()
            ]
        else:
            settings[""].append(_Setting(key, f"{path}:{lines.get(('', key), 1)}", value))
    return ConfigFile(path, {name: each for name, each in settings.items() if each}, looks_only)


def _number_keys(text: str) -> dict[tuple[str, str], int]:
    """Return the line of each key, by its table."""
    table = ""
    lines: dict[tuple[str, str], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if found := _TABLE.match(line):
            table = found[1]
        elif found := _KEY.match(line):
            lines.setdefault((table, found[1]), number)
    return lines
