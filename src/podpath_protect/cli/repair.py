"""`podpath protect repair`: find a node's pods that started without their redirect rules, mend them
or send them away.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from podpath.net.errors import MissingExtra
from podpath.net.tables import parse_tables
from podpath.report.escape import escape
from podpath_protect.agent.keeper import KeeperContext, KeeperStatus
from podpath_protect.agent.logs import configure_logs
from podpath_protect.apply import Applier

if TYPE_CHECKING:
    from podpath_protect.cluster.objects import KubePod
    from podpath_protect.repair.judgement import PodJudgement
    from podpath_protect.repair.keeper import RepairScope, Work
    from podpath_protect.repair.policy import Policy


@click.command()
@click.option(
    "--node",
    envvar="NODE_NAME",
    metavar="NAME",
    help="Whose pods.  [default: $NODE_NAME]",
    required=True,
)
@click.option(
    "--kubeconfig",
    metavar="FILE",
    help="How to reach the API server.  [default: the pod's own, $KUBECONFIG, ~/.kube/config]",
)
@click.option("--context", metavar="NAME", help="The kubeconfig's context.")
@click.option(
    "--policy",
    "policy_file",
    metavar="FILE",
    help="A TOML file with the policy: the keys of the agent's [repair].",
)
@click.option(
    "--action",
    "actions",
    multiple=True,
    type=click.Choice(["label", "mend", "evict", "delete"]),
    help="What may be done; repeatable.",
)
@click.option("--selector", "-l", metavar="SELECTOR", help="Only pods with these labels.")
@click.option("--bare-pods", is_flag=True, help="Also evict pods that nothing would recreate.")
@click.option("--dry-run", is_flag=True, help="Judge and ask the server, but change nothing.")
@click.option("--once", is_flag=True, help="Check all pods once and exit.")
@click.option("--json", "as_json", is_flag=True, help="With --once: print one JSON document.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
)
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option(
    "--proc", "proc", default="/proc", show_default=True, metavar="DIR", help="The node's /proc."
)
@click.option(
    "--state",
    metavar="FILE",
    help="Where the budget outlives this process, as /run/podpath/repair.json.",
)
@click.option(
    "--chain-entry",
    metavar="JSON",
    help="A plugin's entry, or its file: nothing is done while no pod would get that plugin.",
)
@click.option(
    "--conf-dir",
    default="/etc/cni/net.d",
    show_default=True,
    metavar="DIR",
    help="Where the runtime reads the chain.",
)
@click.option(
    "--bin-dir",
    "bin_dirs",
    multiple=True,
    default=("/opt/cni/bin",),
    show_default=True,
    metavar="DIR",
)
@click.option(
    "--own-pod",
    envvar="POD",
    metavar="NAMESPACE/NAME",
    default="",
    help="Our own pod, which is never touched.",
)
def repair(**given: object) -> None:
    """Find pods of one node that started without their redirect rules; repair them in place or have
    them recreated.

    A pod is broken when its validator failed, by its current or its last state, and has not passed
    since; or when it has a mesh's proxy, no validator, and no redirect rules in its network
    namespace. It is labeled, repaired in place and proven by the validator, evicted or deleted, as
    the policy allows, within budgets for the node and for each owner, after an event that announces
    it. Needs CAP_SYS_ADMIN and CAP_NET_ADMIN for inspection and repair in place, and the API rights
    that deploy/ lists.

    \b
    Examples:
      podpath protect repair --node worker-1 --once --dry-run
      podpath protect repair --node worker-1 --action label --action mend
      podpath protect repair --policy repair.toml --state /run/podpath/repair.json

    \b
    Exit codes with --once: 0 no pod is broken, 1 some were, 2 the API server did not answer.
    Without --once it runs until killed.
    """  # noqa: D301  # click wants the backspace itself
    try:
        from podpath_protect.repair.keeper import Work, make_body  # noqa: PLC0415  # lightkube is an extra
    except ModuleNotFoundError as error:
        raise MissingExtra(f"{error.name} is missing: pip install 'podpath[k8s]'") from error
    assignment = _assign(given)
    level = "error" if given["once"] else str(given["log_level"])
    configure_logs(sys.stderr, level, cast("Literal['json', 'text']", given["log_format"]))
    if given["once"]:
        from podpath.kube.client import Client  # noqa: PLC0415  # as above

        with Client(assignment.access) as client:
            work = Work(assignment, client)
            try:
                found = work.once()
            finally:
                work.close()
            _report(found, work, assignment, as_json=bool(given["as_json"]))
        click.get_current_context().exit(
            int(any(judgement.state == "broken" for _, judgement in found))
        )
    context = KeeperContext(_quiet)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: context.stop())
    try:
        make_body(assignment)(context)
    finally:
        context.close()


def _assign(given: dict[str, object]) -> RepairScope:
    from podpath.kube import access  # noqa: PLC0415  # lightkube is an extra
    from podpath_protect.repair.keeper import RepairScope  # noqa: PLC0415  # as above

    kubeconfig, state = cast("str | None", given["kubeconfig"]), cast("str | None", given["state"])
    return RepairScope(
        node=str(given["node"]),
        policy=_policy(given),
        access=access.find(
            Path(kubeconfig) if kubeconfig else None, context=cast("str | None", given["context"])
        ),
        own_pod=str(given["own_pod"]),
        chain=_watch_chain(given),
        state=Path(state) if state else None,
        proc=Path(str(given["proc"])),
    )


def _watch_chain(given: dict[str, object]) -> Callable[[], str]:
    """Return what looks whether the runtime's chain has the plugin; a chain that nobody named is
    taken to be well.
    """
    entry = cast("str | None", given["chain_entry"])
    if entry is None:
        return str
    from podpath_protect.chain.guard import ChainGuard  # noqa: PLC0415  # only where it is asked for
    from podpath_protect.chain.options import ChainOptions  # noqa: PLC0415  # as above

    options = ChainOptions(
        entry=entry,
        conf_dir=str(given["conf_dir"]),
        bin_dirs=cast("tuple[str, ...]", given["bin_dirs"]),
    )
    guard = ChainGuard(options, Applier(dry_run=True))

    def unhealthy() -> str:
        look = guard.look(time.monotonic())
        claims = "; ".join(trouble.claim for trouble in look.troubles)
        if look.holds:
            return ""
        return claims or (
            f"no network that the runtime would load from {options.conf_dir} has {guard.entry.type}"
        )

    return unhealthy


def _policy(given: dict[str, object]) -> Policy:
    from podpath_protect.repair.policy import Policy  # noqa: PLC0415  # beside the others

    name = cast("str | None", given["policy_file"])
    try:
        policy = (
            Policy()
            if name is None
            else parse_tables(Path(name).read_text(encoding="utf-8"), name, Policy)
        )
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(
            f"{name}: {error.strerror if isinstance(error, OSError) else 'this is no text'}"
        ) from error
    changes: dict[str, object] = {
        "dry_run": policy.dry_run or bool(given["dry_run"]),
        "bare_pods": policy.bare_pods or bool(given["bare_pods"]),
    }
    if given["actions"]:
        changes["actions"] = given["actions"]
    if given["selector"]:
        changes["label_selector"] = given["selector"]
    try:
        return replace(policy, **changes)  # type: ignore[arg-type]  # each by its field's type
    except ValueError as error:
        raise click.UsageError(f"expected {error}") from error


def _report(
    found: tuple[tuple[KubePod, PodJudgement], ...],
    work: Work,
    assignment: RepairScope,
    *,
    as_json: bool,
) -> None:
    held = {finding.subject: finding.evidence for finding in work.controller.findings()}
    actions = [
        {"action": action, "result": result, "count": count}
        for (action, result), count in sorted(work.controller.counts.items())
    ]
    if as_json:
        pods = [
            {
                "pod": pod.key,
                "uid": pod.metadata.uid,
                "state": one.state,
                "why": one.why,
                "cause": one.cause,
                "held": list(held.get(pod.key, ())),
            }
            for pod, one in found
        ]
        head = {
            "schema": "podpath/repair/v1",
            "time": time.time(),
            "node": assignment.node,
            "dry_run": assignment.policy.dry_run,
        }
        click.echo(json.dumps({**head, "pods": pods, "deeds": actions}, indent=2))
        return
    for pod, one in found:
        if one.state != "healthy":
            click.echo(f"{one.state:<9}{escape(pod.key)}: {escape(one.why)}")
            for why in held.get(pod.key, ()):
                click.echo(f"         {escape(why)}")
    for action in actions:
        click.echo(f"{action['action']}: {action['result']} {action['count']}")
    broken = sum(one.state == "broken" for _, one in found)
    click.echo(f"{len(found)} pods, {broken} broken")


def _quiet(_: KeeperStatus) -> None:
    """Hear how the part stands: the logs tell."""
