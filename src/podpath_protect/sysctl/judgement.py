"""Settings held against the tree: for each key what it holds, what is in force, and whether that
will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from podpath_protect.sysctl.effective import combine, rule_of
from podpath_protect.sysctl.keys import Key
from podpath_protect.sysctl.settings import SysctlSetting, is_number
from podpath_protect.sysctl.tree import SysctlTree

State = Literal["holds", "drifted", "forced", "missing", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingJudgement:
    """One key against its setting."""

    key: Key
    setting: SysctlSetting
    state: State
    """`forced`: its own value will do, and `all` overrules it."""
    want: str
    raw: str | None = None
    in_force: str | None = None
    """What the kernel makes of it together with `all`."""
    everywhere: str | None = None
    """The value of `all`, where the two are combined."""
    why: str = ""
    """Why it could not be read, or why a missing one may be there all the same."""

    @property
    def holds(self) -> bool:
        """Tell whether the key is as it shall be."""
        return self.state == "holds"


def judge_settings(
    settings: Iterable[SysctlSetting], tree: SysctlTree, cores: int
) -> tuple[SettingJudgement, ...]:
    """Judge every key that the settings declare; a key that two of them reach is judged by the one
    that names it outright.
    """
    declared = tuple(settings)
    outright = {setting.key for setting in declared if not setting.key.is_pattern}
    judged: dict[Key, SettingJudgement] = {}
    above: dict[Key, str | None] = {}
    for setting in declared:
        for key in tree.expand(setting.key):
            if not setting.key.is_pattern or (key not in outright and key not in judged):
                if rule_of(key) is not None and key.of("all") not in above:
                    above[key.of("all")] = tree.read(key.of("all")).value
                judged[key] = judge_key(key, setting, tree, cores, above)
    return tuple(judged.values())


def judge_key(
    key: Key, setting: SysctlSetting, tree: SysctlTree, cores: int, known: Mapping[Key, str | None]
) -> SettingJudgement:
    """Judge one key; `known` holds the values of `all`, read once for all devices."""
    want = setting.wanted(cores)
    read = tree.read(key)
    if read.value is None:
        state: State = "missing" if read.missing else "unreadable"
        why = read.why or _why_hidden(key, tree)
        return SettingJudgement(key=key, setting=setting, state=state, want=want, why=why)
    rule = None if setting.raw else rule_of(key)
    above = known.get(key.of("all")) if rule is not None else None
    if rule is None or above is None or not is_number(read.value) or not is_number(above):
        state = "holds" if setting.accepts(read.value, cores) else "drifted"
        return SettingJudgement(
            key=key, setting=setting, state=state, want=want, raw=read.value, in_force=read.value
        )
    in_force = str(combine(rule, int(above), int(read.value)))
    state = "forced" if setting.accepts(read.value, cores) else "drifted"
    if setting.accepts(in_force, cores):
        state = "holds"
    return SettingJudgement(
        key=key,
        setting=setting,
        state=state,
        want=want,
        raw=read.value,
        in_force=in_force,
        everywhere=above,
    )


def _why_hidden(key: Key, tree: SysctlTree) -> str:
    """Say where a key is missing with everything beside it: a container that is given only a part
    of the host's tree.
    """
    top = Key(key.segments[:1])
    if tree.list(top):
        return ""
    return f"{top.path(tree.root)} is not to be seen here"
