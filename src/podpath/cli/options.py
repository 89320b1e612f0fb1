"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple, TypeVar, cast

import click

from podpath.cli import hyperlinks, pager, progress_line
from podpath.collect.limits import DEFAULT, MAX_SIZE
from podpath.library.when import When


class AnswerFiles(NamedTuple):
    """Files that an answer is written into."""

    html: str | None
    svg: str | None
    mermaid: str | None


F = TypeVar("F", bound=Callable[..., object])
_SIZE = re.compile(r"(?P<number>[0-9]{1,12})(?P<unit>[KMGkmg]?)(?:i?B)?")
_SHIFTS = {"": 0, "K": 10, "M": 20, "G": 30}
"""By what a number is multiplied for each letter, in bits."""


def evidence_argument(function: F) -> F:
    """Take any mix of files, folders, archives and `-` for standard input."""
    return click.argument("evidence", nargs=-1, required=True, metavar="EVIDENCE...")(function)


def live_option(function: F) -> F:
    """Take this node itself as evidence, besides or instead of what is given."""

    @wraps(function)
    def demand(
        *arguments: object, evidence: tuple[str, ...], live: bool, **options: object
    ) -> object:
        if not evidence and not live:
            raise click.UsageError("Missing argument 'EVIDENCE...'.")
        return function(*arguments, evidence=evidence, live=live, **options)

    return evidence_option(cast("F", demand))


def evidence_option(function: F) -> F:
    """Take the same where evidence may come by another way, too."""
    option = click.option(
        "--live",
        is_flag=True,
        help=(
            "Query this node itself, in addition to the evidence given or instead of it. Needs "
            "root."
        ),
    )
    return click.argument("evidence", nargs=-1, metavar="EVIDENCE...")(option(function))


def node_option(function: F) -> F:
    """Choose among the nodes that the evidence is of."""
    return click.option(
        "--node", metavar="NAME", help="Which node to ask about, if the evidence covers several."
    )(function)


class NodesGiven(NamedTuple):
    """What `--node` says: a node of the evidence, or bundles by their nodes."""

    chosen: str | None
    bundles: dict[str, tuple[str, ...]]


def nodes_option(function: F) -> F:
    """Choose a node of the evidence, or take the snapshot of each node of a cluster."""
    return click.option(
        "--node",
        "nodes",
        multiple=True,
        metavar="NAME[=BUNDLE]",
        callback=_parse_nodes,
        help="The node to ask about, of several; or the snapshot of each node of a cluster.",
    )(function)


def _parse_nodes(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> NodesGiven:
    """Read NAME, or NAME=BUNDLE; bundles of one name go together."""
    bundles: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    for text in given:
        name, sign, bundle = text.partition("=")
        if sign and name and bundle:
            bundles[name] = (*bundles.get(name, ()), bundle)
        else:
            names.append(text)
    if len(names) > 1 or (names and bundles):
        raise click.BadParameter(
            "expected one NAME, or NAME=BUNDLE for each node", context, parameter
        )
    return NodesGiven(names[0] if names else None, bundles)


def limits_option(function: F) -> F:
    """Say how much of an input is read; the command gets it as `limits`."""

    @wraps(function)
    def lift(*arguments: object, max_size: int | None, **options: object) -> object:
        limits = DEFAULT if max_size is None else DEFAULT.lifted(max_size)
        return function(*arguments, limits=limits, **options)

    text = "Read this much of an input (512M, 2G) before truncating it."
    return click.option(MAX_SIZE, "max_size", metavar="SIZE", callback=_parse_size, help=text)(
        cast("F", lift)
    )


def _parse_size(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Read a size in bytes, with the letters that `du -h` and `head -c` spell multiples with."""
    if text is None:
        return None
    found = _SIZE.fullmatch(text)
    if found is None:
        raise click.BadParameter(
            f"expected a size such as 512M or 2G, saw {text!r}", context, parameter
        )
    return int(found["number"]) << _SHIFTS[found["unit"].upper()]


def output_options(function: F) -> F:
    """Say how the answer is printed."""
    function = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document of the published schema."
    )(function)
    color = click.Choice(["auto", "always", "never"])
    function = click.option(
        "--color", "color", type=color, default="auto", show_default=True, help="Color the text."
    )(function)
    function = click.option(
        "--brief",
        is_flag=True,
        help="Print three lines: the verdict, the deciding line, the cure or question.",
    )(function)
    function = progress_option(pager_option(_hyperlink_option(function)))
    return click.option(
        "-v", "--verbose", is_flag=True, help="List every gap, branch and near miss."
    )(function)


def progress_option(function: F) -> F:
    """Say whether the terminal shows what takes long."""
    return _off_option("progress", progress_line.OFF, "Show on a terminal what takes long.")(
        function
    )


def pager_option(function: F) -> F:
    """Say whether a long answer goes through the pager."""
    return _off_option("pager", pager.OFF, "Page an answer longer than the screen.")(function)


def _hyperlink_option(function: F) -> F:
    """Say whether quoted places are hyperlinks."""

    def note(context: click.Context, parameter: click.Parameter, choice: str) -> None:
        _ = parameter
        context.meta[hyperlinks.CHOICE] = choice

    return click.option(
        "--hyperlink",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=note,
        help="Link quoted lines to their files, where the terminal can.",
    )(function)


def _off_option(name: str, key: str, text: str) -> Callable[[F], F]:
    """Make an option for something that is done unless it is switched off: `key` then stands among
    the call's notes.
    """

    def note(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  # click's signature
        _ = parameter
        if not wanted:
            context.meta[key] = True

    return click.option(
        f"--{name}/--no-{name}",
        default=True,
        show_default=True,
        expose_value=False,
        callback=note,
        help=text,
    )


WINDOW = (
    click.option(
        "--failed-at",
        metavar="T",
        help="When the first failure was seen; taken from the logs by default.",
    ),
    click.option(
        "--timeout", metavar="SPAN", help="How long the failed request had waited: 10s, 500ms."
    ),
    click.option("--last-ok", metavar="T", help="When it last worked."),
    click.option(
        "--now",
        metavar="T",
        help="When the logs were taken: ages and missing years count back from that.",
    ),
    click.option(
        "--zone",
        "zones",
        multiple=True,
        metavar="ZONE",
        help="The zone of time stamps that state none; NAME=ZONE for one log. [UTC]",
    ),
)


def window_options(function: F) -> F:
    """Take when it failed and what the logs' clocks are; the command gets them as one `when`."""

    @wraps(function)
    def gather(
        *arguments: object,
        failed_at: str | None,
        timeout: str | None,
        last_ok: str | None,
        now: str | None,
        zones: tuple[str, ...],
        **options: object,
    ) -> object:
        when = When(failed_at=failed_at, timeout=timeout, last_ok=last_ok, now=now, zones=zones)
        return function(*arguments, when=when, **options)

    for option in reversed(WINDOW):
        gather = option(gather)
    return cast("F", gather)


def file_option(name: str, text: str) -> Callable[[F], F]:
    """Take a file that the answer is written into in another form, besides what is printed."""
    return click.option(name, type=click.Path(dir_okay=False), metavar="FILE", help=text)


html_option = file_option("--html", "Also write the answer as one HTML file to hand on.")


def drawing_options(function: F) -> F:
    """Take files for the answer as a page and for the drawn path; the command gets them as
    `files`.
    """

    @wraps(function)
    def gather(
        *arguments: object,
        html: str | None,
        svg: str | None,
        mermaid: str | None,
        **options: object,
    ) -> object:
        files = AnswerFiles(html=html, svg=svg, mermaid=mermaid)
        return function(*arguments, files=files, **options)

    gather = file_option("--mermaid", "Also write the drawn path as a Mermaid diagram.")(gather)
    gather = file_option("--svg", "Also write the drawn path as SVG.")(gather)
    return html_option(cast("F", gather))
