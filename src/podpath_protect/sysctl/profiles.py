"""Profiles: what each CNI, proxy and mesh needs of the node's sysctls, one TOML file each, and
which of them a node asks for.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from podpath.net.errors import UsageError
from podpath.net.tables import parse_tables
from podpath_protect.sysctl.settings import SysctlSetting

AUTOMATIC = "auto"
"""The profile's name that stands for those that the node shows to need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTraits:
    """By what a node shows that it needs a profile; any one of them will do."""

    cni_types: tuple[str, ...] = ()
    """Plugins in the CNI configuration."""
    devices: tuple[str, ...] = ()
    """Names of devices, or patterns of such."""
    programs: tuple[str, ...] = ()
    """Names of running programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A file of settings."""

    title: str
    detect: ProfileTraits
    setting: tuple[SysctlSetting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTraits:
    """What a node shows of itself."""

    cni_types: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()


def list_profiles() -> tuple[str, ...]:
    """Return the profiles' names."""
    folder = resources.files("podpath_protect.sysctl") / "profiles"
    return tuple(
        sorted(
            entry.name.removesuffix(".toml")
            for entry in folder.iterdir()
            if entry.name.endswith(".toml")
        )
    )


@cache
def load_profile(name: str) -> Profile:
    """Read a profile; `UsageError` where there is none of that name."""
    if name not in list_profiles():
        raise UsageError(
            f"expected a profile ({', '.join(list_profiles())} or {AUTOMATIC}), saw {name!r}"
        )
    file = resources.files("podpath_protect.sysctl") / "profiles" / f"{name}.toml"
    profile = parse_tables(file.read_text(encoding="utf-8"), f"{name}.toml", Profile)
    return replace(
        profile, setting=tuple(replace(setting, profile=name) for setting in profile.setting)
    )


def detect_profiles(scene: NodeTraits) -> dict[str, str]:
    """Return the profiles that a node asks for, each with what shows it."""
    found: dict[str, str] = {}
    for name in list_profiles():
        marks = load_profile(name).detect
        signs = [f"CNI plugin {kind}" for kind in marks.cni_types if kind in scene.cni_types]
        fitting = {
            one for pattern in marks.devices for one in fnmatch.filter(scene.devices, pattern)
        }
        signs += [f"device {device}" for device in sorted(fitting)]
        signs += [f"program {program}" for program in marks.programs if program in scene.programs]
        if signs:
            found[name] = signs[0]
    return found


def gather_settings(
    names: tuple[str, ...], own: tuple[SysctlSetting, ...] = ()
) -> tuple[SysctlSetting, ...]:
    """Join the settings of profiles and of a configuration: an own setting replaces those of
    profiles for the same key.

    Two profiles that agree on a key are one; of two floors the higher counts, of two ceilings the
    lower. Where profiles contradict each other, `UsageError` says which key, and that an own
    setting decides.
    """
    joined: dict[tuple[str, ...], SysctlSetting] = {}
    for name in names:
        for setting in load_profile(name).setting:
            there = joined.get(setting.key.segments)
            joined[setting.key.segments] = setting if there is None else _join(there, setting)
    for setting in own:
        joined[setting.key.segments] = setting
    return tuple(joined.values())


def _join(one: SysctlSetting, other: SysctlSetting) -> SysctlSetting:
    mandatory = one.mandatory or other.mandatory
    profile = f"{one.profile}, {other.profile}"
    if one.policy == other.policy == "exact" and one.value != other.value:
        return _contradict(one, other)
    if one.policy == other.policy:
        larger = max(
            (one, other), key=lambda each: int(each.value) if each.policy != "exact" else 0
        )
        smaller = other if larger is one else one
        return replace(
            smaller if one.policy == "ceiling" else larger, mandatory=mandatory, profile=profile
        )
    exact, bound = (one, other) if one.policy == "exact" else (other, one)
    if exact.policy == "exact" and bound.accepts(exact.value, 1):
        return replace(exact, mandatory=mandatory, profile=profile)
    return _contradict(one, other)


def _contradict(one: SysctlSetting, other: SysctlSetting) -> SysctlSetting:
    raise UsageError(
        f"{one.key}: profile {one.profile} wants {one.policy} {one.value}, profile {other.profile} "
        f"{other.policy} {other.value}; declare the key yourself to decide"
    )
