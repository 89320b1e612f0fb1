"""Shell prompts: where on a line a typed command starts, and how sure that is.

A prompt that names a user and a host is one whatever follows. `$`, `#` and `>` alone are also a
comment's sign, a heading's, a quotation's or the request lines of `curl -v`: they are prompts only
before something that reads as a command.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.documents.programs import is_program, reads_as_command
from podpath.evidence.documents.prose import reads_as_prose


class Prompt(NamedTuple):
    """A prompt with what was typed at it."""

    text: str
    """The prompt, e.g. `root@node1:~ #`."""
    command: str
    """What was typed after it; empty where nothing was."""
    indent: str
    """White space before the prompt."""
    named: bool
    """True where it names a host, or a place within one: nothing but a prompt looks like it."""


_NAMED = re.compile(
    r"""(?P<prompt>
        \[[\w.+-]+@[\w.-]+(?:[ :][^\]]*)?\][ ]?[#$%>]                         # [root@node1 ~]#
      | (?:\([\w.\ /-]+\)[ ]?|[%>][ ])?[\w.+-]+@[\w.-]+(?:[ ]*:[ ]*|[ ]+)?
        (?:[~/][^\s#$%>]*)?[ ]{0,3}[#$%>]                                     # root@node1:~ #
      | [\w.+-]+@[\w.-]+[ ]\w[\w.-]*[ ]%                                       # user@mac folder %
      | \[[\w.+-]+\]@\[?[\w.-]+\]?[ :]?(?:\[[^\]]*\])?[ ]?[#$%>]                # [user]@host[~]$
    )(?:[ \t]+(?P<command>\S.*)|(?P<empty>[ \t]*$)|(?<=[#$])(?P<glued>[a-z/].*))""",
    re.VERBOSE,
)
_PLACED = re.compile(
    r"""(?P<prompt>
        (?:~|/[\w./-]*)[ ][#$]                             # / #, of a container
      | (?:ba|a|z|da)?sh-\d[\d.]*[#$]                       # bash-5.1#
      | \[[\w.-]+(?:[ ][^\]]*)?\][ ]?[#$]                   # [node1 ~]#, [upf]#
      | [\w.-]+:[\w.~/-]+[ ][\w.-]+[$]                      # Mac:folder user$
      | \d\d?:\d\d(?::\d\d)?[ ][#$]                         # 15:18 $
      | <\d{1,5}>[ ]?[#$]                                   # <556> #
      | PS[ ][A-Z]:\\[^>]*>                                 # PS C:\>
      | [\w.-]+(?:[ ]?:[ ]?|[ ])[~/][^\s#$%>]*[ ]{0,2}[#$>]  # node1:~ #, node1 ~>
      | (?P<unsure>[\w.-][#$]|[\w.-]+>)                     # a#, node1>
      | [\w.-]{2,}[#$]                                      # node1#
      | [\w.-]*(?:\u279c|\u276f|\u03bb|\u00bb)(?:[ ]+[~/]\S*(?=[ ]))?        # themes
    )(?:[ \t]+(?P<command>\S.*)|(?P<empty>[ \t]*$))""",
    re.VERBOSE,
)  # fmt: skip
_BARE = re.compile(
    r"(?P<prompt>\$ \$|[$#%>])(?:[ \t]+(?P<command>\S.*)|(?<=\$)(?P<glued>[a-z/.]\S*(?:[ \t].*)?))"
)


def match_prompt(line: str) -> Prompt | None:
    """Read a line as a prompt with a command; None where it is none."""
    stripped = line.strip()
    if not stripped or len(stripped) > 4000:
        return None
    indent = line[: len(line) - len(line.lstrip())]
    if "@" in stripped:
        named = _NAMED.fullmatch(stripped)
        if named is not None:
            return Prompt(named["prompt"], named["command"] or named["glued"] or "", indent, True)
    return _match_placed(stripped, indent) or _match_bare(stripped, indent)


def _match_placed(stripped: str, indent: str) -> Prompt | None:
    found = _PLACED.fullmatch(stripped)
    if found is None:
        return None
    command = found["command"] or ""
    if not command:
        # `host#` alone could be anything; a path before the sign, or a shell's own name, could not
        return (
            Prompt(found["prompt"], "", indent, True)
            if re.search(r"[~/]|sh-\d", found["prompt"])
            else None
        )
    known = reads_as_command(command) and (not found["unsure"] or is_program(command))
    return Prompt(found["prompt"], command, indent, True) if known else None


def _match_bare(stripped: str, indent: str) -> Prompt | None:
    found = _BARE.fullmatch(stripped)
    if found is None:
        return None
    sign, command = found["prompt"], found["command"] or found["glued"]
    if sign == "$":
        known = is_program(command) or (reads_as_command(command) and not reads_as_prose(command))
    else:
        known = is_program(command) and reads_as_command(command)
    return Prompt(sign, command, indent, False) if known else None
