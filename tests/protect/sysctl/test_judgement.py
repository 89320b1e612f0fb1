"""Keys are judged by what is in force, and writes are planned so that nobody else loses by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath_protect.sysctl.findings import FindingContext, find_faults
from podpath_protect.sysctl.judgement import SettingJudgement, judge_settings
from podpath_protect.sysctl.keys import Key, parse_key
from podpath_protect.sysctl.mending import plan_writes
from podpath_protect.sysctl.rivals import Rivals
from podpath_protect.sysctl.settings import SysctlSetting
from podpath_protect.sysctl.tree import SysctlTree


def plant(root: Path, **values: str) -> SysctlTree:
    """Make a tree of rp_filter by device."""
    for device, value in values.items():
        folder = root / "net/ipv4/conf" / device.replace("__", ".")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rp_filter").write_text(value + "\n", encoding="utf-8")
    return SysctlTree(root=root)


def declare(text: str, value: str = "0", *, raw: bool = False) -> SysctlSetting:
    """Declare a key."""
    return SysctlSetting(key=parse_key(text), value=value, raw=raw)


def judge(tree: SysctlTree, *settings: SysctlSetting) -> dict[str, SettingJudgement]:
    """Judge, by key."""
    return {str(judgement.key): judgement for judgement in judge_settings(settings, tree, 2)}


def writes(
    tree: SysctlTree, *settings: SysctlSetting, settled: str = "", lower_all: bool = True
) -> list[tuple[str, str, str]]:
    """Plan, as text."""
    right_before = frozenset({parse_key(settled)}) if settled else frozenset()
    planned = plan_writes(
        judge_settings(settings, tree, 2), tree, settled=right_before, lower_all=lower_all
    )
    return [(str(write.key), write.value, write.reason) for write in planned]


def test_all_overrules_a_device(tmp_path: Path) -> None:
    """With `all` = 1 a device's 0 is not in force (Y9)."""
    found = judge(
        plant(tmp_path, all="1", default="0", lxc1="0"), declare("net.ipv4.conf.lxc*.rp_filter")
    )

    seen = found["net.ipv4.conf.lxc1.rp_filter"]
    assert (seen.state, seen.raw, seen.in_force, seen.everywhere) == ("forced", "0", "1", "1")


def test_a_device_of_its_own_accord(tmp_path: Path) -> None:
    """With `all` = 0 a device's 2 is in force (Y9), and only it is written."""
    tree = plant(tmp_path, all="0", default="0", lxc1="2", eth0="1")

    assert (
        judge(tree, declare("net.ipv4.conf.lxc*.rp_filter"))["net.ipv4.conf.lxc1.rp_filter"].state
        == "drifted"
    )
    assert writes(tree, declare("net.ipv4.conf.lxc*.rp_filter")) == [
        ("net.ipv4.conf.lxc1.rp_filter", "0", "declared")
    ]


def test_what_is_right_is_not_written(tmp_path: Path) -> None:
    """Nothing is planned where everything holds (Y1)."""
    assert (
        writes(
            plant(tmp_path, all="0", default="0", lxc1="0"), declare("net.ipv4.conf.lxc*.rp_filter")
        )
        == []
    )


def test_when_all_gives_way_the_others_keep_what_they_have(tmp_path: Path) -> None:
    """The uplink's strict check came from `all`: it is its own before `all` is lowered, also for
    devices to come (G20).
    """
    tree = plant(tmp_path, all="1", default="0", lxc1="0", eth0="0", eth1="2")

    assert writes(tree, declare("net.ipv4.conf.lxc*.rp_filter")) == [
        ("net.ipv4.conf.default.rp_filter", "1", "keeps"),
        ("net.ipv4.conf.eth0.rp_filter", "1", "keeps"),
        ("net.ipv4.conf.eth1.rp_filter", "2", "keeps"),
        ("net.ipv4.conf.lxc1.rp_filter", "0", "declared"),
        ("net.ipv4.conf.all.rp_filter", "0", "yields"),
    ]


def test_a_drift_of_all_is_not_kept(tmp_path: Path) -> None:
    """Where `all` only just drifted, the others are left alone."""
    tree = plant(tmp_path, all="1", default="0", lxc1="0", eth0="0")
    settings = (declare("net.ipv4.conf.lxc*.rp_filter"), declare("net.ipv4.conf.all.rp_filter"))

    key = "net.ipv4.conf.all.rp_filter"
    assert writes(tree, *settings, settled=key) == [(key, "0", "yields")]
    assert ("net.ipv4.conf.eth0.rp_filter", "1", "keeps") in writes(tree, *settings)


def test_all_is_left_alone_where_that_is_asked_for(tmp_path: Path) -> None:
    """What `all` forces is then only reported; `all` is written where it is itself declared."""
    tree = plant(tmp_path, all="1", default="0", lxc1="2")

    assert writes(tree, declare("net.ipv4.conf.lxc*.rp_filter"), lower_all=False) == [
        ("net.ipv4.conf.lxc1.rp_filter", "0", "declared")
    ]


def test_a_name_outright_goes_before_a_pattern(tmp_path: Path) -> None:
    """One device may be declared otherwise than the pattern that reaches it."""
    tree = plant(tmp_path, all="0", default="0", lxc1="0", lxc2="0")
    found = writes(
        tree, declare("net.ipv4.conf.lxc*.rp_filter"), declare("net.ipv4.conf.lxc2.rp_filter", "2")
    )

    assert found == [("net.ipv4.conf.lxc2.rp_filter", "2", "declared")]


def test_a_pattern_reaches_no_other_than_devices(tmp_path: Path) -> None:
    """`*` in a device's place means neither `all` nor `default`; a dot in a name splits nothing
    (Y4).
    """
    tree = plant(tmp_path, all="1", default="1", eth0__100="1")

    assert tree.expand(parse_key("net.ipv4.conf.*.rp_filter")) == (
        Key(("net", "ipv4", "conf", "eth0.100", "rp_filter")),
    )
    assert tree.devices() == ("eth0.100",)


def test_raw_settings_look_at_the_device_alone(tmp_path: Path) -> None:
    """A setting may ask for the key's own value."""
    found = judge(
        plant(tmp_path, all="1", lxc1="0"), declare("net.ipv4.conf.lxc1.rp_filter", raw=True)
    )

    assert found["net.ipv4.conf.lxc1.rp_filter"].holds


@pytest.mark.parity("Y3")
def test_a_key_that_does_not_exist(tmp_path: Path) -> None:
    """A missing key is told, and nothing is planned for it (Y3)."""
    setting = SysctlSetting(
        key=parse_key("net.bridge.bridge-nf-call-iptables"), value="1", module="br_netfilter"
    )

    assert (
        judge(SysctlTree(root=tmp_path), setting)["net.bridge.bridge-nf-call-iptables"].state
        == "missing"
    )
    assert writes(SysctlTree(root=tmp_path), setting) == []


def test_keys_that_set_every_device_are_written_first(tmp_path: Path) -> None:
    """`ip_forward` would undo what was written for devices before it."""
    tree = plant(tmp_path, all="0", lxc1="2")
    (tmp_path / "net/ipv4/ip_forward").write_text("0", encoding="utf-8")

    assert writes(
        tree, declare("net.ipv4.conf.lxc1.rp_filter"), declare("net.ipv4.ip_forward", "1"),
    )[0] == (
        "net.ipv4.ip_forward", "1", "spreads",
    )  # fmt: skip


def test_a_part_of_the_tree_that_is_not_mounted_is_told(tmp_path: Path) -> None:
    """In a container that is given /proc/sys/net alone, a key of the kernel is not said to be
    missing.
    """
    plant(tmp_path, all="0")
    setting = SysctlSetting(
        key=parse_key("kernel.unprivileged_bpf_disabled"), value="1", mandatory=False
    )
    (judgement,) = judge_settings((setting,), SysctlTree(root=tmp_path), 1)

    assert (judgement.state, judgement.why) == (
        "missing",
        f"{tmp_path}/kernel is not to be seen here",
    )
    (finding,) = find_faults(
        (judgement,), FindingContext(SysctlTree(root=tmp_path), Rivals(), {}, ())
    )
    assert finding.claim.startswith("kernel.unprivileged_bpf_disabled cannot be judged, since")
