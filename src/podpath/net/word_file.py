"""Files of patterns: TOML in which pieces of regular expressions have names, so that each stands
once.

`parts` are the pieces; `%{NAME}` in a pattern, or in a later part, is the part of that name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from podpath.net.data_files import read_data

_PART = re.compile(r"%\{(\w+)\}")


def read_word_file(package: str, name: str) -> dict[str, Any]:
    """Read a file beside a package's modules, its patterns filled."""
    return parse_words(read_data(package, name))


def parse_words(text: str) -> dict[str, Any]:
    """Parse a file's text, its patterns filled; a part that does not exist is an error of ours and
    raises.
    """
    table = tomllib.loads(text)
    parts: dict[str, str] = {}
    for name, part in table.pop("parts", {}).items():
        parts[name] = _fill(part, parts)
    return {name: _fill(value, parts) for name, value in table.items()}


def _fill(value: Any, parts: Mapping[str, str]) -> Any:  # noqa: ANN401  # whatever TOML holds
    """Return a value with the parts put into all texts within."""
    if isinstance(value, str):
        return _PART.sub(lambda found: parts[found[1]], value)
    if isinstance(value, list):
        return [_fill(item, parts) for item in value]
    if isinstance(value, dict):
        return {name: _fill(item, parts) for name, item in value.items()}
    return value
