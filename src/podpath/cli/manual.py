"""`podpath checks` and `podpath explain`: the manual of faults, printed from the checks' own docstrings."""

from __future__ import annotations

import difflib
import json

import click

from podpath.checks.registry import CHECKS, find_check
from podpath.net.errors import UsageError


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of text.")
def checks(*, as_json: bool) -> None:
    """List the faults that podpath knows by name."""
    if as_json:
        rows = [
            {
                "check": check.name,
                "summary": check.summary,
                "walk_only": check.found_by == "a walk",
                "categories": list(check.categories),
            }
            for check in CHECKS
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    width = max(len(check.name) for check in CHECKS)
    for check in CHECKS:
        click.echo(f"{check.name:<{width}}  {check.summary}")
    click.echo("\nRun `podpath explain NAME` for what it is, why it breaks, how to confirm and how to fix it.")


@click.command()
@click.argument("check")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of text.")
def explain(check: str, *, as_json: bool) -> None:
    """Print the manual page of the fault CHECK, as `podpath checks` names it.

    \b
    Example:
      podpath explain rp-filter
    """  # noqa: D301  # click wants the backspace itself
    found = find_check(check)
    if found is None:
        near = difflib.get_close_matches(check, [known.name for known in CHECKS], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`podpath checks` lists them"
        raise UsageError(f"expected the name of a fault, saw {check!r}; {hint}")
    if as_json:
        click.echo(json.dumps({"check": found.name, "summary": found.summary, "page": found.page}, indent=2))
    else:
        click.echo(found.page.rstrip())
