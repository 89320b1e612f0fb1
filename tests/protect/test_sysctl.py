"""The rows Y1 to Y12 and the gaps G18 to G24 of docs/quality/parity.md, on the real /proc/sys of
network namespaces.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from podpath.collect.netns import inside
from podpath_protect import netlink
from podpath_protect.agent.keeper import ThreadKeeper
from podpath_protect.apply import Applier
from podpath_protect.sysctl.guard import SysctlGuard
from podpath_protect.sysctl.keeper import keep_sysctls
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.options import SysctlOptions, make_duty
from podpath_protect.sysctl.settings import SysctlSetting
from tests.protect.unprivileged import as_nobody

NAME = f"psy-rows-{os.getpid()}"
HANDLE = f"/run/netns/{NAME}"
LXC = "net.ipv4.conf.lxc*.rp_filter=0"
pytestmark = pytest.mark.kernel


@pytest.fixture(autouse=True)
def namespace() -> Iterator[None]:
    """Make a namespace with an uplink that is guarded by `all`, and a pod's device."""
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    add("lxc1", "eth0")
    put("all", 0)
    yield
    subprocess.run(["ip", "netns", "delete", NAME], check=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Provide a host's root without any configuration."""
    for directory in ("etc/sysctl.d", "etc/cni/net.d", "usr/lib/sysctl.d"):
        (tmp_path / directory).mkdir(parents=True)
    return tmp_path


def command(*arguments: str) -> str:
    """Run a command in the namespace."""
    done = subprocess.run(
        ["ip", "netns", "exec", NAME, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def add(name: str, peer: str) -> None:
    """Add a pair of devices."""
    subprocess.run(
        ["ip", "-n", NAME, "link", "add", name, "type", "veth", "peer", "name", peer], check=True
    )


def put(device: str, value: int) -> None:
    """Write a device's rp_filter, as a rival would."""
    with inside(HANDLE):
        Path(f"/proc/sys/net/ipv4/conf/{device}/rp_filter").write_text(str(value), encoding="utf-8")


def look(device: str) -> int:
    """Read a device's rp_filter."""
    with inside(HANDLE):
        return int(Path(f"/proc/sys/net/ipv4/conf/{device}/rp_filter").read_text(encoding="utf-8"))


def protect(root: Path, *arguments: str, wrap: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """Run the command in the namespace, and give its exit code and its JSON."""
    done = subprocess.run(
        [
            "ip", "netns", "exec", NAME, *wrap, sys.executable, "-m", "podpath", "protect",
            "sysctl", "--json", "--root", str(root), *arguments,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(
        found,
        json.loads(
            (resources.files("podpath.report") / "schema/sysctl-v1.json").read_text(
                encoding="utf-8"
            )
        ),
    )
    return done.returncode, found


def kept(root: Path, *keys: str, poll: float = 60.0) -> ThreadKeeper:
    """Start a keeper in the namespace; its thread lives in the namespace of the thread that starts
    it.
    """
    settings = tuple(
        SysctlSetting(key=parse_key(name), value=value)
        for name, value in (key.split("=") for key in keys)
    )
    options = SysctlOptions(profiles=(), key=settings, root=str(root), poll=poll)
    keeper = ThreadKeeper("sysctl", lambda context: keep_sysctls(context, options, Applier()))
    with inside(HANDLE):
        keeper.start()
    assert wait_until(lambda: keeper.status().ready)
    return keeper


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


@pytest.mark.parity("Y1")
@pytest.mark.kernel("strace")
def test_y1_what_is_right_is_not_written(root: Path, tmp_path: Path) -> None:
    """With every key right, --fix opens nothing below /proc/sys for writing, and the kernel tells
    of no change.
    """
    put("lxc1", 0)
    trace = tmp_path / "trace"
    with inside(HANDLE), netlink.Monitor(netlink.IPV4_NETCONF_GROUP) as monitor:
        strace = ("strace", "-f", "-e", "trace=openat", "-o", str(trace))
        code, found = protect(root, "--key", LXC, "--fix", wrap=strace)

        assert monitor.events() == []
    assert (code, found["writes"]) == (0, [])
    opened = [
        line for line in trace.read_text(encoding="utf-8").split("\n") if "/proc/sys/net" in line
    ]
    assert opened
    assert not [line for line in opened if "O_WRONLY" in line or "O_RDWR" in line]


@pytest.mark.parity("Y2")
def test_y2_drift_is_put_back_at_once(root: Path) -> None:
    """What netconf tells (rp_filter) and what only inotify tells (somaxconn) is put back long
    before the poll.
    """
    keeper = kept(root, LXC, "net.core.somaxconn=4096")
    try:
        began = time.monotonic()
        put("lxc1", 2)
        assert wait_until(lambda: look("lxc1") == 0)
        command("sysctl", "-qw", "net.core.somaxconn=128")
        assert wait_until(lambda: command("sysctl", "-n", "net.core.somaxconn").strip() == "4096")
        assert time.monotonic() - began < 30
    finally:
        keeper.stop()


@pytest.mark.parity("Y2")
def test_y2_a_write_that_nothing_tells_of_is_found_by_the_poll(root: Path) -> None:
    """A key that netconf does not know, written through another mount of proc, is put back within
    an interval.
    """
    keeper = kept(root, "net.core.somaxconn=4096", poll=1.0)
    try:
        subprocess.run(
            ["ip", "netns", "exec", NAME, "unshare", "--mount", "--pid", "--fork", "sh", "-c",
             "mount -t proc proc /proc && echo 128 > /proc/sys/net/core/somaxconn"],
            check=True,
        )  # fmt: skip
        assert wait_until(lambda: command("sysctl", "-n", "net.core.somaxconn").strip() == "4096")
    finally:
        keeper.stop()


@pytest.mark.parity("Y3")
def test_y3_a_missing_key(root: Path) -> None:
    """A key that does not exist is an error where it is mandatory, and a warning where it is
    not.
    """
    options = {
        mandatory: SysctlSetting(
            key=parse_key("net.ipv4.no_such_key"), value="1", mandatory=mandatory
        )
        for mandatory in (True, False)
    }
    found = {}
    for mandatory, setting in options.items():
        duty, _ = make_duty(SysctlOptions(profiles=(), key=(setting,), root=str(root)))
        outcome = SysctlGuard(duty, Applier()).look(0.0)
        found[mandatory] = [
            (finding.check, finding.severity, outcome.holds) for finding in outcome.findings
        ]

    assert found == {
        True: [("sysctl-missing", "error", False)],
        False: [("sysctl-missing", "warning", True)],
    }


@pytest.mark.parity("Y4")
def test_y4_a_device_with_a_dot(root: Path) -> None:
    """eth0.100 is one device in a pattern and by its own name, and never split."""
    add("eth0.100", "peer")
    put("eth0.100", 2)

    code, found = protect(root, "--key", "net.ipv4.conf.eth0/100.rp_filter=1", "--fix")
    assert (code, look("eth0.100"), [write["key"] for write in found["writes"]]) == (
        0, 1, ["net.ipv4.conf.eth0/100.rp_filter"],
    )  # fmt: skip
    put("eth0.100", 2)
    assert protect(root, "--key", "net/ipv4/conf/eth0.*/rp_filter=0", "--fix")[0] == 0
    assert look("eth0.100") == 0


@pytest.mark.parity("Y5")
@pytest.mark.parametrize("key", ["net/../../../etc/x=1", "net.ipv4./.x=1", "net..x=1"])
def test_y5_what_leads_out_of_the_tree_is_refused(key: str) -> None:
    """`..`, slashes and empty segments are a usage error, and nothing is touched."""
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "protect", "sysctl", "--key", key, "--fix"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "expected" in done.stderr


@pytest.mark.parity("Y6", "G19")
@pytest.mark.kernel("strace")
def test_y6_an_unchanged_drop_in_is_not_written_and_no_unit_is_restarted(
    root: Path, tmp_path: Path
) -> None:
    """The second time nothing is written; neither time is systemd spoken to (G19)."""
    trace = tmp_path / "trace"
    arguments = ("--key", LXC, "--fix", "--persist")
    strace = ("strace", "-f", "-e", "trace=execve,connect", "-o", str(trace))
    _, first = protect(root, *arguments, wrap=strace)
    dropin = root / "etc/sysctl.d/99-zzz-podpath.conf"
    before = dropin.stat()
    _, second = protect(root, *arguments)

    assert first["deeds"] == [f"done: {dropin}"]
    assert second["deeds"] == [f"unchanged: {dropin}"]
    assert (dropin.stat().st_mtime_ns, dropin.stat().st_ino, dropin.stat().st_mode & 0o777) == (
        before.st_mtime_ns, before.st_ino, 0o644,
    )  # fmt: skip
    assert "-net.ipv4.conf.lxc*.rp_filter = 0" in dropin.read_text(encoding="utf-8").split("\n")
    spoken = trace.read_text(encoding="utf-8")
    assert "systemctl" not in spoken
    assert "/run/systemd" not in spoken
    assert "dbus" not in spoken


@pytest.mark.parity("Y7")
def test_y7_who_wins_is_told_for_each_device(root: Path) -> None:
    """A line that names the device outright beats our pattern: file, line and value are told, for
    that device only.
    """
    add("lxc2", "peer")
    (root / "usr/lib/sysctl.d/50-vendor.conf").write_text(
        (
            "net.ipv4.conf.*.rp_filter = 2\nnet.ipv4.conf.lxc2.rp_filter = 1\n"
            "-net.ipv4.conf.all.rp_filter\n"
        ),
        encoding="utf-8",
    )
    _, found = protect(root, "--key", LXC, "--fix", "--persist")

    (lost,) = [
        finding for finding in found["findings"] if finding["check"] == "sysctl-lost-at-boot"
    ]
    assert lost["subject"] == "net.ipv4.conf.lxc2.rp_filter"
    assert lost["evidence"] == [
        "/usr/lib/sysctl.d/50-vendor.conf:2: net.ipv4.conf.lxc2.rp_filter = 1"
    ]


@pytest.mark.parity("Y7")
@pytest.mark.parametrize("folder", ["etc/sysctl.d", "usr/lib/sysctl.d"])
def test_y7_a_new_drop_in_is_told_at_once(root: Path, folder: str) -> None:
    """A file that will win at the next boot is named when it comes, and no more when it goes, long
    before the poll.
    """
    keeper = kept(root, "net.core.somaxconn=4096")

    def lost() -> list[str]:
        return [
            finding.evidence[0]
            for finding in keeper.status().findings
            if finding.check == "sysctl-lost-at-boot"
        ]

    try:
        (root / folder / "zz-rival.conf").write_text("net.core.somaxconn = 128\n", encoding="utf-8")
        assert wait_until(
            lambda: lost() == [f"/{folder}/zz-rival.conf:1: net.core.somaxconn = 128"]
        )
        (root / folder / "zz-rival.conf").unlink()
        assert wait_until(lambda: lost() == [])
    finally:
        keeper.stop()


def test_y7_a_storm_of_drop_ins_is_read_once_a_second(root: Path) -> None:
    """Whoever writes there a hundred times in a second costs a look or two, not a hundred."""
    keeper = kept(root, "net.core.somaxconn=4096")

    def looks() -> float:
        return next(
            sample.value for sample in keeper.status().samples if sample.name == "sysctl_looks"
        )

    try:
        time.sleep(0.2)
        before, began = looks(), time.monotonic()
        for number in range(100):
            (root / "etc/sysctl.d/zz-rival.conf").write_text(
                f"net.core.somaxconn = {number}\n", encoding="utf-8"
            )
            time.sleep(0.01)
        assert wait_until(
            lambda: any(
                finding.check == "sysctl-lost-at-boot" for finding in keeper.status().findings
            )
        )
        assert looks() - before <= 3 + (time.monotonic() - began)
    finally:
        keeper.stop()


@pytest.mark.parity("Y8")
@pytest.mark.skipif(not Path("/lib/systemd/systemd-sysctl").exists(), reason="needs systemd-sysctl")
def test_y8_a_new_device_is_ours_after_udev(root: Path, tmp_path: Path) -> None:
    """A veth appears, udev's rule applies the distribution's drop-in to it a little later: the
    value ends as ours.
    """
    (tmp_path / "50-default.conf").write_text("net.ipv4.conf.*.rp_filter = 2\n", encoding="utf-8")
    keeper = kept(root, LXC)
    try:
        for number in range(2, 6):
            add(f"lxc{number}", f"peer{number}")
            put(f"lxc{number}", 2)
            # As 99-systemd.rules does for each new interface, with the drop-in named instead of the
            # machine's own.
            conf = str(tmp_path / "50-default.conf")
            command("/lib/systemd/systemd-sysctl", f"--prefix=/net/ipv4/conf/lxc{number}", conf)
        assert wait_until(lambda: [look(f"lxc{number}") for number in range(2, 6)] == [0, 0, 0, 0])
        time.sleep(0.2)
        assert [look(f"lxc{number}") for number in range(2, 6)] == [0, 0, 0, 0]
    finally:
        keeper.stop()


@pytest.mark.parity("Y9", "G18")
@pytest.mark.parametrize(("everywhere", "own", "in_force"), [(1, 0, "1"), (0, 2, "2"), (2, 1, "2")])
def test_y9_the_value_in_force_is_judged(
    root: Path, everywhere: int, own: int, in_force: str
) -> None:
    """`all` = 1 over a device's 0, and a device's 2 over `all` = 0, are told with the value in
    force (G18), and mended.
    """
    put("all", everywhere)
    put("lxc1", own)

    code, found = protect(root, "--key", LXC)
    key = next(key for key in found["keys"] if key["key"] == "net.ipv4.conf.lxc1.rp_filter")
    assert (code, key["in_force"], key["state"]) == (
        1,
        in_force,
        "forced" if own == 0 else "drifted",
    )

    assert protect(root, "--key", LXC, "--fix")[0] == 0
    assert max(look("all"), look("lxc1")) == 0


@pytest.mark.parity("Y10", "G22")
@pytest.mark.kernel("iptables-nft", "iptables-legacy", "nft")
@pytest.mark.parametrize("program", ["iptables-nft", "iptables-legacy", "ip6tables-nft", "nft"])
@pytest.mark.parametrize("dropping", [True, False])
@pytest.mark.parametrize("liberal", [True, False])
def test_y10_conntrack_and_kube_proxy(
    root: Path, program: str, *, dropping: bool, liberal: bool
) -> None:
    """be_liberal flipped while the INVALID rule stands, and back while it does not, is told in
    every mode (G22).
    """
    command("sysctl", "-qw", f"net.netfilter.nf_conntrack_tcp_be_liberal={int(liberal)}")
    if program == "nft":
        command("nft", "add table ip kube-proxy; add chain ip kube-proxy forward")
        if dropping:
            command("nft", "add rule ip kube-proxy forward ct state invalid drop")
    else:
        command(program, "-N", "KUBE-FORWARD")
        if dropping:
            command(
                program,
                "-A",
                "KUBE-FORWARD",
                "-m",
                "conntrack",
                "--ctstate",
                "INVALID",
                "-j",
                "DROP",
            )
    _, found = protect(root, "--key", LXC)

    kinds = [
        (each["subject"], each["mend"])
        for each in found["findings"]
        if each["check"] == "conntrack-contradiction"
    ]
    if dropping is liberal:
        wrong = "drops-though-liberal" if dropping else "lets-pass-though-strict"
        assert kinds == [(wrong, ["restart kube-proxy on this node"])]
    else:
        assert kinds == []


@pytest.mark.parity("Y11")
def test_y11_a_read_only_tree_is_told(root: Path) -> None:
    """Where /proc/sys cannot be written, the exit code is not 0 and the reason stands there."""
    put("lxc1", 2)
    wrap = (
        "unshare",
        "--mount",
        "sh",
        "-c",
        (
            "mount -t proc proc /proc -o ro 2>/dev/null; mount -o bind,ro /proc/sys /proc/sys; "
            'exec "$@"'
        ),
        "sh",
    )
    code, found = protect(root, "--key", LXC, "--fix", wrap=wrap)

    assert (code, [write["state"] for write in found["writes"]]) == (1, ["refused"])
    (refused,) = [each for each in found["findings"] if each["check"] == "sysctl-refused"]
    assert "/proc/sys is mounted read-only here" in refused["claim"]


@pytest.mark.parity("Y11", "G21")
def test_y11_a_read_only_etc_is_told(root: Path) -> None:
    """Where the drop-in cannot be written the keys hold now, and it is told that they will not at
    the next boot (G21).
    """
    put("lxc1", 2)
    wrap = (
        "unshare",
        "--mount",
        "sh",
        "-c",
        f'mount --bind {root}/etc {root}/etc; mount -o remount,bind,ro {root}/etc; exec "$@"',
        "sh",
    )
    code, found = protect(root, "--key", LXC, "--fix", "--persist", wrap=wrap)

    assert (code, look("lxc1")) == (0, 0)
    (lost,) = [each for each in found["findings"] if each["check"] == "sysctl-not-persisted"]
    assert (lost["severity"], "Read-only file system" in lost["claim"]) == ("warning", True)


@pytest.mark.parity("Y12", "G23")
def test_y12_conntrack_max_is_global(root: Path) -> None:
    """In a namespace of its own the size is read-only: it is told that the host has it (G23)."""
    code, found = protect(root, "--key", "net.netfilter.nf_conntrack_max>=100000000", "--fix")

    assert code == 1
    assert "set it on the host" in found["findings"][0]["claim"]


@pytest.mark.parity("Y12", "G23")
def test_y12_a_floor_is_content_with_more_and_names_the_owner(root: Path, tmp_path: Path) -> None:
    """A lowered size is put back, a raised one let be; a running kube-proxy is named with the
    option that tells it otherwise.
    """
    tree = tmp_path / "sys"
    (tree / "net/netfilter").mkdir(parents=True)
    size = tree / "net/netfilter/nf_conntrack_max"
    rival = tmp_path / "kube-proxy"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", rival)
    running = subprocess.Popen([rival, "600"])
    setting = SysctlSetting(
        key=parse_key("net.netfilter.nf_conntrack_max"), value="131072", policy="floor"
    )
    options = SysctlOptions(profiles=(), key=(setting,), root=str(root), proc_sys=str(tree))
    try:
        size.write_text("262144\n", encoding="utf-8")
        guard = SysctlGuard(make_duty(options)[0], Applier())
        assert guard.look(0.0).attempts == ()
        size.write_text("65536\n", encoding="utf-8")
        report = make_duty(
            SysctlOptions(
                mode="report", profiles=(), key=(setting,), root=str(root), proc_sys=str(tree)
            )
        )[0]
        (finding,) = SysctlGuard(report, Applier()).look(0.0).findings
        assert guard.look(1.0).holds
    finally:
        running.kill()
        running.wait()

    assert size.read_text(encoding="utf-8") == "131072\n"
    assert "likely kube-proxy (process" in finding.claim
    assert any("--conntrack-max-per-core=0" in line for line in finding.evidence)


@pytest.mark.parity("G19")
def test_g19_the_neighbours_settings_are_left_alone(root: Path) -> None:
    """What another CNI set on its own device since boot stays, whatever drop-ins say."""
    (root / "etc/sysctl.d/10-all.conf").write_text(
        "net.ipv4.conf.eth0.rp_filter = 1\n", encoding="utf-8"
    )
    put("eth0", 2)
    put("lxc1", 1)
    code, found = protect(root, "--key", LXC, "--fix", "--persist")

    assert (code, look("eth0"), look("lxc1")) == (0, 2, 0)
    assert [write["key"] for write in found["writes"]] == ["net.ipv4.conf.lxc1.rp_filter"]


@pytest.mark.parity("G20")
@pytest.mark.parametrize("declared", [(LXC,), (LXC, "net.ipv4.conf.all.rp_filter=0")])
def test_g20_the_uplink_keeps_its_spoof_protection(root: Path, declared: tuple[str, ...]) -> None:
    """`all` gives way to the pods' devices, and the uplink and devices to come have as their own
    what `all` gave them.
    """
    put("all", 1)
    keys = [argument for key in declared for argument in ("--key", key)]
    code, _ = protect(root, *keys, "--fix")

    assert code == 0
    assert {name: max(look("all"), look(name)) for name in ("lxc1", "eth0", "default")} == {
        "lxc1": 0,
        "eth0": 1,
        "default": 1,
    }
    assert protect(root, *keys, "--fix")[1]["writes"] == []


@pytest.mark.parity("G20")
def test_g20_all_is_left_alone_on_request(root: Path) -> None:
    """With --keep-all the force of `all` is only told."""
    put("all", 1)
    code, found = protect(root, "--key", LXC, "--fix", "--keep-all")

    assert (code, look("all"), found["findings"][0]["check"]) == (1, 1, "sysctl-forced")


@pytest.mark.parity("G24")
def test_g24_br_netfilter_is_asked_for_by_the_cni(root: Path, tmp_path: Path) -> None:
    """A node whose CNI is flannel and whose module is not loaded is told so for IPv4 and IPv6, with
    the command.
    """
    (root / "etc/cni/net.d/10-flannel.conflist").write_text(
        json.dumps({"name": "cbr0", "plugins": [{"type": "flannel"}, {"type": "portmap"}]}),
        encoding="utf-8",
    )
    tree = tmp_path / "sys"
    (tree / "net/ipv4").mkdir(parents=True)
    (tree / "net/ipv4/ip_forward").write_text("1\n", encoding="utf-8")
    duty, chosen = make_duty(
        SysctlOptions(mode="report", root=str(root), proc_sys=str(tree), proc=str(tmp_path))
    )
    outcome = SysctlGuard(duty, Applier()).look(0.0)

    assert dict(chosen) == {"bridge": "CNI plugin flannel"}
    errors = {
        finding.subject: finding for finding in outcome.findings if finding.severity == "error"
    }
    assert set(errors) == {
        "net.bridge.bridge-nf-call-iptables",
        "net.bridge.bridge-nf-call-ip6tables",
    }
    assert all(finding.mend == ("modprobe br_netfilter",) for finding in errors.values())


def test_a_fight_is_told_and_slowed_down(root: Path) -> None:
    """A rival that writes again and again is met ever more slowly, named by its drop-in, and the
    part is still alive.
    """
    (root / "etc/sysctl.d/10-rival.conf").write_text(
        "net.ipv4.conf.lxc1.rp_filter = 2\n", encoding="utf-8"
    )
    keeper = kept(root, LXC)
    try:
        writes = 0
        end = time.monotonic() + 3
        while time.monotonic() < end:
            put("lxc1", 2)
            writes += 1
            time.sleep(0.02)
        found = {finding.check: finding for finding in keeper.status().findings}
        done = {
            sample.labels: sample.value
            for sample in keeper.status().samples
            if sample.name == "sysctl_writes"
        }
    finally:
        keeper.stop()

    assert writes > 50
    assert done[(("state", "done"),)] <= 8
    assert "/etc/sysctl.d/10-rival.conf:1" in found["sysctl-fought"].claim


def test_exactly_one_capability_is_needed(root: Path) -> None:
    """As nobody with CAP_NET_ADMIN alone, keys are written; without it, it is said which capability
    is missing.
    """
    put("lxc1", 2)
    code, found = protect(root, "--key", LXC, "--fix", wrap=as_nobody())
    assert code == 1
    assert "CAP_NET_ADMIN is missing" in found["findings"][0]["claim"]

    assert protect(root, "--key", LXC, "--fix", wrap=as_nobody("net_admin"))[0] == 0
    assert look("lxc1") == 0


def test_a_dry_run_changes_nothing(root: Path) -> None:
    """What would be done is listed, and nothing is."""
    put("lxc1", 2)
    code, found = protect(root, "--key", LXC, "--dry-run", "--persist")

    assert (code, look("lxc1"), [write["state"] for write in found["writes"]]) == (1, 2, ["would"])
    assert list((root / "etc/sysctl.d").iterdir()) == []


def test_the_proposed_commands_mend_what_all_forces(root: Path) -> None:
    """Typed one after the other, what a person is told leaves every declared device and the uplink
    as they shall be.
    """
    add("lxc2", "peer")
    put("all", 1)
    _, found = protect(root, "--key", LXC)
    forced = next(each for each in found["findings"] if each["check"] == "sysctl-forced")
    for line in forced["mend"]:
        command("sh", "-c", line)

    assert {name: max(look("all"), look(name)) for name in ("lxc1", "lxc2", "eth0")} == {
        "lxc1": 0,
        "lxc2": 0,
        "eth0": 1,
    }


def test_the_automatic_profile_follows_the_node(root: Path) -> None:
    """A keeper that starts before the CNI keeps its keys as soon as the node shows it."""
    options = SysctlOptions(root=str(root), proc=str(root), poll=1.0)
    keeper = ThreadKeeper("sysctl", lambda context: keep_sysctls(context, options, Applier()))
    subprocess.run(["ip", "-n", NAME, "link", "delete", "lxc1"], check=True)
    with inside(HANDLE):
        keeper.start()
    try:
        assert wait_until(lambda: "no profile fits" in keeper.status().why)
        assert keeper.status().ready
        (root / "etc/cni/net.d/10-calico.conflist").write_text(
            '{"name": "k", "plugins": [{"type": "calico"}]}', encoding="utf-8"
        )
        assert wait_until(lambda: command("sysctl", "-n", "net.ipv4.ip_forward").strip() == "1")
    finally:
        keeper.stop()


@pytest.mark.parity("G24")
def test_modules_are_loaded_on_request_and_refusals_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """modprobe is run for what a mandatory key lacks and for what is named; what it says is in the
    finding.
    """
    (root / "bin").mkdir()
    script = '#!/bin/sh\necho "$@" >> "${0%/*}/ran"\necho no such module >&2\nexit 1\n'
    (root / "bin/modprobe").write_text(script, encoding="utf-8")
    (root / "bin/modprobe").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    setting = SysctlSetting(key=parse_key("net.no_such.key"), value="1", module="no_such_module")
    options = SysctlOptions(
        profiles=(),
        key=(setting,),
        modules=("no_other_module",),
        load_modules=True,
        persist=True,
        root=str(root),
    )
    outcome = SysctlGuard(make_duty(options)[0], Applier()).look(0.0)

    assert (root / "bin/ran").read_text(
        encoding="utf-8"
    ) == "-- no_other_module\n-- no_such_module\n"
    claims = [finding.claim for finding in outcome.findings if finding.check == "module-missing"]
    assert [claim for claim in claims if "ended with 1: no such module" in claim] == claims
    assert len(claims) == 2
    persisted = (root / "etc/modules-load.d/podpath.conf").read_text(encoding="utf-8")
    assert persisted.split("\n")[1:] == ["no_other_module", "no_such_module", ""]


ALONE = ("unshare", "--pid", "--fork", "--mount-proc")
"""Before a command: it sees no process of the machine but its own."""


def text(root: Path, *arguments: str, wrap: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """Run the command without --json, and give its exit code and what it printed."""
    done = subprocess.run(
        [
            "ip", "netns", "exec", NAME, *wrap, sys.executable, "-m", "podpath", "protect",
            "sysctl", "--root", str(root), *arguments,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_text_says_what_is_what_it_shall_be_and_what_mends_it(root: Path) -> None:
    """Checked, put right, checked again."""
    put("lxc1", 2)
    code, shown, _ = text(root, "--key", LXC)
    assert code == 1
    assert "✗ net.ipv4.conf.lxc1.rp_filter = 2  (should be = 0)" in shown
    assert "  mend: sysctl -w net.ipv4.conf.lxc1.rp_filter=0\n" in shown
    code, shown, _ = text(root, "--key", LXC, "--fix")
    assert (code, "  done: sysctl -w net.ipv4.conf.lxc1.rp_filter=0 (declared)" in shown) == (
        0,
        True,
    )
    assert text(root, "--key", LXC) == (
        0,
        "✓ net.ipv4.conf.lxc1.rp_filter = 0  (should be = 0)\n",
        "",
    )


def test_profiles_are_listed() -> None:
    """Each key with what it shall be and why."""
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "protect", "sysctl", "--profiles"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "kube-proxy: " in done.stdout
    assert "    net.netfilter.nf_conntrack_max >= 131072  " in done.stdout


@pytest.mark.parametrize(
    "wrong",
    [("--key", "net.ipv4.x"), ("--key", "a.b>=x"), ("--profile", "weave"), ("--module", "-r")],
)
def test_usage_errors(root: Path, wrong: tuple[str, ...]) -> None:
    """What cannot be meant ends with 2 and one clear line."""
    code, shown, complained = text(root, *wrong)

    assert (code, shown) == (2, "")
    assert complained.startswith("podpath: ")
    assert complained.count("\n") == 1


def test_a_node_that_shows_no_cni_needs_a_profile_named(root: Path) -> None:
    """With nothing to hold, nothing is claimed to hold."""
    subprocess.run(["ip", "-n", NAME, "link", "delete", "lxc1"], check=True)
    code, _, complained = text(root, wrap=ALONE)

    assert code == 2
    assert "name one with --profile" in complained


def test_watching_goes_on_until_a_signal(root: Path) -> None:
    """A line for each look with --json; the exit code is that of the last look."""
    command = [
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "sysctl",
        "--root",
        str(root),
        "--key",
        LXC,
        "--fix",
        "--watch",
        "--json",
    ]
    watching = subprocess.Popen(
        ["ip", "netns", "exec", NAME, *command], stdout=subprocess.PIPE, text=True
    )
    assert watching.stdout is not None
    with watching.stdout:
        assert json.loads(watching.stdout.readline())["holds"]
        put("lxc1", 1)
        assert json.loads(watching.stdout.readline())["holds"]
        assert wait_until(lambda: look("lxc1") == 0)
        watching.terminate()
        assert watching.wait(60) == 0


def test_a_devices_name_cannot_write_on_the_terminal(root: Path) -> None:
    """The kernel allows an escape in a name: it is shown escaped, in text and in JSON, and the
    device is kept as any other.
    """
    name = "lxc\x1b[31m'x"
    add(name, "peer")
    put(name, 2)
    code, shown, _ = text(root, "--key", LXC)

    assert code == 1
    assert "\x1b" not in shown
    assert "rp_filter = 2" in shown
    assert protect(root, "--key", LXC, "--fix")[0] == 0
    assert look(name) == 0
