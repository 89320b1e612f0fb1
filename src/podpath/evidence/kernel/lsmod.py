"""`lsmod`, /proc/modules and their greps; `modprobe -n -v NAME`, which prints what it would load.

That `lsmod | grep NAME` prints nothing is an answer too: the module is not loaded.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import Command, parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.node_records import ModuleRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source

_HEADING = re.compile(r"\s*Module\s+Size\s+Used by")
_ROW = re.compile(
    r"\s*(?P<name>(?:[A-Za-z_]|8021q|842)[A-Za-z0-9_]*)\s+(?P<size>\d{3,10})\s+(?P<count>-?\d+)"
    r"(?:\s+(?P<users>[A-Za-z0-9_,\[\]]+))?\s*$"
)
_KNOWN = re.compile(
    r"(?:br|nf|ip|ip6|ipt|xt|nft|ebt|sch|cls|act)_\w+|bridge|bonding|vxlan|veth|openvswitch|"
    r"overlay|tun|dummy|8021q|ipip|geneve|wireguard|stp|llc|macvlan|ipvlan|x_tables|iptable_\w+|"
    r"ip6table_\w+|libcrc32c|udp_tunnel|ip6_udp_tunnel"
)
_PROC = re.compile(
    r"\s*(?P<name>[A-Za-z0-9_]+)\s+\d+\s+-?\d+\s+(?P<users>\S+)\s+(?P<state>Live|Loading|"
    r"Unloading)\s+0x[0-9a-fA-F]+"
)
_WOULD_LOAD = re.compile(r"\s*insmod\s+\S*/(?P<name>[\w-]+)\.ko(?:\.\w+)?(?:\s.*)?$")
_BUILT_IN = re.compile(r"\s*builtin\s+(?P<name>[\w-]+)\s*$")
_NOT_FOUND = re.compile(
    r"\s*(?:modprobe: |FATAL: |ERROR: |modinfo: )+.*\bModule (?P<name>[\w-]+) (?:is not currently "
    r"loaded|not found)"
)
_SYSTEM = re.compile(r"\s*libkmod: |\s*Error: could not get list of modules")
_GREPS = frozenset({"grep", "egrep", "fgrep", "rg", "ag"})
_NAME = re.compile(r"\^?(?P<name>[A-Za-z0-9_]{2,})[$\b]?")
_EXPECTED = "a module"


def recognise(source: Source) -> int:
    """Recognize the heading, or rows of a module, its size and its users; or a grep that found
    nothing.
    """
    lines = sample(source)
    if any(_HEADING.match(line) for line in lines[:3]):
        return CERTAIN
    command = parse_command(source.command)
    if not lines:
        return LIKELY if _sought(command) is not None else NO
    if max(share(lines, pattern) for pattern in (_PROC, _WOULD_LOAD, _BUILT_IN, _NOT_FOUND)) >= 0.5:
        return CERTAIN
    if share(lines, _ROW) < 0.5:
        return NO
    if command.program == "lsmod":
        return CERTAIN
    return LIKELY if all(map(_is_module, lines)) else NO


def _is_module(line: str) -> bool:
    """Tell a row from one of another table of numbers: by its name, or by a size of whole pages (as
    since Linux 4.5).
    """
    found = _ROW.match(line)
    return (
        found is None
        or int(found["size"]) % 4096 == 0
        or _KNOWN.fullmatch(found["name"]) is not None
    )


def read(source: Source) -> Reading:
    """Read modules."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        if _HEADING.match(line) or _SYSTEM.match(line):
            ledger.head(index)
        elif (found := _PROC.match(line) or _ROW.match(line)) is not None:
            users = tuple(re.findall(r"[A-Za-z0-9_]+", found["users"] or ""))
            ledger.add(ModuleRecord(span=ledger.span(index), name=found["name"], used_by=users))
        elif (built := _BUILT_IN.match(line)) is not None:
            ledger.add(ModuleRecord(span=ledger.span(index), name=_spell(built["name"])))
        elif (absent := _WOULD_LOAD.match(line) or _NOT_FOUND.match(line)) is not None:
            ledger.add(
                ModuleRecord(span=ledger.span(index), name=_spell(absent["name"]), loaded=False)
            )
    sought = _sought(parse_command(source.command))
    if sought is not None and not any(line.strip() for line in source.lines):
        ledger.add(ModuleRecord(span=ledger.span(0), name=sought, loaded=False))
    return ledger.close(_EXPECTED)


def _sought(command: Command) -> str | None:
    """Return the one module whose line a grep of lsmod or of /proc/modules looks for; None where it
    cannot be told.
    """
    if command.program == "lsmod" and len(command.filters) == 1:
        words = command.filters[0]
    elif (
        command.program in _GREPS
        and command.arguments[-1:] == ("/proc/modules",)
        and not command.filters
    ):
        words = (command.program, *command.arguments[:-1])
    else:
        return None
    patterns = [word for word in words[1:] if not word.startswith("-")]
    inverted = any(
        word.startswith("-") and not word.startswith("--") and "v" in word for word in words[1:]
    )
    found = (
        _NAME.fullmatch(patterns[0])
        if words[0] in _GREPS and len(patterns) == 1 and not inverted
        else None
    )
    return found["name"] if found is not None else None


def _spell(name: str) -> str:
    """Spell a module as lsmod does: the kernel takes `-` for `_`."""
    return name.replace("-", "_")


FORMAT = Format("lsmod", recognise, read)
