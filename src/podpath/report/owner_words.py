"""Whose a line is, in words and as a JSON object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podpath.checks.finding import Repair
from podpath.checks.owned import BUILT_IN
from podpath.checks.owners import owners_of_changes
from podpath.net.owners import Owned, OwnedKind, Owner, OwnerSign
from podpath.node.node import HOST
from podpath.report.escape import escape
from podpath.report.style import Style

SHOWN = 4
"""Things of one owner that are named where not everything is asked for."""
_UNSIGNED = "unknown"
_AN_ADMINS = "unsigned, probably an admin's or a script's"
_PLAIN = tuple(f"{name} " for name in sorted(BUILT_IN))


def render_owned(owned: Iterable[Owned], style: Style, indent: str) -> list[str]:
    """Render whose things are, a sentence for each owner, unknown ones last."""
    lines: list[str] = []
    for said in say_owned(owned, None if style.verbose else SHOWN):
        lines += style.wrap(escape(said), indent, f"{indent}  ")
    return [style.paint("dim", line) for line in lines]


def say_owned(owned: Iterable[Owned], most: int | None = None) -> list[str]:
    """Say whose things are, in a sentence for each owner; of each kind so many are named."""
    by_owner: dict[tuple[str, str], list[Owned]] = {}
    for one in owned:
        program = one.owner.program
        by_owner.setdefault((program, one.owner.again if program else one.kind), []).append(one)
    return [_say_group(by_owner[key], most) for key in sorted(by_owner, key=lambda key: not key[0])]


def _say_group(owned: Sequence[Owned], most: int | None) -> str:
    """Say of things of one owner whose they are, and when they are written again."""
    owner = owned[0].owner
    names: dict[OwnedKind, dict[str, None]] = {}
    for one in owned:
        place = f" in {one.netns}" if one.netns not in {"", HOST} else ""
        names.setdefault(one.kind, {})[f"{one.name}{place}"] = None
    things = ", ".join(_say_kind(kind, list(each), most) for kind, each in names.items())
    if owner.program:
        return f"written by {owner.program}, again {owner.again}: {things}"
    plain = [one.kind is OwnedKind.RULE and one.name.startswith(_PLAIN) for one in owned]
    said = f"{_AN_ADMINS if all(plain) else _UNSIGNED}: {things}"
    writers = dict.fromkeys(writer for one in owned for writer in one.writers)
    if not writers:
        return said
    named = map(str, writers) if most is None else (writer.program for writer in writers)
    return f"{said} (written by {', '.join(named)} on some nodes)"


def _say_kind(kind: OwnedKind, names: Sequence[str], most: int | None) -> str:
    left = len(names[most:]) if most is not None else 0
    more = f" and {left} more" if left else ""
    many = {OwnedKind.POLICY: "policies"}.get(kind, f"{kind}s")
    return f"{many if len(names) > 1 else kind} {', '.join(names[:most])}{more}"


def render_undone(repair: Repair, style: Style, indent: str) -> list[str]:
    """Warn that a cure will not last, and say what to change instead."""
    lines: list[str] = []
    for owner in owners_of_changes(repair.changes):
        said = (
            f"will not last: {owner.program} restores its own {owner.again}; change "
            f"{owner.instead} instead"
        )
        lines += style.wrap(escape(said), f"{indent}{style.paint('warn', '!')} ", f"{indent}  ")
    return lines


def owner_object(owner: Owner | None) -> dict[str, str] | None:
    """Return an owner as the schemas have it."""
    if owner is None or owner.ground is OwnerSign.NONE:
        return None
    return {
        "program": owner.program,
        "by": str(owner.ground),
        "sign": escape(owner.sign),
        "again": escape(owner.again),
        "instead": escape(owner.instead),
    }


def owner_objects(owners: Sequence[Owner]) -> list[dict[str, str] | None]:
    """Return owners as the schemas have them."""
    return [owner_object(owner) for owner in owners]


def owned_objects(owned: Iterable[Owned]) -> list[dict[str, object]]:
    """Return things and whose they are as the schemas have them."""
    return [_owned_object(one) for one in owned]


def _owned_object(one: Owned) -> dict[str, object]:
    span = one.span
    return {
        "kind": str(one.kind),
        "name": escape(one.name),
        "netns": escape(one.netns) or None,
        "source": escape(span.source.name) if span is not None else None,
        "line": span.line if span is not None else None,
        "owner": owner_object(one.owner),
        "writers": [escape(str(writer)) for writer in one.writers],
    }
