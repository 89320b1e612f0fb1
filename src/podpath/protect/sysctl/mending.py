"""From judgements to writes, in the order in which they must be made.

A device's value that `all` overrules can only be had by changing `all`, which reaches every device. So that nobody else loses
protection by it (a host whose uplink is guarded by `all.rp_filter = 1`), the others, and `default` for those to come, are first
given as their own value what is in force for them now. Keys that set every device when they are written come first of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from podpath.protect.sysctl.effective import SPREADS, combine, rule_of, yielding
from podpath.protect.sysctl.judgement import Judgement
from podpath.protect.sysctl.keys import Key
from podpath.protect.sysctl.settings import is_number
from podpath.protect.sysctl.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One value to be written."""

    key: Key
    value: str
    reason: Literal["spreads", "keeps", "declared", "yields"]
    """`keeps`: a device that nobody asked about stays as it is while `all` changes; `yields`: `all` gives way to devices."""

    @property
    def command(self) -> str:
        """Spell it for a person."""
        return f"sysctl -w '{self.key}={self.value}'"


_ORDER = ("spreads", "keeps", "declared", "yields")


def plan_writes(judgements: Iterable[Judgement], tree: Tree, *, keep_others: bool = True) -> tuple[Write, ...]:
    """Give what must be written so that every key holds; nothing for those that do.

    `keep_others` gives devices that are not declared what is in force for them before `all` gives way: right on a first look, and
    wrong where `all` only just drifted, since that would keep the drift.
    """
    judged = {judgement.key: judgement for judgement in judgements}
    writes: dict[Key, Write] = {}
    giving_way: dict[Key, str] = {}
    for judgement in judged.values():
        if judgement.state not in {"drifted", "forced"}:
            continue
        key, want = judgement.key, judgement.want
        rule = rule_of(key) if not judgement.setting.raw else None
        if rule is not None and judgement.everywhere is not None and is_number(want):
            own = int(judgement.raw or 0)
            if not judgement.setting.accepts(judgement.raw or "", 1):
                writes[key] = Write(key=key, value=want, reason="declared")
                own = int(want)
            everywhere = key.of("all")
            if not judgement.setting.accepts(str(combine(rule, int(judgement.everywhere), own)), 1) and everywhere not in judged:
                giving_way[everywhere] = str(yielding(rule, int(want)))
        elif key.device == "all" and key.segments not in SPREADS:
            giving_way[key] = want
        else:
            writes[key] = Write(key=key, value=want, reason="spreads" if key.segments in SPREADS else "declared")
    for key, value in giving_way.items():
        if keep_others:
            for kept in _keep_others(key, tree, frozenset(judged)):
                writes.setdefault(kept.key, kept)
        writes[key] = Write(key=key, value=value, reason="yields")
    return tuple(sorted(writes.values(), key=lambda write: _ORDER.index(write.reason)))


def _keep_others(everywhere: Key, tree: Tree, declared: frozenset[Key]) -> Iterable[Write]:
    above = tree.read(everywhere).value or ""
    for device in ("default", *tree.devices()):
        key = everywhere.of(device)
        own = tree.read(key).value or ""
        rule = rule_of(everywhere.of("any"))
        if key in declared or rule is None or not is_number(own) or not is_number(above):
            continue
        in_force = combine(rule, int(above), int(own))
        if in_force != int(own):
            yield Write(key=key, value=str(in_force), reason="keeps")
