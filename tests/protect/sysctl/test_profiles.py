"""Profiles are data with their source; a node shows which it needs; those that contradict each
other are refused.
"""

from __future__ import annotations

import pytest

from podpath.net.errors import UsageError
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.profiles import (
    NodeTraits,
    detect_profiles,
    gather_settings,
    list_profiles,
    load_profile,
)
from podpath_protect.sysctl.settings import SysctlSetting


@pytest.mark.parametrize("name", list_profiles())
def test_every_setting_says_why_and_who_says_so(name: str) -> None:
    """A profile is evidence too."""
    profile = load_profile(name)

    assert profile.title
    assert [] == [
        str(setting.key) for setting in profile.setting if not (setting.why and setting.source)
    ]
    assert {setting.profile for setting in profile.setting} == {name}


def test_the_profiles_of_the_field_are_there() -> None:
    """Each CNI, proxy and mesh that is spoken of has a profile."""
    assert set(list_profiles()) == {"cilium", "calico", "bridge", "kube-proxy", "istio", "linkerd"}


def test_an_unknown_profile_is_refused() -> None:
    """The message names those that exist."""
    with pytest.raises(UsageError, match="bridge, calico, cilium"):
        load_profile("weave")


@pytest.mark.parametrize(
    ("scene", "found"),
    [
        (NodeTraits(cni_types=frozenset({"flannel", "portmap"})), {"bridge": "CNI plugin flannel"}),
        (NodeTraits(devices=frozenset({"lxc1a2b", "eth0"})), {"cilium": "device lxc1a2b"}),
        (
            NodeTraits(devices=frozenset({"eth0"}), programs=frozenset({"kube-proxy"})),
            {"kube-proxy": "program kube-proxy"},
        ),
        (NodeTraits(devices=frozenset({"eth0"})), {}),
    ],
)
def test_a_node_shows_which_profiles_it_needs(scene: NodeTraits, found: dict[str, str]) -> None:
    """By the plugins of its CNI configuration, its devices and its programs (G24)."""
    assert detect_profiles(scene) == found


def test_profiles_join_and_an_own_setting_wins() -> None:
    """The same key of two profiles is one setting, mandatory if one says so; an own declaration
    replaces it.
    """
    key = parse_key("net.bridge.bridge-nf-call-iptables")
    joined = {setting.key: setting for setting in gather_settings(("istio", "bridge"))}
    own = SysctlSetting(key=key, value="0")

    assert joined[key].mandatory
    assert joined[key].profile == "istio, bridge"
    assert own in gather_settings(("istio", "bridge"), (own,))


def test_an_exact_value_within_a_bound_of_another_profile_is_kept() -> None:
    """Cilium's `all.rp_filter = 0` satisfies Calico's ceiling, in either order."""
    key = parse_key("net.ipv4.conf.all.rp_filter")

    for names in (("cilium", "calico"), ("calico", "cilium")):
        joined = {setting.key: setting for setting in gather_settings(names)}
        assert (joined[key].policy, joined[key].value) == ("exact", "0")
