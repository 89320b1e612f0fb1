"""What the sysctl keeper costs: a look at 500 pods' devices, and a rival that writes a thousand
times a minute.

sudo python bench/sysctl_keeper.py [SECONDS]
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from podpath.collect.netns import inside
from podpath_protect.agent.keeper import ThreadKeeper
from podpath_protect.apply import Applier
from podpath_protect.sysctl.guard import SysctlGuard
from podpath_protect.sysctl.keeper import keep_sysctls
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.options import SysctlOptions, make_duty
from podpath_protect.sysctl.settings import SysctlSetting

NAME = "podpath-bench-sysctl"
HANDLE = f"/run/netns/{NAME}"
DEVICES = 500
PAUSE = 60 / 1000


def build() -> None:
    """Make a namespace with many pods' devices."""
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    pairs = "".join(
        f"link add lxc{number} type veth peer name p{number}\n" for number in range(DEVICES)
    )
    subprocess.run(["ip", "-n", NAME, "-batch", "-"], input=pairs, text=True, check=True)


def measure_looks(options: SysctlOptions) -> tuple[float, float]:
    """Return the milliseconds of a processor of a quick look and of a thorough one."""
    guard = SysctlGuard(make_duty(options)[0], Applier())
    guard.look(0.0)
    quick, thorough = [], []
    for number in range(20):
        began = time.process_time()
        guard.look(float(number), thorough=False)
        quick.append((time.process_time() - began) * 1000)
    for number in range(5):
        began = time.process_time()
        guard.look(100.0 + number)
        thorough.append((time.process_time() - began) * 1000)
    return statistics.median(quick), statistics.median(thorough)


def measure_fight(options: SysctlOptions, seconds: float) -> tuple[int, float, float]:
    """Let a rival write, and give how often, how often it was put back, and the keeper's share of a
    core.
    """
    keeper = ThreadKeeper("sysctl", lambda desk: keep_sysctls(desk, options, Applier()))
    keeper.start()
    path, written = Path("/proc/sys/net/ipv4/conf/lxc7/rp_filter"), 0
    time.sleep(1)
    idle = resource.getrusage(resource.RUSAGE_SELF)
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        path.write_text("2", encoding="utf-8")
        written += 1
        time.sleep(PAUSE)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    taken = time.monotonic() - began
    back = next(
        each.value for each in keeper.status().samples if each.labels == (("state", "done"),)
    )
    keeper.stop()
    processor = spent.ru_utime + spent.ru_stime - idle.ru_utime - idle.ru_stime
    return written, back, 100 * processor / taken


def main() -> None:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    setting = SysctlSetting(key=parse_key("net.ipv4.conf.lxc*.rp_filter"), value="0")
    with tempfile.TemporaryDirectory() as root:
        options = SysctlOptions(profiles=(), key=(setting,), root=root)
        build()
        try:
            with inside(HANDLE):
                quick, thorough = measure_looks(options)
                written, back, share = measure_fight(options, seconds)
        finally:
            subprocess.run(["ip", "netns", "delete", NAME], check=True)
    print(
        f"a look at {DEVICES} devices   {quick:.1f} ms of a processor; a thorough one "
        f"{thorough:.1f} ms"
    )
    print(
        f"a rival writes         {written} times in {seconds:g} s, and is put back {back:.0f} times"
    )
    print(f"that costs             {share:.1f} % of a core, the rival's own share included")


if __name__ == "__main__":
    main()
