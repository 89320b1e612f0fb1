"""The agent as a process: it keeps, tells, takes over a changed configuration, and ends when it is
told to.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from podpath.collect.netns import inside
from tests import kube_objects as kube
from tests.apiserver import ApiServer
from tests.folders import let_pass
from tests.protect.unprivileged import as_nobody

NAME = f"psy-agent-{os.getpid()}"
HANDLE = f"/run/netns/{NAME}"
CONFIG = """
[health]
listen = "127.0.0.1:9809"
[sysctl]
profiles = []
root = "{root}"
[[sysctl.key]]
key = "net.ipv4.conf.lxc*.rp_filter"
value = 0
[order]
mode = "fix"
"""
pytestmark = pytest.mark.kernel("iptables-nft")


class Running:
    """An agent in a namespace."""

    def __init__(self, folder: Path, wrap: tuple[str, ...] = (), netns: str | None = NAME) -> None:
        """Start it."""
        self.config = folder / "agent.toml"
        self.log = folder / "log"
        with self.log.open("wb") as log:
            command = [
                sys.executable,
                "-m",
                "podpath",
                "protect",
                "agent",
                "--config",
                str(self.config),
            ]
            where = () if netns is None else ("ip", "netns", "exec", netns)
            self.process = subprocess.Popen([*where, *wrap, *command], stderr=log)

    def get(self, path: str) -> tuple[int, str]:
        """Ask an endpoint; 0 where nobody answers yet."""
        with inside(HANDLE):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:9809{path}", timeout=30) as answer:
                    return int(answer.status), answer.read().decode()
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, error.read().decode()
            except OSError:
                return 0, ""

    def count(self, name: str) -> int:
        """Read a counter without labels."""
        found = re.search(rf"^podpath_protect_{name} (\d+)$", self.get("/metrics")[1], re.MULTILINE)
        return int(found[1]) if found else -1

    def counts_on(self, name: str, past: int) -> bool:
        """Tell whether a counter has passed a number."""
        return self.count(name) > past

    def lines(self) -> list[dict[str, Any]]:
        """Return what it logged."""
        return [
            json.loads(line) for line in self.log.read_text(encoding="utf-8").split("\n") if line
        ]

    def said(self, message: str) -> bool:
        """Tell whether it logged a message."""
        return any(line["message"] == message for line in self.lines())

    def end(self) -> int:
        """Tell it to end, and give its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start agents in a namespace with a pod's device, and end them."""
    started: list[Running] = []
    (tmp_path / "etc").mkdir()
    (tmp_path / "agent.toml").write_text(CONFIG.format(root=tmp_path), encoding="utf-8")
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    for line in ("link set lo up", "link add lxc1 type veth peer name eth0"):
        subprocess.run(["ip", "-n", NAME, *line.split()], check=True)

    def start(**options: Any) -> Running:  # noqa: ANN401  # of any kind
        started.append(Running(tmp_path, **options))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
    subprocess.run(["ip", "netns", "delete", NAME], check=True)


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def put(device: str, value: int) -> None:
    """Write a device's rp_filter."""
    with inside(HANDLE):
        Path(f"/proc/sys/net/ipv4/conf/{device}/rp_filter").write_text(str(value), encoding="utf-8")


def look(device: str) -> str:
    """Read a device's rp_filter."""
    with inside(HANDLE):
        return (
            Path(f"/proc/sys/net/ipv4/conf/{device}/rp_filter").read_text(encoding="utf-8").strip()
        )


def test_it_keeps_and_tells(agent: Callable[..., Running]) -> None:
    """Ready when the keys hold, a drift put back in a moment, counted in the metrics and logged;
    SIGTERM ends it with 0.
    """
    put("lxc1", 2)
    running = agent()
    assert wait_until(lambda: running.get("/readyz")[0] == 200)
    assert look("lxc1") == "0"
    put("lxc1", 2)
    assert wait_until(lambda: look("lxc1") == "0", 15.0)

    assert running.get("/livez")[0] == 200
    assert wait_until(
        lambda: (
            'podpath_protect_sysctl_writes_total{state="done"} 2\n' in running.get("/metrics")[1]
        )
    )
    put_right = [
        line["key"] for line in running.lines() if line["message"] == "a sysctl was put right"
    ]
    assert put_right == ["net.ipv4.conf.lxc1.rp_filter", "net.ipv4.conf.lxc1.rp_filter"]
    assert running.end() == 0
    assert running.lines()[-1]["message"] == "the agent ends"


@pytest.mark.parity("G16")
def test_ready_means_that_the_keys_hold(agent: Callable[..., Running]) -> None:
    """A key that cannot be put right makes it 503, with the reason; it lives all the same (G16)."""
    running = agent()
    assert wait_until(lambda: running.get("/readyz")[0] == 200)
    running.config.write_text(
        CONFIG.format(root=running.config.parent).replace("lxc*.rp_filter", "lxc1.no_such_key"),
        encoding="utf-8",
    )
    assert wait_until(lambda: "no_such_key does not exist" in running.get("/readyz")[1])

    code, body = running.get("/readyz")
    assert (code, json.loads(body)["parts"]["order"]["ready"]) == (503, True)
    assert running.get("/livez")[0] == 200


def test_a_changed_configuration_is_taken_over(agent: Callable[..., Running]) -> None:
    """A good one restarts the part that it changes; a bad one is told with its line, and the old
    one goes on.
    """
    running = agent()
    assert wait_until(lambda: running.get("/readyz")[0] == 200)
    good = CONFIG.format(root=running.config.parent)
    running.config.write_text(good + "unknown = 1\n", encoding="utf-8")
    assert wait_until(lambda: running.said("the new configuration is refused, the old one goes on"))
    assert "podpath_protect_config_valid 0\n" in running.get("/metrics")[1]
    assert running.get("/readyz")[0] == 200

    looks = running.count("order_looks_total")
    running.config.write_text(good.replace("value = 0", "value = 1"), encoding="utf-8")
    assert wait_until(lambda: look("lxc1") == "1")
    assert "podpath_protect_config_valid 1\n" in running.get("/metrics")[1]
    assert running.count("order_looks_total") == looks
    assert running.count("sysctl_looks_total") < 5
    refused = [line["error"] for line in running.lines() if "refused" in line["message"]]
    assert any(
        error.startswith(f"{running.config}:12: expected one of mode, leave_out")
        for error in refused
    )


def test_a_hangup_reads_the_configuration_again(agent: Callable[..., Running]) -> None:
    """Also where it is a link to a folder that is exchanged, as Kubernetes mounts ConfigMaps."""
    running = agent()
    folder = running.config.parent
    assert wait_until(lambda: running.get("/readyz")[0] == 200)
    (folder / "..1").mkdir()
    (folder / "..1/agent.toml").write_text(
        CONFIG.format(root=folder).replace("value = 0", "value = 2"), encoding="utf-8"
    )
    (folder / "..data").symlink_to("..1")
    (folder / "new").symlink_to("..data/agent.toml")
    (folder / "new").rename(folder / "agent.toml")
    assert wait_until(lambda: look("lxc1") == "2")
    (folder / "..2").mkdir()
    (folder / "..2/agent.toml").write_text(
        CONFIG.format(root=folder).replace("value = 0", "value = 1"), encoding="utf-8"
    )
    (folder / "..data_tmp").symlink_to("..2")
    (folder / "..data_tmp").rename(folder / "..data")
    assert wait_until(lambda: look("lxc1") == "1")
    running.process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert running.end() == 0


def test_a_bad_configuration_does_not_start(agent: Callable[..., Running], tmp_path: Path) -> None:
    """The exit code is 2, and each line says what is wrong."""
    (tmp_path / "agent.toml").write_text("[sysctl]\nmod = 1\n", encoding="utf-8")
    running = agent()

    assert running.process.wait(60) == 2
    assert "agent.toml:2: expected one of mode" in running.log.read_text(encoding="utf-8")


def test_check_says_what_would_run(tmp_path: Path) -> None:
    """Without running anything."""
    path = tmp_path / "agent.toml"
    path.write_text(
        "node = 'n'\n[health]\nlisten = 'pod:9809'\n[kubernetes]\n[order]\n[reflect]\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "protect", "agent", "--check", "--config", str(path)],
        capture_output=True, text=True, check=False, env=os.environ | {"POD_IP": "10.0.0.7"},
    )  # fmt: skip

    assert (done.returncode, done.stdout.split("\n")[:6]) == (
        0,
        [
            f"{path}: good", "node: n", "parts: order, reflect", "health: 10.0.0.7 port 9809",
            "kubernetes: taint and events", "reflect: 10.0.0.7:15105",
        ],
    )  # fmt: skip


def test_a_dry_run_changes_nothing(agent: Callable[..., Running], tmp_path: Path) -> None:
    """It looks, tells and serves."""
    put("lxc1", 2)
    path = tmp_path / "agent.toml"
    path.write_text("dry_run = true\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    running = agent()

    assert wait_until(lambda: running.get("/readyz")[0] == 503)
    assert look("lxc1") == "2"


def test_it_runs_with_one_capability_as_nobody(
    agent: Callable[..., Running], tmp_path: Path
) -> None:
    """CAP_NET_ADMIN is enough for sysctls; what else is lacking is said at the start."""
    put("lxc1", 2)
    let_pass(tmp_path)
    running = agent(wrap=as_nobody("net_admin"))

    assert wait_until(lambda: look("lxc1") == "0")
    assert wait_until(lambda: running.said("a part lacks capabilities"))
    lacking = next(
        line for line in running.lines() if line["message"] == "a part lacks capabilities"
    )
    assert lacking["part_named"] == "order"
    assert lacking["lacks"] == [
        "CAP_NET_RAW is missing: legacy iptables, which asks through a raw socket"
    ]


@pytest.mark.parity("G14")
def test_the_taint_is_put_there_before_any_part_has_looked(
    agent: Callable[..., Running], api_server: ApiServer, tmp_path: Path
) -> None:
    """From the first moment on, with the parts and the API server in one process; nothing secret is
    logged (G12, G14).
    """
    api_server.kubectl("delete", "node", "whole", "--ignore-not-found")
    api_server.apply(kube.node("whole"))
    path = tmp_path / "agent.toml"
    kubernetes = f'[kubernetes]\nkubeconfig = "{api_server.kubeconfig()}"\n'
    path.write_text(
        f'node = "whole"\n{path.read_text(encoding="utf-8")}{kubernetes}', encoding="utf-8"
    )
    # The API server listens on the machine's loopback address, so the agent runs there, and only
    # looks.
    path.write_text(
        path.read_text(encoding="utf-8").replace("[sysctl]", '[sysctl]\nmode = "report"'),
        encoding="utf-8",
    )
    path.write_text(
        path.read_text(encoding="utf-8")
        .replace('mode = "fix"', 'mode = "report"')
        .replace(":9809", ":0"),
        encoding="utf-8",
    )
    running = agent(netns=None)

    put_right = "the node's taint was put right"
    assert wait_until(
        lambda: (
            [line["there"] for line in running.lines() if line["message"] == put_right]
            == [True, False]
        )
    )
    assert "token-0123456789" not in running.log.read_text(encoding="utf-8")
    assert running.end() == 0


@pytest.mark.kernel("iptables-nft", "faketime")
def test_steps_of_the_clock_change_nothing(agent: Callable[..., Running], tmp_path: Path) -> None:
    """The clock is set a day on and a year back under the running agent: drift is put back as
    before, and polls go on.
    """
    clock = tmp_path / "clock"
    clock.write_text("+0", encoding="utf-8")
    path = tmp_path / "agent.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("[sysctl]", '[sysctl]\npoll = "1s"'),
        encoding="utf-8",
    )
    shim = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    settings = (
        f"LD_PRELOAD={shim}",
        f"FAKETIME_TIMESTAMP_FILE={clock}",
        "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
    )
    running = agent(wrap=("env", *settings))
    assert wait_until(lambda: running.get("/readyz")[0] == 200)
    for step in ("+1d", "-1y", "+0"):
        clock.write_text(step, encoding="utf-8")
        put("lxc1", 2)
        assert wait_until(lambda: look("lxc1") == "0")
        assert (running.get("/readyz")[0], running.get("/livez")[0]) == (200, 200)
        looks = running.count("sysctl_looks_total")
        assert wait_until(functools.partial(running.counts_on, "sysctl_looks_total", looks + 1))

    assert len({line["time"][:4] for line in running.lines()}) >= 2
    assert running.end() == 0


def test_no_part_asks_the_wall_clock() -> None:
    """Steps of the clock move nothing: pauses, polls and fights are measured by a clock that only
    goes forward.
    """
    source = Path(__file__).resolve().parents[3] / "src/podpath_protect"
    asked = [
        str(path.relative_to(source))
        for path in sorted(source.rglob("*.py"))
        if path.parent.name in {"sysctl", "order", "agent"}
        and "time.time" in path.read_text(encoding="utf-8")
    ]

    assert asked == ["agent/node.py"]
