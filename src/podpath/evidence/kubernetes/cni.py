"""CNI configurations: a network list (`.conflist`) or one plugin's file (`.conf`), by the CNI
specification 0.1 to 1.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format
from podpath.evidence.kubernetes.records import CniRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.net.provenance import Source, Span
from podpath.net.statements import ConfiguredDevice

_KEYS = re.compile(r'"(?:cniVersion|plugins|master)"\s*:')
CNI_FILE = re.compile(r"\bcat\s+(?P<path>\S*/net\.d/\S+\.(?:conf|conflist|json))\s*$")
"""The command that prints one file of the CNI folder: what it prints is meant to be a
configuration, whatever it is.
"""
_TYPED = re.compile(r'"type"\s*:\s*"[\w.-]+"')


def recognise_cni(source: Source) -> int:
    """Recognize JSON with `cniVersion`, and plugins or a type; and whatever stands in a file of the
    CNI folder.
    """
    if CNI_FILE.search(source.command or ""):
        return CERTAIN
    head = "\n".join(source.lines[:200])[:20000]
    if not head.lstrip().startswith(("{", '"')) or not _TYPED.search(head):
        return NO
    keys = len(_KEYS.findall(head))
    if keys > 1 or '"cniVersion"' in head:
        return CERTAIN
    return LIKELY if keys else NO


def read_cni(source: Source) -> Reading:
    """Read the configuration; JSON that is cut or elided is a gap."""
    ledger = Ledger(source)
    filled = [index for index, line in enumerate(source.lines) if line.strip()]
    text = "\n".join(source.lines)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = getattr(error, "lineno", 1)
        said = "it is empty" if not filled else f"an error at its line {where}: {error}"
        return _refuse(ledger, filled, f"expected a CNI configuration in JSON, saw {said}")
    if not isinstance(value, dict):
        return _refuse(ledger, filled, "expected an object of JSON")
    listed = value.get("plugins")
    single = not isinstance(listed, list)
    plugins: list[object] = [value] if single else list(listed or ())
    ledger.add(
        CniRecord(
            span=ledger.span(filled[0], filled[-1]),
            name=_text(value.get("name")),
            version=_text(value.get("cniVersion")),
            plugins=tuple(plugin for plugin in plugins if isinstance(plugin, Mapping)),
            single=single,
        )
    )
    for plugin in plugins:
        _add_parent(ledger, plugin, ledger.span(filled[0], filled[-1]))
    return ledger.close("a CNI configuration")


def _add_parent(ledger: Ledger, plugin: object, span: Span) -> None:
    """Add the device of the host on which a plugin hangs what it makes (macvlan, ipvlan, vlan)."""
    master = _text(plugin.get("master")) if isinstance(plugin, Mapping) else None
    if master:
        try:
            wanted = ConfiguredDevice("CNI", parse_name(master))
        except ValueError as error:
            ledger.gap(span.line - ledger.source.first_line, str(error))
        else:
            ledger.add(StatementRecord(span=span, statement=wanted))


def _refuse(ledger: Ledger, filled: list[int], why: str) -> Reading:
    """Keep what is no configuration: as a record where it stands in the CNI folder, since a runtime
    would meet it there.
    """
    if CNI_FILE.search(ledger.source.command or ""):
        span = ledger.span(filled[0], filled[-1]) if filled else Span(ledger.source, 1, 1)
        ledger.add(CniRecord(span=span, name=None, version=None, plugins=(), fault=why))
    else:
        ledger.gap(filled[0] if filled else 0, why, filled[-1] if filled else 0)
    return ledger.close("a CNI configuration")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


FORMAT = Format("CNI configuration", recognise_cni, read_cni)
