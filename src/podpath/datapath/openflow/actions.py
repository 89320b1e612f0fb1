"""The actions of a flow, cut as `ovs-ofctl` prints them: `name`, `name:argument`,
`name(arguments)`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.net.openflow import split_outside

_NAME = re.compile(r"[\w-]+")


class Action(NamedTuple):
    """One action."""

    name: str
    argument: str = ""
    """What stands behind the colon, or in the parentheses."""

    def __str__(self) -> str:
        """Spell it so that a reader finds it in its line."""
        if self.argument:
            return f"{self.name}({self.argument})"
        return self.name


def parse_actions(text: str) -> tuple[Action, ...]:
    """Return the actions of a list."""
    return tuple(_parse_one(part.strip()) for part in split_outside(text) if part.strip())


def _parse_one(text: str) -> Action:
    found = _NAME.match(text)
    if found is None:
        return Action(text.strip('"'), "")
    name, rest = found[0], text[found.end() :]
    if rest.startswith("(") and rest.endswith(")"):
        return Action(name, rest[1:-1])
    return Action(name, rest[1:] if rest[:1] in {":", "=", "@"} else rest)


def parse_arguments(text: str) -> dict[str, str]:
    """Return the named arguments of an action: `table=5,zone=NXM_NX_REG6[0..15]`,
    `nat(dst=10.0.0.1)`.
    """
    found = {}
    for action in parse_actions(text):
        found[action.name] = action.argument
    return found
