"""The drop-in by which declared sysctls survive a boot, and which of them it does not win.

It is written atomically and only when it changes, and nobody's service is restarted for it: what is
in force now is the keeper's business, and a restart of systemd-sysctl would undo what others have
set since boot. Its name sorts behind what packages use, and yet a key that another file names
outright beats our pattern: each such line is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from podpath_protect.apply import Applier, ApplyError, Effect
from podpath_protect.sysctl.dropins import Dropin, DropinLine, lookup_winner, read_assignments
from podpath_protect.sysctl.effective import combine, rule_of
from podpath_protect.sysctl.judgement import SettingJudgement
from podpath_protect.sysctl.settings import SysctlSetting, is_number

DROPIN = Path("etc/sysctl.d/99-zzz-podpath.conf")
_HEADER = """\
# Written by podpath protect sysctl. It is overwritten when the declared settings change; declare
# in its configuration instead.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLoss:
    """A key that will be set otherwise at boot, or when a device appears."""

    judgement: SettingJudgement
    winner: DropinLine


def emit_dropin(
    settings: Iterable[SysctlSetting], others: tuple[DropinLine, ...], cores: int
) -> str:
    """Write the drop-in's text; a bound that another file already satisfies is left to that file,
    so that nothing is lowered.
    """
    lines = [_HEADER]
    for setting in settings:
        if setting.policy != "exact":
            winner = lookup_winner(others, setting.key)
            if (
                winner is not None
                and winner.value is not None
                and setting.accepts(winner.value, cores)
            ):
                continue
        optional = "-" if setting.key.is_pattern or not setting.mandatory else ""
        note = f"# {setting.why}\n" if setting.why else ""
        lines.append(f"{note}{optional}{setting.key} = {setting.wanted(cores)}\n")
    return "".join(lines)


def persist_settings(
    settings: tuple[SysctlSetting, ...], root: Path, applier: Applier, cores: int
) -> Effect:
    """Write the drop-in where it differs; `ApplyError` where it cannot be written."""
    path = root / DROPIN
    content = emit_dropin(settings, read_others(root), cores).encode()
    try:
        return applier.write_file(path, content, mode=0o644)
    except ApplyError as error:
        if error.refusal != "absent":
            raise
    applier.make_directory(path.parent)
    return applier.write_file(path, content, mode=0o644)


def read_others(root: Path) -> tuple[DropinLine, ...]:
    """Read what systemd would apply without our drop-in."""
    return read_assignments(root, Dropin(root / DROPIN, ""))


def find_losses(
    judgements: Iterable[SettingJudgement], root: Path, cores: int, text: str = ""
) -> tuple[SettingLoss, ...]:
    """Return the keys that a drop-in will set otherwise, with the line that wins; `text` stands for
    ours before it is written.
    """
    assignments = read_assignments(root, Dropin(root / DROPIN, text) if text else None)
    losses = (_find_loss(judgement, assignments, cores) for judgement in judgements)
    return tuple(loss for loss in losses if loss is not None)


def _find_loss(
    judgement: SettingJudgement, assignments: tuple[DropinLine, ...], cores: int
) -> SettingLoss | None:
    """Return the line by which a key is lost: its own, or that of `all` which overrules it."""
    setting, key = judgement.setting, judgement.key
    winner = lookup_winner(assignments, key)
    if winner is not None and winner.value is not None and not setting.accepts(winner.value, cores):
        return SettingLoss(judgement=judgement, winner=winner)
    rule = None if setting.raw else rule_of(key)
    above = lookup_winner(assignments, key.of("all")) if rule is not None else None
    if (
        above is None
        or above.value is None
        or not is_number(above.value)
        or not is_number(judgement.want)
    ):
        return None
    in_force = str(combine(rule, int(above.value), int(judgement.want)))
    if setting.accepts(in_force, cores):
        return None
    return SettingLoss(judgement=judgement, winner=above)
