"""`podpath trace`: one connection, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from podpath.cli.evidence import read_one
from podpath.cli.options import (
    AnswerFiles,
    drawing_options,
    limits_option,
    live_option,
    node_option,
    output_options,
)
from podpath.cli.output import show, write_files
from podpath.cli.progress_line import ProgressLine
from podpath.collect.limits import Limits
from podpath.library.given import Piece, ThisNode

if TYPE_CHECKING:
    from podpath.library.case import Case


@click.command()
@live_option
@node_option
@limits_option
@click.option(
    "--flows",
    metavar="FILE",
    help="A table of connections instead of one: CSV, JSON lines or Parquet.",
)
@click.option(
    "--answers",
    metavar="FILE",
    help="With --flows: write the table with the answer of each (.csv, .jsonl, .parquet).",
)
@click.option(
    "--probe",
    metavar="P",
    help="The connection, e.g. 'tcp 172.16.0.30 > 104.17.32.82:80'.",
)
@click.option(
    "--size",
    type=click.IntRange(28, 65535),
    metavar="BYTES",
    help="The length of IP packets with data, both ways; the same as `size BYTES` in P.",
)
@drawing_options
@output_options
def trace(  # noqa: PLR0913 - click gives each option as one argument
    evidence: tuple[str, ...],
    probe: str | None,
    flows: str | None,
    answers: str | None,
    *,
    size: int | None,
    live: bool,
    node: str | None,
    limits: Limits,
    files: AnswerFiles,
    as_json: bool,
    color: str,
    verbose: bool,
    brief: bool,
) -> None:
    """Follow one connection through the node, packet by packet and step by step.

    Every step names the kernel function that decides and quotes the line of evidence that it
    decided by. Whatever is unknown forks the walk: the branches are listed with what each assumes.

    \b
    Examples:
      podpath trace bundle/ --probe 'tcp 10.244.1.5 > 10.96.0.1:443'
      podpath trace rules.txt routes.txt --probe 'udp 10.0.0.5:5353 > 10.0.0.53:53 in eth0' --json
      podpath trace bundle/ pods.txt services.txt --probe 'tcp pod/shop/web-0 > svc/shop/api:http'
      sudo podpath trace --live --probe 'icmp 10.244.1.5 > 1.1.1.1'
      podpath trace bundle/ --probe 'udp 10.244.1.5 > 10.244.2.7:53 df' --size 1472
      podpath trace bundle/ --probe 'tcp 10.244.1.5 > 10.96.0.1:443 uid 1337 mark 0x40'
      podpath trace bundle/ --flows flows.csv --answers answers.parquet

    \b
    Exit codes: 0 it works, 1 it never works or only sometimes, 2 usage error or unreadable input,
    3 undecided.
    """  # noqa: D301  # click wants the backspace itself
    if (probe is None) is (flows is None):
        raise click.UsageError("expected either --probe or --flows.")
    if answers is not None and flows is None:
        raise click.UsageError("--answers needs --flows.")
    progress = ProgressLine()
    pieces: tuple[Piece, ...] = (ThisNode(), *evidence) if live else evidence
    if flows is not None:
        if size is not None:
            raise click.UsageError("--size goes with --probe; a table has a column `options`.")
        case = read_one(pieces, (), node=node, limits=limits, progress=progress)
        _walk_table(case, flows, answers, progress, as_json=as_json)
    from podpath.library import trace as tracing

    probe = str(probe) if size is None else f"{probe} size {size}"
    case = read_one(pieces, (probe,), node=node, limits=limits, progress=progress)
    answer = tracing.trace(case, probe, progress=progress)
    write_files(answer, files)
    show(answer, as_json=as_json, color=color, verbose=verbose, brief=brief)


def _walk_table(
    case: Case, flows: str, answers: str | None, progress: ProgressLine, *, as_json: bool
) -> NoReturn:
    """Walk a table of connections, and end the command with the exit code of the worst of them."""
    from podpath.library.many import walk_many

    walked = walk_many(case, flows, progress=progress)
    click.echo(walked.json() if as_json else walked.text(), nl=False)
    if answers is not None:
        walked.write(answers)
    click.get_current_context().exit(walked.exit_code)
