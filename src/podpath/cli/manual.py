"""`podpath checks` and `podpath explain`: the manual of faults, printed from the checks' own
docstrings.
"""

from __future__ import annotations

import json

import click

from podpath.cli.options import pager_option
from podpath.cli.pager import print_long
from podpath.library import manual

_HINT = (
    "\nRun `podpath explain NAME` for what it is, why it breaks, how to confirm and how to fix "
    "it.\n"
)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of text.")
@pager_option
def checks(*, as_json: bool) -> None:
    """List the faults that podpath knows by name."""
    known = manual.checks()
    if as_json:
        click.echo(known.json(), nl=False)
        return
    print_long(f"{known.text()}{_HINT}")


@click.command()
@click.argument("check")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of text.")
@pager_option
def explain(check: str, *, as_json: bool) -> None:
    """Print the manual page of the fault CHECK, as `podpath checks` names it.

    \b
    Example:
      podpath explain rp-filter
    """  # noqa: D301  # click wants the backspace itself
    found = manual.checks()[check]
    if as_json:
        click.echo(
            json.dumps(
                {"check": found.name, "summary": found.summary, "page": found.page}, indent=2
            )
        )
    else:
        print_long(f"{found.page.rstrip()}\n")
