"""`podpath fleet`: any number of bundles, each read, diagnosed and made a row; and what the rows
tell.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podpath.net.errors import UsageError

if TYPE_CHECKING:
    from podpath_fleet.fleet_report import ReportList

_TOLD = 2.0
"""Seconds between two words of progress."""


class _Fleet(click.Group):
    """Commands of a fleet; without a command's name, the paths of bundles to run over."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Fleet)
def fleet() -> None:
    """Read, check and diagnose any number of nodes, and tell which differ from their peers.

    \b
    Examples:
      podpath fleet bundles/ --out fleet/          every bundle of a folder; run again to continue
      podpath fleet s3://bucket/today --out fleet/ --engine dask://scheduler:8786
      podpath fleet cluster:// --out fleet/        every node of kubectl's cluster, by its agent
      podpath fleet report fleet/ --html fleet.html
      podpath fleet compare yesterday/ today/
    """  # noqa: D301  # click wants the backspace itself


@fleet.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option(
    "--out", required=True, metavar="DIR", help="Where the rows go; a run continues there."
)
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a bundle may take.",
)
@click.option(
    "--memory",
    type=click.IntRange(256),
    default=2048,
    show_default=True,
    metavar="MB",
    help="How much memory a process may use.",
)
@click.option(
    "--pool",
    default="",
    metavar="REGEX",
    help="What names the pool in a node's name. [the name without numbers and hashes at its end]",
)
@click.option(
    "--engine", default="", metavar="URL", help="dask://HOST:PORT: read on Dask's workers."
)
def run(  # noqa: PLR0913 - click gives each option as one argument
    paths: tuple[str, ...],
    out: str,
    *,
    jobs: int,
    timeout: float,
    memory: int,
    pool: str,
    engine: str,
) -> None:
    """Read every bundle that PATHS name, each in at most one row of DIR.

    A bundle that crashes its process, does not end or needs too much memory costs one row with the
    reason. What has a row is not read again: the same command continues where it stopped.

    \b
    Exit codes: 0 every bundle has an answer, 1 some have none, 2 usage error.
    """  # noqa: D301  # click wants the backspace itself
    from podpath_fleet.bundle_row import DONE
    from podpath_fleet.dask_engine import SCHEME, read_all_by_dask
    from podpath_fleet.fleet_report import list_answers, render_text
    from podpath_fleet.paths import list_bundles
    from podpath_fleet.process_pool import PoolSettings, read_all
    from podpath_fleet.questions import FleetTables
    from podpath_fleet.store import open_journal, write_tables

    if engine and not engine.startswith(SCHEME):
        raise UsageError(f"expected an engine such as dask://HOST:8786, saw {engine!r}")
    settings = PoolSettings(jobs, timeout, memory, pool)
    with open_journal(out) as journal:
        bundles = list(list_bundles(paths))
        left = [one for one in bundles if one.identity not in journal.done]
        progress = _Progress(len(left), len(bundles) - len(left))
        rows = read_all_by_dask(engine, left, settings) if engine else read_all(left, settings)
        for row in rows:
            journal.write(row)
            progress.count(failed=row.state != DONE)
    write_tables(out)
    progress.end()
    tables = FleetTables(out)
    click.echo(render_text(list_answers(tables)), nl=False)
    unanswered = any(row.state != DONE for row in tables.count_states())
    click.get_current_context().exit(1 if unanswered else 0)


class _Progress:
    """How far a run is, told on standard error."""

    def __init__(self, left: int, before: int) -> None:
        self._left, self._before = left, before
        self._done = self.failed = 0
        self._started = self._told = time.monotonic()

    def count(self, *, failed: bool) -> None:
        self._done += 1
        self.failed += failed
        if time.monotonic() - self._told >= _TOLD:
            self._told = time.monotonic()
            self._tell()

    def end(self) -> None:
        self._tell()

    def _tell(self) -> None:
        rate = self._done / max(time.monotonic() - self._started, 0.001)
        rest = self._left - self._done
        remaining = f", {rest / rate:.0f} s left" if rest and rate else ""
        known = f", {self._before:,} done before" if self._before else ""
        failed = f", {self.failed:,} without an answer" if self.failed else ""
        end = "\n" if not sys.stderr.isatty() else "\r"
        click.echo(
            f"podpath: {self._done:,} of {self._left:,} bundles, {rate:.1f}/s{remaining}{failed}"
            f"{known}{end}",
            err=True,
            nl=False,
        )


_FILES = (
    click.option("--html", metavar="FILE", help="Write it as one HTML file, too."),
    click.option("--csv", "csv_file", metavar="FILE", help="Write it as CSV, too."),
)


@fleet.command()
@click.argument("folder", metavar="DIR")
@_FILES[0]
@_FILES[1]
def report(folder: str, *, html: str | None, csv_file: str | None) -> None:
    """Tell what became of the bundles, which faults the nodes have, and which nodes differ from
    their pool.
    """
    from podpath_fleet.fleet_report import list_answers
    from podpath_fleet.questions import FleetTables

    _tell(list_answers(FleetTables(folder)), html, csv_file)


@fleet.command()
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@_FILES[0]
@_FILES[1]
def compare(before: str, after: str, *, html: str | None, csv_file: str | None) -> None:
    """Tell what differs on each node between two runs."""
    from podpath_fleet.fleet_report import list_changes
    from podpath_fleet.questions import FleetTables

    _tell(list_changes(FleetTables(after, before)), html, csv_file)


def _tell(lists: tuple[ReportList, ...], html: str | None, csv_file: str | None) -> None:
    from podpath_fleet.fleet_report import render_csv, render_html, render_text

    click.echo(render_text(lists), nl=False)
    for path, render in ((html, render_html), (csv_file, render_csv)):
        if path is None:
            continue
        try:
            Path(path).write_text(render(lists), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path}: {str(error.strerror).lower()}") from error
