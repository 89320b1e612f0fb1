"""The drop-in says what is declared, lowers nothing that another file raised, and knows what it
loses against.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath_protect.apply import Applier
from podpath_protect.sysctl.dropins import lookup_winner, parse_dropin, read_assignments
from podpath_protect.sysctl.judgement import SettingJudgement
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.persistence import DROPIN, emit_dropin, find_losses, persist_settings
from podpath_protect.sysctl.settings import SysctlSetting

FORWARD = SysctlSetting(key=parse_key("net.ipv4.ip_forward"), value="1", why="pods are routed")
SIZE = SysctlSetting(
    key=parse_key("net.netfilter.nf_conntrack_max"), value="131072", policy="floor"
)


def test_the_drop_in_is_read_back_as_declared() -> None:
    """Each setting is a line that systemd reads as the same key; patterns and optional keys may
    fail.
    """
    lxc = SysctlSetting(key=parse_key("net.ipv4.conf.lxc*.rp_filter"), value="0")
    dotted = SysctlSetting(
        key=parse_key("net/ipv4/conf/eth0.1/rp_filter"), value="2", mandatory=False
    )
    text = emit_dropin((FORWARD, lxc, dotted), (), 2)

    assert [(each.pattern, each.value) for each in parse_dropin(text, "x")] == [
        (FORWARD.key, "1"), (lxc.key, "0"), (dotted.key, "2"),
    ]  # fmt: skip
    assert "# pods are routed\nnet.ipv4.ip_forward = 1\n" in text
    assert "-net.ipv4.conf.eth0/1.rp_filter = 2\n" in text


def test_a_floor_is_left_to_a_file_that_has_more(tmp_path: Path) -> None:
    """Ours sorts last and would lower it at boot."""
    folder = tmp_path / "etc/sysctl.d"
    folder.mkdir(parents=True)
    (folder / "10-size.conf").write_text(
        "net.netfilter.nf_conntrack_max = 1048576\n", encoding="utf-8"
    )
    persist_settings((SIZE, FORWARD), tmp_path, Applier(), 2)

    winner = lookup_winner(read_assignments(tmp_path), SIZE.key)
    assert winner is not None
    assert winner.value == "1048576"


def test_the_directory_is_made(tmp_path: Path) -> None:
    """A slim image may lack it."""
    (tmp_path / "etc").mkdir()

    assert persist_settings((FORWARD,), tmp_path, Applier(), 1).state == "done"
    assert (tmp_path / DROPIN).is_file()


def test_losses_are_foreseen_before_anything_is_written(tmp_path: Path) -> None:
    """With the text that would be written, a later file that names the key outright is found."""
    folder = tmp_path / "etc/sysctl.d"
    folder.mkdir(parents=True)
    (folder / "zzzz.conf").write_text("net.ipv4.ip_forward = 0\n", encoding="utf-8")
    judgement = SettingJudgement(
        key=FORWARD.key, setting=FORWARD, state="holds", want="1", raw="1", in_force="1"
    )

    (loss,) = find_losses((judgement,), tmp_path, 1, emit_dropin((FORWARD,), (), 1))
    assert loss.winner.where == "/etc/sysctl.d/zzzz.conf:1: net.ipv4.ip_forward = 0"


@pytest.mark.parity("Y7")
def test_a_line_for_all_that_overrules_a_device_is_a_loss(tmp_path: Path) -> None:
    """Ours sets each pod's device, and another file lets `all` overrule it at boot."""
    folder = tmp_path / "etc/sysctl.d"
    folder.mkdir(parents=True)
    (folder / "10-hardening.conf").write_text("net.ipv4.conf.all.rp_filter = 1\n", encoding="utf-8")
    setting = SysctlSetting(key=parse_key("net.ipv4.conf.lxc*.rp_filter"), value="0")
    key = parse_key("net.ipv4.conf.lxc1.rp_filter")
    judgement = SettingJudgement(
        key=key, setting=setting, state="holds", want="0", raw="0", in_force="0"
    )
    persist_settings((setting,), tmp_path, Applier(), 1)

    (loss,) = find_losses((judgement,), tmp_path, 1)
    assert loss.winner.where == "/etc/sysctl.d/10-hardening.conf:1: net.ipv4.conf.all.rp_filter = 1"
