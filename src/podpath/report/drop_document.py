"""Lines of `podpath/drops/v1` that another node sent, as terminal text. Nothing in them is trusted
to be of its kind: what is missing or strange is left out, and what is shown is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from podpath.net.owners import UNSIGNED, Owned, OwnedKind, Writer
from podpath.report.escape import escape
from podpath.report.owner_words import render_owned
from podpath.report.style import Style

ROWS = 5
"""Flows of a turn that are shown."""
_OLD = 60.0
_UNFIT = frozenset({"disagrees", "otherwise"})
MOST_EVIDENCE = 8
"""Lines of evidence that are shown of one drop."""


def render_document(document: Mapping[str, object], node: str, style: Style, clock: str) -> str:
    """Render a drop, or the rates of a turn; empty for any other line."""
    match document.get("kind"):
        case "drop":
            return _render_drop(document, node, style, clock)
        case "flows":
            return "".join(f"{line}\n" for line in _list_rates(document, node, style, clock))
        case _:
            return ""


def _render_drop(document: Mapping[str, object], node: str, style: Style, clock: str) -> str:
    reason = style.paint("bad", _text(document, "reason"))
    device = _text(document, "device")
    on = f" on {device}" if device else ""
    head = f"{clock} {escape(node)} {reason} {_text(document, 'text')}{_place(document)}{on}"
    function = _text(document, "function")
    lines = [f"{head} ({function})" if function else head]
    said, age = _text(document, "said"), _number(document, "model_age")
    if age > _OLD or (age and document.get("agreement") in _UNFIT):
        said = f"by the node's state read {age:.0f} s earlier: {said}"
    lines += style.wrap(said, "    ") if said else ()
    lines += [f"    {style.paint('dim', line)}" for line in _list_evidence(document)]
    lines += render_owned(_list_owned(document), style, "    ")
    return "".join(f"{line}\n" for line in lines)


def _list_rates(
    document: Mapping[str, object], node: str, style: Style, clock: str
) -> Iterator[str]:
    flows = document.get("flows")
    found = [each for each in flows if isinstance(each, dict)] if isinstance(flows, list) else []
    for flow in found[:ROWS]:
        rate = f"{_number(flow, 'per_second'):8.1f}/s"
        line = f"{clock} {escape(node)} {rate} {_text(flow, 'reason')} {_text(flow, 'text')}"
        yield style.paint("dim", line + _place(flow))
    if len(found) > ROWS:
        yield style.paint("dim", f"{clock} {escape(node)} and {len(found) - ROWS} more flows")


def _place(flow: Mapping[str, object]) -> str:
    """Spell which pods a packet is from and to, and where it was dropped."""
    named = (("from", _text(flow, "src_pod")), ("to", _text(flow, "dst_pod")))
    place = _text(flow, "pod") or _text(flow, "netns")
    words = [f" {word} {name}" for word, name in (*named, ("in", place)) if name]
    return "".join(words)


def _list_owned(document: Mapping[str, object]) -> Iterator[Owned]:
    """Yield whose the things are that the evidence holds."""
    whose = document.get("whose")
    for one in whose if isinstance(whose, list) else ():
        if not isinstance(one, dict) or one.get("kind") not in list(OwnedKind):
            continue
        owner, writers = one.get("owner"), one.get("writers")
        given = owner if isinstance(owner, dict) else {}
        named = writers if isinstance(writers, list) else ()
        program, again = given.get("program"), given.get("again")
        yield Owned(
            kind=OwnedKind(one["kind"]),
            name=str(one.get("name")),
            netns=str(one.get("netns") or ""),
            span=None,
            owner=replace(UNSIGNED, program=str(program or ""), again=str(again or "")),
            writers=tuple(Writer(str(each)) for each in named),
        )


def _list_evidence(document: Mapping[str, object]) -> Iterator[str]:
    evidence = document.get("evidence")
    quotes = evidence if isinstance(evidence, list) else ()
    for quote in quotes[:MOST_EVIDENCE]:
        if isinstance(quote, dict):
            place = f"{_text(quote, 'source')}:{_number(quote, 'line'):.0f}"
            yield f"{place} | {_text(quote, 'text')}"


def _text(document: Mapping[str, object], name: str) -> str:
    value = document.get(name)
    return escape(value) if isinstance(value, str) else ""


def _number(document: Mapping[str, object], name: str) -> float:
    value = document.get(name)
    if isinstance(value, int | float):
        return float(value)
    return 0.0
