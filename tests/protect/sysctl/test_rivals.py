"""Who else writes a key is named, with the line that says so; those first whose value was seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.net.owners import load_owners
from podpath_protect.processes import list_programs
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.rivals import describe_rivals, gather_rivals
from podpath_protect.sysctl.rivals_programs import known_writers

KEY = parse_key("net.ipv4.conf.all.rp_filter")


def plant(root: Path, files: dict[str, str]) -> Path:
    """Write files below a root."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def actors(root: Path, key: str, seen: str) -> list[tuple[str, str | None]]:
    """Name the writers of a key, in order."""
    return [
        (claim.actor, claim.value)
        for claim in gather_rivals(root, root / "proc").about(parse_key(key), seen)
    ]


def test_the_rp_filter_reset_of_tuned_is_named(tmp_path: Path) -> None:
    """The included profile's line is quoted, and the including one's value wins."""
    plant(tmp_path, {
        "etc/tuned/active_profile": "openshift-node\n",
        "usr/lib/tuned/openshift-node/tuned.conf": "[main]\ninclude=throughput-performance\n"
                                                   "[sysctl]\nnet.ipv4.ip_forward=1\n",
        "usr/lib/tuned/throughput-performance/tuned.conf": "[sysctl]\n"
            "net.ipv4.conf.all.rp_filter = 1\nnet.ipv4.ip_forward=0\nvm.x=${v}\n",
    })  # fmt: skip
    rivals = gather_rivals(tmp_path, tmp_path / "proc")

    (claim,) = rivals.about(KEY, "1")
    assert (claim.actor, claim.value) == ("tuned profile throughput-performance", "1")
    assert (
        claim.where
        == "/usr/lib/tuned/throughput-performance/tuned.conf:2: net.ipv4.conf.all.rp_filter = 1"
    )
    assert actors(tmp_path, "net.ipv4.ip_forward", "1") == [("tuned profile openshift-node", "1")]
    assert actors(tmp_path, "vm.x", "1") == [("tuned profile throughput-performance", None)]


def test_a_tuned_profile_never_leads_elsewhere(tmp_path: Path) -> None:
    """A profile's name that is a path, and profiles that include each other, end."""
    plant(tmp_path, {
        "etc/tuned/active_profile": "../../secret a\n",
        "etc/tuned/a/tuned.conf": "[main]\ninclude=b\n",
        "etc/tuned/b/tuned.conf": "[main]\ninclude=a\n[sysctl]\nnet.ipv4.ip_forward=0\n",
    })  # fmt: skip

    assert actors(tmp_path, "net.ipv4.ip_forward", "0") == [("tuned profile b", "0")]


def test_the_line_that_wins_of_the_drop_ins(tmp_path: Path) -> None:
    """Of all drop-ins the one that decides is named, not each that mentions the key."""
    plant(tmp_path, {
        "usr/lib/sysctl.d/50-default.conf": "net.ipv4.conf.all.rp_filter = 2\n",
        "etc/sysctl.d/60-mine.conf": "net.ipv4.conf.all.rp_filter = 1\n",
    })  # fmt: skip

    (claim,) = gather_rivals(tmp_path, tmp_path / "proc").about(KEY)
    assert (claim.actor, claim.where) == (
        "systemd-sysctl",
        "/etc/sysctl.d/60-mine.conf:1: net.ipv4.conf.all.rp_filter = 1",
    )


def test_units_that_write_sysctls(tmp_path: Path) -> None:
    """`sysctl -w` and `echo` into /proc/sys are found in commands, also of a unit's drop-in."""
    plant(tmp_path, {
        "etc/systemd/system/harden.service": "[Service]\nExecStart=/sbin/sysctl -w "
                                             "net.ipv4.conf.all.rp_filter=1\n",
        "etc/systemd/system/app.service.d/x.conf": "[Service]\nExecStartPre=sh -c 'echo 0 > "
                                                   "/proc/sys/net/ipv4/ip_forward'\n",
        "etc/systemd/system/none.service": "[Unit]\nDescription=sets sysctl net.ipv4.ip_forward=1\n"
                                           "[Service]\nExecStart=true\n",
    })  # fmt: skip

    assert actors(tmp_path, "net.ipv4.conf.all.rp_filter", "1") == [("unit harden.service", "1")]
    assert actors(tmp_path, "net.ipv4.ip_forward", "0") == [("unit app.service", "0")]


def test_networkd_and_networkmanager(tmp_path: Path) -> None:
    """What they configure of a device is a claim on that device's keys; nothing else of their files
    is quoted.
    """
    plant(tmp_path, {
        "etc/systemd/network/10-eth.network": "[Match]\nName=eth* en0\n[Network]\n"
                                              "IPv4ReversePathFilter=strict\n",
        "etc/NetworkManager/system-connections/home.nmconnection":
            "[connection]\ninterface-name=wlan0\n[wifi-security]\npsk=secret\n[ipv6]\n"
            "method=disabled\n",
    })  # fmt: skip
    rivals = gather_rivals(tmp_path, tmp_path / "proc")

    assert actors(tmp_path, "net.ipv4.conf.eth1.rp_filter", "1") == [("systemd-networkd", "1")]
    assert actors(tmp_path, "net.ipv4.conf.lxc1.rp_filter", "1") == []
    assert actors(tmp_path, "net.ipv6.conf.wlan0.disable_ipv6", "1") == [("NetworkManager", "1")]
    assert "secret" not in str(rivals)


def test_procps_reads_the_file_that_systemd_does_not(tmp_path: Path) -> None:
    """/etc/sysctl.conf is applied by `sysctl --system`; where systemd has a link to it, it is a
    drop-in.
    """
    plant(tmp_path, {"etc/sysctl.conf": "net.ipv4.ip_forward=0\n"})
    assert actors(tmp_path, "net.ipv4.ip_forward", "0") == [("sysctl --system", "0")]

    (tmp_path / "etc/sysctl.d").mkdir()
    (tmp_path / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    assert actors(tmp_path, "net.ipv4.ip_forward", "0") == [("systemd-sysctl", "0")]


@pytest.mark.parity("G23")
def test_programs_that_are_known_to_write(tmp_path: Path) -> None:
    """A running kube-proxy is named for conntrack's size, by its process (G23)."""
    plant(
        tmp_path,
        {
            "proc/17/comm": "kube-proxy\n",
            "proc/self/comm": "x\n",
            "proc/18/comm": "NetworkManager\n",
        },
    )
    programs = list_programs(tmp_path / "proc")
    rivals = gather_rivals(tmp_path, tmp_path / "proc")

    assert programs == {"kube-proxy": 17, "NetworkManager": 18}
    (claim,) = rivals.about(parse_key("net.netfilter.nf_conntrack_max"), "131072")
    assert (claim.actor, claim.where) == (
        "kube-proxy",
        "process 17, known to write net.netfilter.nf_conntrack_max",
    )
    assert "likely NetworkManager (process 18" in describe_rivals(
        rivals.about(parse_key("net.ipv4.conf.eth0.rp_filter")), "2"
    )
    assert describe_rivals((), "1") == ""


def test_every_known_writer_has_keys_that_can_be_read() -> None:
    """The table holds keys, patterns and what to do about each program."""
    rows = [row for row in load_owners() if row.writes]
    programs = {row.process[:15]: 1 for row in rows}
    writes = [one for row in rows for one in row.writes]

    assert len(known_writers(programs)) == sum(len(one.keys) for one in writes)
    assert all(one.note for one in writes)
