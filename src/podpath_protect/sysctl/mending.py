"""From judgments to writes, in the order in which they must be made.

A device's value that `all` overrules can only be had by changing `all`, which reaches every device.
So that nobody else loses protection by it (a host whose uplink is guarded by `all.rp_filter = 1`),
the others, and `default` for those to come, are first given as their own value what is in force for
them now. Keys that set every device when they are written come first of all.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from podpath_protect.sysctl.effective import SPREADS, combine, rule_of, yielding
from podpath_protect.sysctl.judgement import SettingJudgement
from podpath_protect.sysctl.keys import Key
from podpath_protect.sysctl.settings import is_number
from podpath_protect.sysctl.tree import SysctlTree


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlWrite:
    """One value to be written."""

    key: Key
    value: str
    reason: Literal["spreads", "keeps", "declared", "yields"]
    """`keeps`: a device that nobody asked about stays as it is while `all` changes; `yields`: `all`
    gives way to devices.
    """

    @property
    def command(self) -> str:
        """Spell it for a person's shell, whatever the device is called."""
        return f"sysctl -w {shlex.quote(f'{self.key}={self.value}')}"


_ORDER = ("spreads", "keeps", "declared", "yields")


def plan_writes(
    judgements: Iterable[SettingJudgement],
    tree: SysctlTree,
    *,
    settled: frozenset[Key] = frozenset(),
    lower_all: bool = True,
) -> tuple[SysctlWrite, ...]:
    """Return what must be written so that every key holds; nothing for those that do.

    `settled` are keys of `all` that were right before, and drifted: there the other devices are
    left alone, since to give them what is in force would keep the drift. Without `lower_all`, `all`
    is touched only where it is itself declared.
    """
    judged = {judgement.key: judgement for judgement in judgements}
    writes: dict[Key, SysctlWrite] = {}
    giving_way: dict[Key, str] = {}
    for judgement in judged.values():
        if judgement.state not in {"drifted", "forced"}:
            continue
        key, want = judgement.key, judgement.want
        rule = rule_of(key) if not judgement.setting.raw else None
        if rule is not None and judgement.everywhere is not None and is_number(want):
            own = int(judgement.raw or 0)
            if not judgement.setting.accepts(judgement.raw or "", 1):
                writes[key] = SysctlWrite(key=key, value=want, reason="declared")
                own = int(want)
            everywhere = key.of("all")
            if (
                not judgement.setting.accepts(str(combine(rule, int(judgement.everywhere), own)), 1)
                and everywhere not in judged
                and lower_all
            ):
                giving_way[everywhere] = str(yielding(rule, int(want)))
        elif key.device == "all" and key.segments not in SPREADS:
            giving_way[key] = want
        else:
            writes[key] = SysctlWrite(
                key=key, value=want, reason="spreads" if key.segments in SPREADS else "declared"
            )
    for key, value in giving_way.items():
        if key not in settled:
            for kept in _keep_others(key, tree, judged):
                writes.setdefault(kept.key, kept)
        writes[key] = SysctlWrite(key=key, value=value, reason="yields")
    return tuple(sorted(writes.values(), key=lambda write: _ORDER.index(write.reason)))


def _keep_others(
    everywhere: Key, tree: SysctlTree, judged: Mapping[Key, SettingJudgement]
) -> Iterator[SysctlWrite]:
    """Yield what keeps in force what is so now, `default` first.

    Writing `default` also sets the devices whose own value nobody has written yet
    (net/ipv4/devinet.c:devinet_copy_dflt_conf v6.12), so each device is then named, also where its
    value is right before; what is still right when its turn comes is not written.
    """
    default = _in_force(everywhere.of("default"), everywhere, tree)
    changes_default = default is not None and default != tree.read(everywhere.of("default")).value
    if changes_default and default is not None and everywhere.of("default") not in judged:
        yield SysctlWrite(key=everywhere.of("default"), value=default, reason="keeps")
    for device in tree.devices():
        key = everywhere.of(device)
        own, in_force = tree.read(key).value, _in_force(key, everywhere, tree)
        if own is None or in_force is None:
            continue
        if key in judged:
            judgement = judged[key]
            if changes_default and judgement.setting.accepts(own, 1):
                yield SysctlWrite(key=key, value=own, reason="declared")
        elif changes_default or in_force != own:
            yield SysctlWrite(key=key, value=in_force, reason="keeps")


def _in_force(key: Key, everywhere: Key, tree: SysctlTree) -> str | None:
    """Return what is in force for a device now, or would be for one made from `default`; None where
    that is no number.
    """
    rule = rule_of(everywhere.of("any"))
    above, own = tree.read(everywhere).value or "", tree.read(key).value or ""
    if rule is not None and is_number(above) and is_number(own):
        return str(combine(rule, int(above), int(own)))
    return None
