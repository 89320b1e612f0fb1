"""CoreDNS's Corefile: server blocks with their plugins, from a file or from the ConfigMap that
holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

_SERVER = re.compile(
    r"\s*(?:dns://|tls://)?(?P<zones>(?:[\w.*-]*:\d+|\.|[\w-]+(?:\.[\w-]+)+\.?)"
    r"(?:[ ,]+\S+)*)\s*\{\s*$"
)
_PLUGINS = frozenset(
    (
        "errors", "health", "ready", "kubernetes", "forward", "proxy", "cache", "loop", "reload",
        "loadbalance", "prometheus", "hosts", "rewrite", "template", "log", "bind", "autopath",
        "file", "etcd", "federation", "import", "lameduck", "fallthrough", "pods", "ttl",
        "upstream", "max_concurrent", "prefer_udp", "force_tcp", "policy", "success", "denial",
    )
)  # fmt: skip


def recognise_corefile(source: Source) -> int:
    """Recognize a server block above names of plugins."""
    lines = sample(source)
    words = [line.split(maxsplit=1)[0] for line in lines]
    known = sum(word in _PLUGINS for word in words)
    served = any(_SERVER.match(line) for line in lines[:5])
    if served and known >= 2:
        return CERTAIN
    return (
        LIKELY
        if known >= 3 and known >= 0.6 * sum(word not in {"}", "{"} for word in words)
        else NO
    )


def read_corefile(source: Source) -> Reading:
    """Read the server blocks; every line belongs to one."""
    ledger = LineLedger(source)
    filled = [index for index, line in enumerate(ledger.lines) if line.strip()]
    if filled:
        span = ledger.span(filled[0], filled[-1])
        placed = [
            (
                ledger.lines[index],
                Span(source, source.first_line + index, source.first_line + index),
            )
            for index in filled
        ]
        ledger.add(
            ApiObjectRecord(
                span=span,
                kind="Corefile",
                namespace="",
                name="Corefile",
                tree=grow_corefile(placed, span),
            )
        )
    return ledger.close("a Corefile")


def grow_corefile(lines: Iterable[tuple[str, Span]], span: Span) -> Tree:
    """Make a list of server blocks with `zones` and `plugins`: each plugin the list of its words.

    `options` are the lines within a plugin's own braces, the plugin's name before their words.
    """
    blocks: list[Tree] = []
    zones: Tree | None = None
    plugins: list[Tree] = []
    options: list[Tree] = []
    depth = 0
    for line, place in lines:
        text = line.partition("#")[0].strip()
        served = _SERVER.match(text) if depth == 0 else None
        if served is not None:
            zones, plugins, options, depth = Tree(value=served["zones"], span=place), [], [], 1
        elif text == "}":
            depth -= 1
            if depth == 0 and zones is not None:
                blocks.append(_make_block(zones, plugins, options, span))
                zones = None
        elif text:
            words = text.removesuffix("{").split()
            entry = Tree(value=tuple(Tree(value=word, span=place) for word in words), span=place)
            if depth <= 1:
                plugins.append(entry)
            elif plugins:
                options.append(Tree(value=(plugins[-1].items[0], *entry.items), span=place))
            depth += text.endswith("{")
    if plugins and (zones is not None or not blocks):
        blocks.append(_make_block(zones or Tree(value="", span=span), plugins, options, span))
    return Tree(value=tuple(blocks), span=span)


def _make_block(zones: Tree, plugins: list[Tree], options: list[Tree], span: Span) -> Tree:
    fields = {
        "zones": zones,
        "plugins": Tree(value=tuple(plugins), span=zones.span),
        "options": Tree(value=tuple(options), span=zones.span),
    }
    return Tree(value=fields, span=Span(span.source, zones.span.line, zones.span.line))


FORMAT = Format("Corefile", recognise_corefile, read_corefile)
