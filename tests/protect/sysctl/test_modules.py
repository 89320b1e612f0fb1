"""Kernel modules are looked for wherever they show, loaded by modprobe, and kept for the next
boot.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podpath_protect.apply import Applier, ApplyError
from podpath_protect.sysctl.modules import (
    check_module_name,
    load_module,
    look_at_modules,
    persist_modules,
)


def test_a_module_is_seen_where_it_shows(tmp_path: Path) -> None:
    """Loaded by /sys/module, built in by modules.builtin or by its own keys, available by
    modules.dep.
    """
    folder = tmp_path / "lib/modules" / os.uname().release
    folder.mkdir(parents=True)
    (folder / "modules.builtin").write_text("kernel/net/netfilter/nf-inside.ko\n", encoding="utf-8")
    (folder / "modules.dep").write_text(
        "kernel/net/bridge/br_netfilter.ko.xz: kernel/net/bridge/bridge.ko\n", encoding="utf-8"
    )
    (tmp_path / "sys/module/nf_loaded").mkdir(parents=True)
    (tmp_path / "proc/net/ipv4/vs").mkdir(parents=True)
    names = ("nf_loaded", "nf_inside", "br_netfilter", "ip_vs", "no_such")
    found = look_at_modules(names, tmp_path, tmp_path / "proc", sys=tmp_path / "sys")

    assert [(state.name, state.loaded, state.available) for state in found] == [
        ("nf_loaded", True, True), ("nf_inside", True, True), ("br_netfilter", False, True),
        ("ip_vs", True, True), ("no_such", False, False),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "-r", "a b", "../x", "x.ko"])
def test_what_is_no_name_is_refused(name: str) -> None:
    """Nothing but a name becomes an argument of modprobe."""
    with pytest.raises(ValueError, match="kernel module"):
        check_module_name(name)


def test_modprobe_is_run_and_its_refusal_told(tmp_path: Path) -> None:
    """The program gets the name after `--`; what it prints when it fails is in the error."""
    script = tmp_path / "modprobe"
    script.write_text(
        '#!/bin/sh\n[ "$1" = -- ] && [ "$2" = good ] && exit 0\necho "no $2" >&2\nexit 1\n',
        encoding="utf-8",
    )
    script.chmod(0o755)

    assert load_module("good", Applier(), (str(script),)).state == "done"
    assert load_module("bad", Applier(dry_run=True), (str(script),)).state == "would"
    with pytest.raises(ApplyError, match="no bad"):
        load_module("bad", Applier(), (str(script),))


def test_modules_are_kept_for_the_next_boot(tmp_path: Path) -> None:
    """The directory is made where it is missing, and an unchanged file is not written."""
    (tmp_path / "etc").mkdir()

    assert persist_modules(("br_netfilter", "a", "a"), tmp_path, Applier()).state == "done"
    path = tmp_path / "etc/modules-load.d/podpath.conf"
    assert path.read_text(encoding="utf-8").split("\n")[1:] == ["a", "br_netfilter", ""]
    assert persist_modules(("a", "br_netfilter"), tmp_path, Applier()).state == "unchanged"
