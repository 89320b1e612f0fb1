"""`podpath protect chain`: keep a plugin in the CNI configuration, take it out, and judge a
folder.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import click

from podpath.cni.lint import Lint, lint_folder
from podpath.cni.runtimes import RuntimeSettings, RuntimeVerdict
from podpath.net.errors import UsageError
from podpath.report.escape import escape
from podpath_protect.agent.keeper import KeeperContext, KeeperStatus
from podpath_protect.apply import Applier, Effect
from podpath_protect.chain.crictl import compare_loaded
from podpath_protect.chain.folder import list_programs, probe_programs, read_folder
from podpath_protect.chain.guard import ChainGuard
from podpath_protect.chain.keeper import keep_chain, make_status
from podpath_protect.chain.options import ChainOptions, KubeconfigOptions
from podpath_protect.chain.removal import remove as take_out

F = TypeVar("F", bound=Callable[..., object])
CODES = {"error": 1, "warning": 0, "note": 0, None: 0}


@click.group()
def chain() -> None:
    """Keep a plugin in the CNI configuration that the container runtime loads.

    \b
    Examples:
      podpath protect chain lint /etc/cni/net.d
      podpath protect chain keep --entry /config/linkerd-cni.json --binary /opt/linkerd-cni
      podpath protect chain remove --entry /config/linkerd-cni.json --dry-run
    """  # noqa: D301  # click wants the backspace itself


def chain_options(function: F) -> F:
    """Say which plugin, and where."""
    for option in (
        click.option(
            "--dry-run", is_flag=True, help="Show what would be changed, but change nothing."
        ),
        click.option(
            "--account-dir",
            default="/var/run/secrets/kubernetes.io/serviceaccount",
            help="Where the token is mounted.",
        ),
        click.option(
            "--server", default="", metavar="URL", help="The API server for the kubeconfig."
        ),
        click.option(
            "--kubeconfig", metavar="FILE", help="Keep a kubeconfig for the plugin here, mode 0600."
        ),
        click.option(
            "--binary",
            "binaries",
            multiple=True,
            metavar="FILE",
            help="A program to copy into the first --bin-dir.",
        ),
        click.option(
            "--bin-dir",
            "bin_dirs",
            multiple=True,
            default=("/opt/cni/bin",),
            show_default=True,
            metavar="DIR",
        ),
        click.option("--conf-dir", default="/etc/cni/net.d", show_default=True, metavar="DIR"),
        click.option(
            "--type",
            default="",
            metavar="TYPE",
            help="Instead of an entry: keep the one that TYPE's own installer chained.",
        ),
        click.option(
            "--entry",
            default="",
            metavar="JSON",
            help="The plugin's entry, or the file that has it, where its installer chained none.",
        ),
    ):
        function = option(function)
    return function


@chain.command()
@chain_options
@click.option(
    "--runtime",
    type=click.Choice(["auto", "containerd", "cri-o"]),
    default="auto",
    show_default=True,
)
@click.option(
    "--scope",
    type=click.Choice(["loaded", "every"]),
    default="loaded",
    show_default=True,
    help="Which files.",
)
@click.option(
    "--conf-name",
    default="",
    metavar="FILE",
    help="Chain into this file: what Multus delegates to.",
)
@click.option(
    "--drop-in",
    is_flag=True,
    help="Use the network's drop-in directory (runtimes with libcni 1.3.0 or newer).",
)
@click.option(
    "--poll", default=10.0, show_default=True, metavar="SECONDS", help="Check at least this often."
)
@click.option(
    "--fight-rounds",
    default=5,
    show_default=True,
    metavar="N",
    help="Slow down after this many reversions in a minute.",
)
@click.option(
    "--remember", default="", metavar="FILE", help="Where the installer's entry outlives us."
)
@click.option("--remove-on-stop", is_flag=True, help="Take the plugin out when told to stop.")
@click.option("--once", is_flag=True, help="Check and repair once.")
def keep(*, dry_run: bool, once: bool, **given: object) -> None:
    """Keep the plugin in what the runtime loads, until told to stop.

    \b
    Exit codes with --once: 0 it is in effect, 1 it is not; else 0 when told to stop; 2 usage error.
    """  # noqa: D301  # as above
    options = _options(given)
    _log_to_stderr()
    applier = Applier(dry_run=dry_run, tell=_tell if dry_run else None)
    if once:
        guard = ChainGuard(options, applier)
        status = _look_once(guard)
        click.get_current_context().exit(0 if status.ready else 1)
    context = KeeperContext(lambda _: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: context.stop())
    try:
        keep_chain(context, options, applier)
    finally:
        context.close()


@chain.command()
@chain_options
def remove(*, dry_run: bool, **given: object) -> None:
    """Take the plugin out: configuration first, then kubeconfig and programs; originals are
    restored byte for byte.

    \b
    Exit codes: 0 nothing of it is left, 1 something had to be left; 2 usage error.
    """  # noqa: D301  # as above
    removal = take_out(_options(given), Applier(dry_run=dry_run, tell=_tell if dry_run else None))
    for sentence in removal.done:
        click.echo(escape(sentence))
    for sentence in removal.left:
        click.echo(f"left: {escape(sentence)}", err=True)
    click.get_current_context().exit(1 if removal.left else 0)


@chain.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--bin-dir",
    "bin_dirs",
    multiple=True,
    metavar="DIR",
    help="Where the plugins' programs are; they are not checked without it.",
)
@click.option(
    "--probe", is_flag=True, help="Run each plugin with CNI_COMMAND=VERSION, as CRI-O does."
)
@click.option(
    "--max-conf-num",
    default=1,
    show_default=True,
    metavar="N",
    help="containerd's setting; 0 loads all.",
)
@click.option("--default-network", default="", metavar="NAME", help="CRI-O's cni_default_network.")
@click.option(
    "--old-libcni",
    is_flag=True,
    help="The runtime's libcni is older than 1.3.0: no drop-in directories.",
)
@click.option(
    "--crictl-info",
    metavar="FILE",
    help="What `crictl info` printed: say where the runtime is behind the disk.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def lint(
    folder: str,
    bin_dirs: tuple[str, ...],
    crictl_info: str | None,
    *,
    probe: bool,
    as_json: bool,
    **given: object,
) -> None:
    """Show what containerd and CRI-O would load from DIR, why, and what is wrong.

    \b Exit codes: 0 nothing wrong (warnings and notes are allowed), 1 an error, 2 DIR cannot be
    read or a usage error.
    """  # noqa: D301  # as above
    settings = RuntimeSettings(
        max_conf_num=cast("int", given["max_conf_num"]),
        default_network=cast("str", given["default_network"]),
        drop_ins=not given["old_libcni"],
    )
    try:
        files = read_folder(Path(folder))
        told = "" if crictl_info is None else Path(crictl_info).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    first = lint_folder(files, settings)
    kinds = {
        kind
        for verdict in first.verdicts
        for network in (verdict.network, *verdict.others)
        if network
        for kind in network.types
    }
    directories = [Path(directory) for directory in bin_dirs]
    programs = None
    if directories:
        programs = probe_programs(directories, kinds) if probe else list_programs(directories)
    found = lint_folder(files, settings, programs)
    if told:
        found = compare_loaded(found, told, files)
    click.echo(
        json.dumps(_document(folder, found), indent=2) if as_json else _render(found), nl=as_json
    )
    click.get_current_context().exit(CODES[found.worst])


def _options(given: dict[str, object]) -> ChainOptions:
    path = cast("str | None", given.pop("kubeconfig"))
    account, server = cast("str", given.pop("account_dir")), cast("str", given.pop("server"))
    kubeconfig = KubeconfigOptions(path=path, account_dir=account, server=server) if path else None
    try:
        return ChainOptions(kubeconfig=kubeconfig, **given)  # type: ignore[arg-type]  # click has checked them
    except ValueError as error:
        raise UsageError(
            f"expected a plugin's entry (--entry), or its type (--type): {error}"
        ) from error


def _look_once(guard: ChainGuard) -> KeeperStatus:
    from podpath_protect.chain.keeper import ChainKeeperState  # noqa: PLC0415  # only here

    status = make_status(guard, ChainKeeperState(), guard.look(time.monotonic()), None, "")
    for finding in status.findings:
        click.echo(escape(finding.claim), err=True)
    return status


def _tell(effect: Effect) -> None:
    click.echo(escape(f"would {effect.kind} {effect.target}"))


class _Escaping(logging.Formatter):
    """Writes log lines with whatever comes from files escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return escape(super().format(record))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Escaping("%(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _render(found: Lint) -> str:
    lines: list[str] = []
    for verdict in found.verdicts:
        lines.append(_render_verdict(verdict))
        lines += [f"    {one.file}: {one.action}: {one.why}" for one in verdict.decisions]
    lines += [""] if found.remarks else []
    for remark in found.remarks:
        lines.append(
            f"{remark.severity:<7} {remark.file or '.'}:{remark.line}: {remark.claim} "
            f"[{remark.row}]"
        )
        lines += [f"        mend: {remark.mend}"] if remark.mend else []
    return "\n".join(map(escape, lines)) + "\n"


def _render_verdict(verdict: RuntimeVerdict) -> str:
    if verdict.network is None:
        return f"{verdict.runtime}: no network: {verdict.why_none}"
    network = verdict.network
    return (
        f"{verdict.runtime}: {network.file}: network {network.name!r} "
        f"{network.version or '0.1.0'}: {' > '.join(network.types)}"
    )


def _document(folder: str, found: Lint) -> dict[str, object]:
    return {
        "schema": "podpath/cni-lint/v1",
        "folder": folder,
        "runtimes": [_runtime_object(verdict) for verdict in found.verdicts],
        "remarks": [remark._asdict() for remark in found.remarks],
    }


def _runtime_object(verdict: RuntimeVerdict) -> dict[str, object]:
    return {
        "runtime": verdict.runtime,
        "file": verdict.file,
        "why_none": verdict.why_none,
        "network": verdict.network.name if verdict.network else None,
        "version": verdict.network.version if verdict.network else None,
        "plugins": list(verdict.network.types) if verdict.network else [],
        "others": [network.file for network in verdict.others],
        "files": [decision._asdict() for decision in verdict.decisions],
    }
