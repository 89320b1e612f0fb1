"""The tree is read as it stands; what cannot be read is told apart from what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.tree import RawValue, SysctlTree


def test_values_are_read(tmp_path: Path) -> None:
    """White space is made single blanks."""
    (tmp_path / "net").mkdir()
    (tmp_path / "net/range").write_text("1024\t65535\n", encoding="utf-8")

    assert SysctlTree(root=tmp_path).read(parse_key("net.range")) == RawValue("1024 65535")
    assert SysctlTree(root=tmp_path).read(parse_key("net.none")) == RawValue(None, missing=True)
    assert SysctlTree(root=tmp_path).list(parse_key("net.none")) == ()


@pytest.mark.kernel
def test_what_the_kernel_refuses_to_tell() -> None:
    """A key that is there and cannot be read is no missing key (stable_secret gives EIO until it is
    set).
    """
    assert SysctlTree().read(parse_key("net.ipv6.conf.lo.stable_secret")) == RawValue(
        None, why="Input/output error"
    )


def test_the_real_tree_has_devices() -> None:
    """Every machine has its loopback device."""
    assert "lo" in SysctlTree().devices()
