"""Whose a line is, in words and as a JSON object."""

from __future__ import annotations

from collections.abc import Sequence

from podpath.checks.finding import Repair
from podpath.checks.owners import owners_of_changes
from podpath.net.owners import Owner, OwnerSign
from podpath.report.escape import escape
from podpath.report.style import Style


def say_owner(owner: Owner) -> str:
    """Say whose a line is, and when it is written again."""
    if owner.ground is OwnerSign.NONE:
        return "no program that podpath knows signs it: an admin's or a script's, it seems"
    return f"{owner.program} wrote it, and writes it again {owner.again}"


def render_owner(owner: Owner | None, style: Style, indent: str) -> list[str]:
    """Render whose the deciding line is; nothing where nobody is known."""
    if owner is None:
        return []
    return [style.paint("dim", line) for line in style.wrap(escape(say_owner(owner)), indent)]


def render_undone(repair: Repair, style: Style, indent: str) -> list[str]:
    """Warn that a cure will not last, and say what to change instead."""
    lines: list[str] = []
    for owner in owners_of_changes(repair.changes):
        said = (
            f"will not last: {owner.program} writes its own again {owner.again}; "
            f"change {owner.instead} instead"
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
