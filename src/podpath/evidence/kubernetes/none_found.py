"""`kubectl get` that finds no objects: `No resources found`."""

from __future__ import annotations

import re

from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.provenance import Source
from podpath.net.statements import NoObjects

_NONE = re.compile(r"\s*No resources found(?:\.|(?: in (?P<namespace>[\w.-]+) namespace)?\.?)\s*$")
_KINDS = re.compile(r"[a-z][a-z0-9.,]*")
_PROGRAMS = frozenset({"kubectl", "oc", "k"})


def recognise(source: Source) -> int:
    """Recognize the one line that kubectl prints where it finds nothing."""
    lines = [line for line in sample(source) if line.strip()]
    return CERTAIN if lines and all(map(_NONE.match, lines)) else NO


def read(source: Source) -> Reading:
    """Read which kinds the command asked for; without a command the line says nothing."""
    ledger = LineLedger(source)
    kinds, everywhere = _find_asked(source.command or "")
    for index, line in enumerate(ledger.lines):
        found = _NONE.match(line)
        if found is not None and kinds:
            namespace = found["namespace"] or ("" if everywhere else "default")
            nothing = NoObjects(kinds, namespace)
            ledger.add(StatementRecord(span=ledger.span(index), statement=nothing))
        elif line.strip():
            ledger.head(index)
    return ledger.close("a line of kubectl get")


def _find_asked(command: str) -> tuple[tuple[str, ...], bool]:
    """Return the kinds that a plain `get` asks for, and whether in all namespaces; nothing where
    it asks for one object by its name or a label.
    """
    steps = parse_shell(command)
    words = list(steps[0].arguments) if len(steps) == 1 and steps[0].program in _PROGRAMS else []
    everywhere = bool({"-A", "--all-namespaces"} & set(words))
    plain: list[str] = []
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            if word in {"-l", "--selector", "--field-selector"} or word.startswith("-l"):
                return (), everywhere
            skip = not skip and word in {"-n", "--namespace", "-o", "--context", "--kubeconfig"}
            continue
        plain.append(word)
    if len(plain) != 2 or plain[0] != "get" or _KINDS.fullmatch(plain[1]) is None:
        return (), everywhere
    return tuple(kind.partition(".")[0] for kind in plain[1].split(",")), everywhere


FORMAT = Format("kubectl get of nothing", recognise, read)
