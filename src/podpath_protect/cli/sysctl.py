"""`podpath protect sysctl`: the declared keys checked, put right, or watched."""

from __future__ import annotations

import json

import click

from podpath.cli.terminal import choose_style
from podpath.net.errors import UsageError
from podpath.report.escape import escape
from podpath_protect.apply import Applier
from podpath_protect.cli.text import finding_document, render_findings
from podpath_protect.cli.watch import run_part
from podpath_protect.sysctl.guard import SysctlGuard, SysctlOutcome
from podpath_protect.sysctl.keeper import keep_sysctls
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.options import SysctlOptions, make_duty
from podpath_protect.sysctl.profiles import AUTOMATIC, list_profiles, load_profile
from podpath_protect.sysctl.settings import Policy, SysctlSetting

SCHEMA = "podpath/sysctl/v1"
WATCH_SCHEMA = "podpath/watch/v1"
WRONG = 1


@click.command()
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="Keys of this profile; `auto` (the default) looks which fit.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY=VALUE",
    help="A key, or a pattern such as net.ipv4.conf.lxc*.rp_filter=0.",
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="NAME",
    help="A kernel module that must be loaded.",
)
@click.option("--fix", is_flag=True, help="Correct what is wrong.")
@click.option(
    "--persist",
    is_flag=True,
    help="With --fix: keep it for the next boot, in a drop-in below /etc/sysctl.d.",
)
@click.option(
    "--load-modules",
    is_flag=True,
    help="With --fix: load modules that declared keys need; with --persist also at boot.",
)
@click.option(
    "--keep-all",
    is_flag=True,
    help="Leave `all` alone where it overrules a device, and only report it.",
)
@click.option(
    "--watch", is_flag=True, help="Keep watching: check again at every change, until interrupted."
)
@click.option("--dry-run", is_flag=True, help="Show what --fix would do, but change nothing.")
@click.option(
    "--root",
    default="/",
    show_default=True,
    metavar="DIR",
    help="Where the host's root is mounted.",
)
@click.option("--profiles", "list_them", is_flag=True, help="List the profiles with their keys.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON; with --watch a line for each look."
)
def sysctl(  # noqa: PLR0913  # one parameter for each option, as click has it
    *,
    profiles: tuple[str, ...],
    keys: tuple[str, ...],
    modules: tuple[str, ...],
    fix: bool,
    persist: bool,
    load_modules: bool,
    keep_all: bool,
    watch: bool,
    dry_run: bool,
    root: str,
    list_them: bool,
    as_json: bool,
) -> None:
    """Check the sysctls that pods' packets need, as the kernel has them in force; correct them;
    keep them correct.

    \b
    Examples:
      podpath protect sysctl
      podpath protect sysctl --profile cilium --profile kube-proxy --json
      sudo podpath protect sysctl --fix --persist --load-modules
      sudo podpath protect sysctl --key 'net.ipv4.conf.lxc*.rp_filter=0' --fix --watch

    \b
    Exit codes: 0 every mandatory key holds (after --fix), 1 some do not, 2 usage error.
    """  # noqa: D301  # click wants the backspace itself
    if list_them:
        click.echo(render_profiles(), nl=False)
        return
    settings = tuple(map(parse_setting, keys))
    try:
        options = SysctlOptions(
            mode="fix" if fix or dry_run else "report",
            profiles=profiles or (() if keys else (AUTOMATIC,)),
            key=settings,
            modules=modules,
            load_modules=load_modules,
            persist=persist,
            lower_all=not keep_all,
            root=root,
        )
    except ValueError as error:
        raise UsageError(f"expected {error}") from error
    applier = Applier(dry_run=dry_run)
    if watch:
        held = run_part(
            lambda context: keep_sysctls(context, options, applier), WATCH_SCHEMA, as_json=as_json
        )
        click.get_current_context().exit(0 if held else WRONG)
    duty, chosen = make_duty(options)
    if not duty.settings and not duty.modules:
        known = ", ".join(list_profiles())
        raise UsageError(
            "expected a node that shows which profile it needs, saw none; name one with "
            f"--profile: {known}"
        )
    outcome = SysctlGuard(duty, applier).look(0.0)
    if as_json:
        click.echo(json.dumps(outcome_document(outcome, dict(chosen)), indent=2))
    else:
        click.echo(render_outcome(outcome, dict(chosen)), nl=False)
    click.get_current_context().exit(0 if outcome.holds else WRONG)


def parse_setting(text: str) -> SysctlSetting:
    """Read `KEY=VALUE`, `KEY>=VALUE` or `KEY<=VALUE`; `UsageError` says what was expected."""
    name, sign, value = text.partition("=")
    if not sign or not value.split():
        raise UsageError(f"--key {text}: expected KEY=VALUE, KEY>=VALUE or KEY<=VALUE")
    policies: dict[str, Policy] = {">": "floor", "<": "ceiling"}
    policy = policies.get(name[-1:], "exact")
    try:
        return SysctlSetting(
            key=parse_key(name.rstrip("<>")), value=" ".join(value.split()), policy=policy
        )
    except ValueError as error:
        raise UsageError(f"--key {text}: expected {error}") from error


def render_profiles() -> str:
    """List the profiles."""
    lines = []
    for name in list_profiles():
        profile = load_profile(name)
        lines.append(f"{name}: {profile.title}")
        lines += [
            f"    {each.key} {_sign(each.policy)} {each.wanted(1)}  {each.why}"
            for each in profile.setting
        ]
    return "".join(f"{line}\n" for line in lines)


def _sign(policy: str) -> str:
    return {"exact": "=", "floor": ">=", "ceiling": "<="}[policy]


def render_outcome(outcome: SysctlOutcome, chosen: dict[str, str]) -> str:
    """Write what a look found and did."""
    style = choose_style("auto", verbose=False)
    lines = [f"profile {name}: {escape(sign)}" for name, sign in chosen.items()]
    for judgement in outcome.after:
        sign = style.broken if judgement.setting.mandatory else style.doubtful
        if judgement.holds:
            sign = style.arrived
        shown = judgement.in_force if judgement.in_force is not None else judgement.state
        want = f"{_sign(judgement.setting.policy)} {judgement.want}"
        lines.append(
            f"{sign} {escape(str(judgement.key))} = {escape(str(shown))}  (should be {want})"
        )
    for attempt in outcome.attempts:
        why = f": {attempt.why}" if attempt.why else ""
        lines.append(
            f"  {attempt.state}: {escape(attempt.write.command)} "
            f"({attempt.write.reason}){escape(why)}"
        )
    lines += [f"  {escape(effect)}" for effect in outcome.effects]
    return "".join(f"{line}\n" for line in lines) + render_findings(outcome.findings, style)


def outcome_document(outcome: SysctlOutcome, chosen: dict[str, str]) -> dict[str, object]:
    """Return what a look found and did, as JSON has it."""
    return {
        "schema": SCHEMA,
        "holds": outcome.holds,
        "profiles": chosen,
        "keys": [
            {
                "key": str(each.key),
                "state": each.state,
                "value": each.raw,
                "in_force": each.in_force,
                "want": each.want,
                "policy": each.setting.policy,
                "mandatory": each.setting.mandatory,
                "profile": each.setting.profile,
            }
            for each in outcome.after
        ],
        "writes": [
            {
                "key": str(each.write.key),
                "value": each.write.value,
                "reason": each.write.reason,
                "state": each.state,
                "why": each.why,
            }
            for each in outcome.attempts
        ],
        "deeds": list(outcome.effects),
        "findings": [finding_document(each) for each in outcome.findings],
    }
