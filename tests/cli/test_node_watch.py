"""`podpath watch` of this node as it is called: its lines, what it keeps, and what it leaves."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.cli.main import run
from podpath.collect.netns import inside
from tests.kube.following import until as wait_until

NAME = f"pcw{os.getpid()}"


@pytest.fixture
def namespace() -> Iterator[str]:
    """Provide a namespace that stands for a node."""
    subprocess.run(("ip", "netns", "add", NAME), check=True)
    subprocess.run(("ip", "-n", NAME, "link", "set", "lo", "up"), check=True)
    yield NAME
    subprocess.run(("ip", "netns", "del", NAME), check=True)


def keep_sending(stop: threading.Event, port: int) -> None:
    """Send datagrams that nobody wants, until it is enough."""
    with inside(f"/run/netns/{NAME}"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while not stop.wait(0.05):
            sender.sendto(b"x", ("127.0.0.1", port))


@pytest.fixture
def traffic(namespace: str) -> Iterator[str]:
    """Provide the namespace with datagrams that are dropped in it."""
    stop = threading.Event()
    sender = threading.Thread(target=keep_sending, args=(stop, 9))
    sender.start()
    yield namespace
    stop.set()
    sender.join()


@pytest.mark.kernel
def test_a_drop_its_rate_and_a_summary_are_printed(
    traffic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As JSON each is a line of its own."""
    code = run(["watch", "--node-netns", traffic, "--for", "1.5", "--every", "0.5", "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (drop,) = (line for line in lines if line["kind"] == "drop")
    summary = lines[-1]

    assert code == 0
    assert (drop["reason"], drop["netns"], drop["dport"]) == ("NO_SOCKET", "host", 9)
    assert (drop["agreement"], drop["device"]) == ("named", "lo")
    assert any(line["kind"] == "flows" for line in lines)
    assert summary["kind"] == "summary"
    assert sum(flow["packets"] for flow in summary["flows"]) > 5
    assert summary["losses"]["missed"] == 0


@pytest.mark.kernel
def test_text_names_what_decided(traffic: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The packet, the reason and the words of the model, and at the end the flows."""
    assert (
        run(["watch", "--node-netns", traffic, "--for", "1", "--every", "0.5", "--port", "9"]) == 0
    )
    out = capsys.readouterr().out

    assert "NO_SOCKET udp 127.0.0.1:" in out
    assert "in host on lo (" in out
    assert re.search(r"packets dropped in 1 flows in \d+ s", out)


@pytest.mark.kernel
def test_what_is_not_asked_for_is_not_told(
    traffic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another port, another address and another reason have no drops."""
    for words in (
        ("--port", "10"),
        ("--address", "10.0.0.0/8"),
        ("--reason", "ip_rpfilter"),
        ("--pod", "web"),
    ):
        assert run(["watch", "--node-netns", traffic, "--for", "0.4", *words]) == 0
        assert "\n0 packets dropped in 0 flows" in capsys.readouterr().out


@pytest.mark.kernel
def test_a_name_that_is_not_there_is_said(
    namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Silence about a pod that is not on the node would read as if it lost nothing."""
    assert run(["watch", "--node-netns", namespace, "--for", "0.2", "--pod", "web"]) == 0
    assert "not on this node yet: web; there are host" in capsys.readouterr().err


def test_a_bad_prefix_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """What is no address says so before anything is attached."""
    assert run(["watch", "--address", "web-0"]) == 2
    assert "expected an address or a prefix, saw 'web-0'" in capsys.readouterr().err


def programs() -> set[int]:
    """Return the processes that hold a BPF program of the watch."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/fdinfo/*"):
        try:
            if "prog_type:\t17" in entry.read_text():
                found.add(int(entry.parts[2]))
        except OSError:
            continue
    return found


@pytest.mark.kernel
@pytest.mark.parametrize("delay", [0.2, 1.0, 3.0])
def test_killed_it_leaves_nothing(namespace: str, delay: float) -> None:
    """However early or late it is killed, the kernel has no program of it, and no trace
    instance.
    """
    command = (
        sys.executable,
        "-m",
        "podpath",
        "watch",
        "--node-netns",
        namespace,
        "--every",
        "0.5",
    )
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as watching:
        time.sleep(delay)
        watching.kill()
        watching.wait()

    def is_left() -> bool:
        instance = f"/sys/kernel/tracing/instances/podpath-watch-{watching.pid}"
        others = subprocess.run(("pgrep", "-f", f"node-netns {namespace}"), check=False)
        return watching.pid in programs() or Path(instance).exists() or others.returncode != 1

    wait_until(lambda: not is_left(), "all of it is gone")


@pytest.mark.kernel
def test_a_disagreement_is_kept(
    namespace: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What podpath says would pass and the kernel dropped is kept as a bundle and the packet; where
    that cannot be, the watch says so and goes on.
    """
    monkeypatch.setattr("podpath.node.node.Netns.listens", lambda *_: True)
    stop = threading.Event()
    sender = threading.Thread(target=keep_sending, args=(stop, 9))
    sender.start()
    try:
        known = ["watch", "--node-netns", namespace, "--for", "1", "--save"]
        unkept = run([*known, "/dev/null/none"])
        why = capsys.readouterr()
        code = run([*known, str(tmp_path)])
    finally:
        stop.set()
        sender.join()
    (kept,) = tmp_path.iterdir()
    drop = json.loads((kept / "drop.json").read_text())

    assert unkept == 0
    assert "not kept: /dev/null/none" in why.err
    assert "packets dropped" in why.out
    assert code == 0
    assert (drop["agreement"], drop["reason"]) == ("disagrees", "NO_SOCKET")
    assert drop["packet"].startswith("45")
    assert (kept / "bundle" / "bundle.json").is_file()
    assert "kept in" in capsys.readouterr().err
