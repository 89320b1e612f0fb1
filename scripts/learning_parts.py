"""The generated parts of the pages that explain: who owns what, and drawn paths of recorded
incidents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from podpath.library.diagnosis import diagnose
from podpath.net.owners import OwnerRow, load_owners

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "incidents"
_DRAWN = {
    "br-netfilter": "br-netfilter-off",
    "conntrack": "kube-proxy-before-cilium",
    "rp-filter": "rp-filter-reset",
}
_MOST = 6
_HASH = re.compile(r"(?:\[0-9a-f\]){8,}")


def owners() -> str:
    """List who writes chains and tables, by what they are known, and when they write them again."""
    rows = [row for row in load_owners() if row.chains or row.tables]
    head = "| owner | chains and tables | writes them again | change instead |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {row.name} | {_name_places(row)} | {row.again} | {row.instead} |\n" for row in rows
    )


def _name_places(row: OwnerRow) -> str:
    chains = (_HASH.sub("HASH", name) for name in row.chains)
    names = [*chains, *(f"table {name}" for name in row.tables)]
    shown = ", ".join(f"`{name}`" for name in names[:_MOST])
    return shown + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")


def _draw(incident: str) -> Callable[[], str]:
    return lambda: diagnose(EXAMPLES / incident / "ticket.md").svg()


PARTS: dict[str, Callable[[], str]] = {"owners": owners}
PAGES: dict[str, Callable[[], str]] = {
    f"docs/explain/{page}.svg": _draw(incident) for page, incident in _DRAWN.items()
}
