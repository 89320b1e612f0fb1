"""Sysctls, as `sysctl -a` prints them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from podpath.collect import sysctls
from podpath.collect.netns import inside

NAME = f"psy-{os.getpid()}"


@pytest.mark.kernel("sysctl")
def test_they_are_those_of_the_namespace_as_the_program_prints_them() -> None:
    """Devices with dots in their names, values of several words and empty ones included."""
    try:
        subprocess.run(["ip", "netns", "add", NAME], check=True)
        for link in ("eth0.5", "br1"):
            words = ["ip", "-n", NAME, "link", "add", link, "type", "bridge"]
            subprocess.run(words, check=True)
        with inside(f"/run/netns/{NAME}"):
            taken = sysctls.list_sysctls()
        words = ["ip", "netns", "exec", NAME, "sysctl", "-a", "-r", r"^net\."]
        done = subprocess.run(words, capture_output=True, check=False)
        assert b"net.ipv4.conf.eth0/5.rp_filter = " in taken
        assert sorted(taken.splitlines()) == sorted(done.stdout.splitlines())
    finally:
        subprocess.run(["ip", "netns", "del", NAME], check=False)


def test_values_of_several_lines_and_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line has the key before it; what cannot be read is left out, as a folder that is
    gone.
    """
    (tmp_path / "net").mkdir()
    (tmp_path / "net/two").write_bytes(b"a\nb\n")
    (tmp_path / "net/none").write_bytes(b"")
    (tmp_path / "net/gone").symlink_to("nowhere")
    monkeypatch.setattr(sysctls, "_ROOT", str(tmp_path))
    assert sysctls.list_sysctls() == b"net.none = \nnet.two = a\nnet.two = b\n"
    assert sysctls.list_sysctls("other") == b""


@pytest.mark.kernel("sysctl")
def test_what_one_namespace_has_is_known_of_the_next_by_its_names() -> None:
    """A device that only one of them has is read there, and its values are each one's own."""
    names = [f"{NAME}-{number}" for number in range(2)]
    plans: sysctls.Plans = {}
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
        words = ["ip", "-n", names[1], "link", "add", "extra", "type", "bridge"]
        subprocess.run(words, check=True)
        for name in names:
            with inside(f"/run/netns/{name}"):
                assert sysctls.list_sysctls() == sysctls.list_sysctls(plans=plans)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)
