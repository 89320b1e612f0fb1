"""A real containerd with a folder of CNI configurations of the test's own, asked over its CRI
socket what it has loaded.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONFIG = """
version = 2
root = "{root}/root"
state = "{root}/state"
[grpc]
  address = "{root}/containerd.sock"
[ttrpc]
  address = "{root}/ttrpc.sock"
[plugins."io.containerd.grpc.v1.cri"]
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{root}/bin"
    conf_dir = "{root}/net.d"
"""
REQUEST = b"\x00\x00\x00\x00\x02\x08\x01"
"""gRPC's frame of a StatusRequest with verbose=true (k8s.io/cri-api)."""


@dataclass(frozen=True)
class Containerd:
    """A running containerd."""

    root: Path

    @property
    def conf(self) -> Path:
        """Its folder of configurations."""
        return self.root / "net.d"

    def status(self) -> dict[str, str]:
        """Ask for the runtime's verbose status, which `crictl info` prints."""
        address = "http://localhost/runtime.v1.RuntimeService/Status"
        headers = ("-H", "content-type: application/grpc", "-H", "te: trailers")
        socket = str(self.root / "containerd.sock")
        words = [
            "curl",
            "-sf",
            "--http2-prior-knowledge",
            "--unix-socket",
            socket,
            *headers,
            "--data-binary",
            "@-",
            address,
        ]
        body = subprocess.run(words, input=REQUEST, capture_output=True, check=True).stdout[5:]
        return dict(_entry(value) for number, value in _fields(body) if number == 2)

    def loaded(self) -> tuple[str, tuple[str, ...]] | None:
        """Return the name and the plugins of the network that pods get; None where there is
        none.
        """
        for network in json.loads(self.info())["cniconfig"]["Networks"]:
            if network["Config"]["Name"] != "cni-loopback":
                return network["Config"]["Name"], tuple(
                    plugin["Network"]["type"] for plugin in network["Config"]["Plugins"]
                )
        return None

    def info(self) -> str:
        """Return what `crictl info` would print."""
        told: dict[str, Any] = {
            key: json.loads(value) for key, value in self.status().items() if value.startswith("{")
        }
        return json.dumps(told)

    def wait(self, holds: Callable[[], bool], seconds: float = 60.0) -> bool:
        """Wait until something holds, and tell whether it came to do so and stayed."""
        over = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > over:
                return False
            time.sleep(0.05)
        time.sleep(0.1)
        return holds()


@contextmanager
def containerd(root: Path) -> Iterator[Containerd]:
    """Run containerd for a block."""
    for folder in ("net.d", "bin", "root", "state"):
        (root / folder).mkdir(parents=True)
    (root / "config.toml").write_text(CONFIG.format(root=root))
    made = Containerd(root)
    with (
        (root / "log").open("wb") as log,
        subprocess.Popen(
            ["containerd", "-c", str(root / "config.toml")], stdout=log, stderr=log
        ) as process,
    ):
        try:
            assert made.wait(
                lambda: (
                    (root / "containerd.sock").exists()
                    and b"successfully booted" in (root / "log").read_bytes()
                ),
                20,
            )
            yield made
        finally:
            process.terminate()


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the length-delimited fields of a protobuf message."""
    offset = 0
    while offset < len(data):
        key, offset = _varint(data, offset)
        size, offset = _varint(data, offset)
        if key & 7 == 2:
            yield key >> 3, data[offset : offset + size]
            offset += size


def _entry(data: bytes) -> tuple[str, str]:
    fields = dict(_fields(data))
    return fields[1].decode(), fields.get(2, b"").decode()


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        value |= (byte & 0x7F) << shift
        offset, shift = offset + 1, shift + 7
        if not byte & 0x80:
            return value, offset
