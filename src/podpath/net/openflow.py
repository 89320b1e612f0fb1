"""Lists as `ovs-ofctl` prints them: commas that stand in no parentheses and no quotes."""

from __future__ import annotations

_OPEN, _CLOSE = "([{", ")]}"


def split_outside(text: str) -> list[str]:
    """Cut a list at its own commas: `tcp,ct(table=1,zone=5)` has two parts."""
    parts, depth, start, quoted = [], 0, 0, False
    for index, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return parts
