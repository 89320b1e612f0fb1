"""`podpath checks` and `podpath explain`: the manual of faults, printed from the checks' own
docstrings.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence

import click

from podpath.cli.last_answer import read_checks
from podpath.cli.options import pager_option
from podpath.cli.pager import print_long
from podpath.net.errors import UsageError

_HINT = (
    "\nRun `podpath explain NAME` for what it is, why it breaks, how to confirm and how to fix "
    "it.\n"
)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of text.")
@pager_option
def checks(*, as_json: bool) -> None:
    """List the faults that podpath knows by name."""
    from podpath.library import manual

    known = manual.checks()
    if as_json:
        click.echo(known.json(), nl=False)
        return
    print_long(f"{known.text()}{_HINT}")


def _complete_check(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the names of faults that begin so, for a shell."""
    from podpath.library import manual

    _ = context, parameter
    return [page.name for page in manual.checks() if page.name.startswith(incomplete)]


@click.command()
@click.argument("check", required=False, shell_complete=_complete_check)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of text.")
@pager_option
def explain(check: str | None, *, as_json: bool) -> None:
    """Print the manual page of the fault CHECK, as `podpath checks` names it; without CHECK, of
    what the last answer on a terminal found first.

    \b
    Examples:
      podpath explain rp-filter
      podpath diagnose ticket.md; podpath explain
    """  # noqa: D301  # click wants the backspace itself
    from podpath.library import manual

    names = (check,) if check is not None else read_checks()
    pages = manual.checks()
    known = {page.name for page in pages}
    found = pages[_choose_kept(names, known) if check is None else check]
    if as_json:
        click.echo(
            json.dumps(
                {"check": found.name, "summary": found.summary, "page": found.page}, indent=2
            )
        )
    else:
        others = [name for name in names if name in known and name != found.name]
        more = f"\nalso found: {', '.join(others)}\n" if others else ""
        print_long(f"{found.page.rstrip()}\n{more}")


def _choose_kept(names: Sequence[str], known: Container[str]) -> str:
    """Return the first kept name that is a check's."""
    for name in names:
        if name in known:
            return name
    raise UsageError("the last answer found no fault by name: `podpath checks` lists them")
