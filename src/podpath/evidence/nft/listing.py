"""What an nft command lists."""

from __future__ import annotations

from podpath.evidence.commands.command import parse_command

_VALUED = frozenset({"-f", "-I", "-D", "--file", "--includepath", "--define"})
_HARMLESS = frozenset({"cat", "less", "more", "tee", "jq"})


def scope_of(command: str | None) -> str:
    """Say what a command lists: `ruleset`, `table`, `chain`, ...; `part` where its output was cut;
    empty where nobody knows.
    """
    parsed = parse_command(command)
    if any(words[0].rpartition("/")[2] not in _HARMLESS for words in parsed.filters):
        return "part"
    if parsed.program != "nft":
        return ""
    words: list[str] = []
    skip = False
    for word in parsed.arguments:
        if skip or word.startswith("-"):
            skip = not skip and word in _VALUED
            continue
        words.append(word)
    if len(words) < 2 or words[0] != "list":
        return ""
    family_only = words[1] == "ruleset" and len(words) > 2
    return "tables" if family_only else words[1]
