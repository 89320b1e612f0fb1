"""sysctl.d as systemd applies it: directories, names, patterns, exclusions; held against
systemd-sysctl itself.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from podpath_protect.sysctl.dropins import (
    list_dropins,
    lookup_winner,
    parse_dropin,
    read_assignments,
)
from podpath_protect.sysctl.keys import parse_key

SYSTEMD_SYSCTL = "/lib/systemd/systemd-sysctl"
FILES = ("50-default.conf", "60-other.conf", "99-sysctl.conf", "99-zzz-override_cilium.conf")
LINES = (
    "net.ipv4.conf.all.rp_filter = {}", "net.ipv4.conf.default.rp_filter={}",
    "net.ipv4.conf.*.rp_filter = {}", "-net.ipv4.conf.all.rp_filter",
    "-net.ipv4.conf.lxc*.rp_filter = {}", "net/ipv4/conf/lxc1/rp_filter = {}",
    "-net.ipv4.conf.lxc2.rp_filter", "net.ipv4.conf.eth0/100.rp_filter = {}",
    "# net.ipv4.conf.lxc1.rp_filter = {}", "nonsense {}", "; {}",
    "-net/ipv4/conf/e*/rp_filter = {}", "net.ipv4.conf.lxc[12].rp_filter = {}",
)  # fmt: skip
KEYS = [
    f"net/ipv4/conf/{name}/rp_filter"
    for name in ("all", "default", "lo", "lxc1", "lxc2", "eth0.100")
]


def plant(root: Path, **files: str) -> Path:
    """Write files; `etc__50` is etc/sysctl.d/50.conf."""
    for name, text in files.items():
        directory, _, number = name.partition("__")
        path = root / directory.replace("_", "/") / "sysctl.d" / f"{number}.conf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def winner(root: Path, key: str) -> str | None:
    """Name the line that decides a key."""
    found = lookup_winner(read_assignments(root), parse_key(key))
    return None if found is None else found.where


def test_a_name_counts_once_and_names_are_ordered_over_directories(tmp_path: Path) -> None:
    """/etc hides the file of the same name under /usr/lib, and a later name wins wherever it
    stands.
    """
    plant(
        tmp_path, usr_lib__10="net.ipv4.ip_forward=0", etc__10="net.ipv4.ip_forward=1",
        usr_lib__20="net.ipv4.ip_forward=0", run__15="net.ipv4.ip_forward=1",
    )  # fmt: skip

    assert [str(dropin.path.relative_to(tmp_path)) for dropin in list_dropins(tmp_path)] == [
        "etc/sysctl.d/10.conf", "run/sysctl.d/15.conf", "usr/lib/sysctl.d/20.conf",
    ]  # fmt: skip
    assert (
        winner(tmp_path, "net.ipv4.ip_forward")
        == "/usr/lib/sysctl.d/20.conf:1: net.ipv4.ip_forward=0"
    )


def test_a_key_named_outright_beats_a_later_pattern(tmp_path: Path) -> None:
    """What sorts last wins only among equals (Y7)."""
    plant(
        tmp_path, usr_lib__50="net.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\n"
                              "net.ipv4.conf.lxc9.rp_filter=1",
        etc__99="-net.ipv4.conf.lxc*.rp_filter = 0",
    )  # fmt: skip

    assert (
        winner(tmp_path, "net.ipv4.conf.lxc1.rp_filter")
        == "/etc/sysctl.d/99.conf:1: -net.ipv4.conf.lxc*.rp_filter = 0"
    )
    assert (
        winner(tmp_path, "net.ipv4.conf.lxc9.rp_filter")
        == "/usr/lib/sysctl.d/50.conf:3: net.ipv4.conf.lxc9.rp_filter=1"
    )
    assert (
        winner(tmp_path, "net.ipv4.conf.eth0.rp_filter")
        == "/usr/lib/sysctl.d/50.conf:1: net.ipv4.conf.*.rp_filter = 2"
    )
    excluded = lookup_winner(read_assignments(tmp_path), parse_key("net.ipv4.conf.all.rp_filter"))
    assert excluded is not None
    assert excluded.value is None


def test_a_file_that_hides_another_with_nothing(tmp_path: Path) -> None:
    """A link to /dev/null masks a package's file."""
    plant(tmp_path, usr_lib__50="net.ipv4.ip_forward=0")
    (tmp_path / "etc/sysctl.d").mkdir(parents=True)
    (tmp_path / "etc/sysctl.d/50.conf").symlink_to("/dev/null")

    assert winner(tmp_path, "net.ipv4.ip_forward") is None


def test_what_is_no_assignment_is_left_out() -> None:
    """Comments, lines without a sign and keys that lead elsewhere are passed over."""
    assert parse_dropin("# a=b\n; c=d\n\nnonsense\nnet/../x = 1\n-\n", "x.conf") == ()


@pytest.mark.parity("Y7")
@pytest.mark.kernel("unshare")
@pytest.mark.skipif(not Path(SYSTEMD_SYSCTL).exists(), reason="needs systemd-sysctl")
@pytest.mark.parametrize("seed", range(8))
def test_systemd_sysctl_agrees(tmp_path: Path, seed: int) -> None:
    """For drawn drop-ins, each device ends with the value of the line that we say wins."""
    chance = random.Random(seed)
    for directory in ("etc", "run", "usr/lib"):
        folder = tmp_path / directory / "sysctl.d"
        folder.mkdir(parents=True)
        for name in chance.sample(FILES, chance.randint(1, 3)):
            lines = [
                line.format(chance.randint(0, 2))
                for line in chance.sample(LINES, chance.randint(1, 5))
            ]
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    binds = " && ".join(
        f"mount --bind {tmp_path}/{directory}/sysctl.d /{directory}/sysctl.d"
        for directory in ("etc", "usr/lib")
    )
    script = f"""set -e
        {binds}; mount -t tmpfs none /run; mkdir /run/sysctl.d; mount --bind {tmp_path}/run/sysctl.d /run/sysctl.d
        ip link add lxc1 type veth peer name eth0.100; ip link add lxc2 type veth peer name other
        for device in all default lo lxc1 lxc2 eth0.100; do echo 7 > /proc/sys/net/ipv4/conf/$device/rp_filter; done
        {SYSTEMD_SYSCTL} 2>/dev/null || true
        cat {" ".join(f"/proc/sys/{key}" for key in KEYS)}"""  # noqa: E501
    done = subprocess.run(
        [shutil.which("unshare") or "unshare", "--mount", "--net", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    ordered = read_assignments(tmp_path)
    ours = [
        found.value if (found := lookup_winner(ordered, parse_key(key))) is not None else None
        for key in KEYS
    ]

    assert ["7" if value is None else value for value in ours] == done.stdout.split()
