"""The generated parts of docs/timeline.md: formats of logs, and the known chains of causes."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType

from podpath.timeline.chain_files import load_chains
from podpath.timeline.formats import stamped, table
from podpath.timeline.marks import WEIGHTS
from podpath.timeline.services import SERVICES
from scripts.modelled_tables import first_sentence, read_docstring


def log_formats() -> str:
    """List what logs are read: the first sentence of each format's module, and the rows of the
    table.
    """
    modules = [
        value
        for value in vars(table).values()
        if isinstance(value, ModuleType)
        and value.__name__.startswith("podpath.")
        and value is not stamped
    ]
    rows = sorted((*map(_sentence, modules), *stamped.SHOWN))
    return "".join(f"- {row}\n" for row in rows)


def _sentence(module: ModuleType) -> str:
    text = first_sentence(read_docstring(module.__name__))
    return text if text.endswith(".") else f"{text}."


def chains() -> str:
    """List the known chains: what leads to what, and where it was reported."""
    lines = [
        "| chain | what happens | what it leaves (`podpath explain`) | reported |\n",
        "|---|---|---|---|\n",
    ]
    for chain in load_chains():
        checks = ", ".join(
            dict.fromkeys(f"[{lead.check}](checks.md#{lead.check})" for lead in chain.leads)
        )
        sources = ", ".join(f"[{_short(source)}]({source})" for source in chain.sources)
        lines.append(f"| `{chain.name}` | {chain.title} | {checks} | {sources} |\n")
    return "".join(lines)


def _short(source: str) -> str:
    found = re.fullmatch(
        r"https://github\.com/(?P<repository>[^/]+/[^/]+)/(?:issues|pull)/(?P<number>\d+)", source
    )
    return (
        f"{found['repository']}#{found['number']}"
        if found is not None
        else source.rpartition("/")[2]
    )


def kinds() -> str:
    """List the kinds of events by their weight, with the services that are of each."""
    lines = ["| kind | weight | services |\n", "|---|---:|---|\n"]
    for kind, weight in WEIGHTS.items():
        services = ", ".join(service.subject for service in SERVICES if service.kind == kind)
        lines.append(f"| {kind} | {weight:g} | {services} |\n")
    return "".join(lines)


PARTS: dict[str, Callable[[], str]] = {"log-formats": log_formats, "chains": chains, "kinds": kinds}
"""By the name in a page's `<!-- generated: NAME -->`."""
