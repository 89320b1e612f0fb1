"""The manual of the faults that podpath knows by name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from podpath.checks.registry import CHECKS, Check
from podpath.library.result import Printable
from podpath.net.errors import UsageError
from podpath.report.style import Style


@dataclass(frozen=True, slots=True, repr=False)
class Manual(Printable):
    """The faults that podpath knows by name, each with its manual page."""

    pages: tuple[Check, ...]
    """One for each fault, what breaks pods most often first."""

    def __iter__(self) -> Iterator[Check]:
        """Yield the faults, what breaks pods most often first."""
        return iter(self.pages)

    def __len__(self) -> int:
        """Return how many faults there are."""
        return len(self.pages)

    def __getitem__(self, name: str) -> Check:
        """Return the fault of that name; `UsageError` names the nearest one where there is none."""
        found = next((check for check in self.pages if check.name == name), None)
        if found is None:
            near = difflib.get_close_matches(name, [known.name for known in self.pages], n=1)
            hint = f"did you mean {near[0]!r}?" if near else "`podpath checks` lists them"
            raise UsageError(f"expected the name of a fault, saw {name!r}; {hint}")
        return found

    def text(self, style: Style | None = None) -> str:
        """Return one line for each fault."""
        _ = style
        width = max((len(check.name) for check in self.pages), default=0)
        return "".join(f"{check.name:<{width}}  {check.summary}\n" for check in self.pages)

    def json(self) -> str:
        """Return a JSON list of the faults, as `podpath checks --json` prints it."""
        rows = [
            {
                "check": check.name,
                "summary": check.summary,
                "walk_only": check.found_by == "a walk",
                "categories": list(check.categories),
            }
            for check in self.pages
        ]
        return json.dumps(rows, indent=2) + "\n"


def checks() -> Manual:
    """Return the manual of the faults that podpath knows by name."""
    return Manual(CHECKS)
