"""`podpath protect order`: the order of base chains' jumps checked and mended."""

from __future__ import annotations

import json

import click

from podpath.cli.terminal import choose_style
from podpath.net.errors import UsageError
from podpath.report.escape import escape
from podpath_protect.apply import Applier
from podpath_protect.cli.text import finding_document, render_findings
from podpath_protect.cli.watch import run_part
from podpath_protect.order.guard import OrderGuard, OrderOutcome
from podpath_protect.order.keeper import keep_order
from podpath_protect.order.options import OrderOptions, gather_rules

SCHEMA = "podpath/order/v1"
WATCH_SCHEMA = "podpath/watch/v1"
WRONG = 1


@click.command()
@click.option("--fix", is_flag=True, help="Move each jump that comes too late.")
@click.option("--dry-run", is_flag=True, help="Show what --fix would do, but change nothing.")
@click.option(
    "--watch", is_flag=True, help="Keep watching: check again at every change, until interrupted."
)
@click.option("--leave-out", multiple=True, metavar="RULE", help="Do not enforce this rule.")
@click.option(
    "--rules", "list_them", is_flag=True, help="List the known orders, with their sources."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def order(
    *,
    fix: bool,
    dry_run: bool,
    watch: bool,
    leave_out: tuple[str, ...],
    list_them: bool,
    as_json: bool,
) -> None:
    """Check that jumps in base chains stand in the order that CNIs depend on, such as
    CILIUM_FORWARD before KUBE-FORWARD.

    Reads both backends of iptables, IPv4 and IPv6; a jump is moved in one transaction, never
    doubled. Needs CAP_NET_ADMIN.

    \b
    Examples:
      sudo podpath protect order
      sudo podpath protect order --fix --dry-run
      sudo podpath protect order --fix --watch

    \b
    Exit codes: 0 the order holds (after --fix), 1 it does not, 2 usage error.
    """  # noqa: D301  # click wants the backspace itself
    try:
        options = OrderOptions(mode="fix" if fix or dry_run else "report", leave_out=leave_out)
    except ValueError as error:
        raise UsageError(f"expected {error}") from error
    rules = gather_rules(options)
    if list_them:
        for rule in rules:
            click.echo(
                f"{rule.name}: {rule.table} {rule.chain}: {rule.first} before "
                f"{', '.join(rule.then)}\n    {rule.why}"
            )
            click.echo(f"    {rule.source}")
        return
    if watch:
        held = run_part(
            lambda context: keep_order(context, options, Applier(dry_run=dry_run)),
            WATCH_SCHEMA,
            as_json=as_json,
        )
        click.get_current_context().exit(0 if held else WRONG)
    outcome = OrderGuard(rules, Applier(dry_run=dry_run), mend=options.mode == "fix").look(0.0)
    if as_json:
        click.echo(json.dumps(outcome_document(outcome), indent=2))
    else:
        click.echo(render_outcome(outcome), nl=False)
    click.get_current_context().exit(0 if outcome.holds else WRONG)


def render_outcome(outcome: OrderOutcome) -> str:
    """Write what a look found and did."""
    style = choose_style("auto", verbose=False)
    lines: list[str] = []
    for move in outcome.moves:
        place = move.disorder.listing.place.program
        why = f": {escape(move.why)}" if move.why else ""
        lines.append(f"{move.state}: {escape(move.disorder.rule.name)} in {place}{why}")
        script = move.script.rstrip("\n")
        lines += [f"    {escape(line)}" for line in script.split("\n")]
    if not outcome.findings:
        lines.append(f"{style.arrived} the jumps of {outcome.chains} base chains are in order")
    return "".join(f"{line}\n" for line in lines) + render_findings(outcome.findings, style)


def outcome_document(outcome: OrderOutcome) -> dict[str, object]:
    """Return what a look found and did, as JSON has it."""
    return {
        "schema": SCHEMA,
        "holds": outcome.holds,
        "chains": outcome.chains,
        "moves": [
            {
                "rule": move.disorder.rule.name,
                "program": move.disorder.listing.place.program,
                "state": move.state,
                "script": move.script,
                "why": move.why,
            }
            for move in outcome.moves
        ],
        "findings": [finding_document(each) for each in outcome.findings],
    }
