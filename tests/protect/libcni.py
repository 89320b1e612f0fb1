"""CNI plugins run as libcni runs them: ADD in the chain's order with the result handed on, CHECK,
and DEL the other way round.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podpath.cni.conf import Network


@dataclass(frozen=True)
class Attachment:
    """A container's end of a network."""

    network: Network
    bin_dir: Path
    netns: str
    container: str = "pvt-container"

    def add(self) -> Mapping[str, Any]:
        """Attach the container."""
        result: Mapping[str, Any] | None = None
        for plugin in self.network.plugins:
            result = json.loads(self._call("ADD", plugin.type, plugin.conf, result))
        assert result is not None
        return result

    def check(self, result: Mapping[str, Any]) -> None:
        """Check that all is as it was left."""
        for plugin in self.network.plugins:
            self._call("CHECK", plugin.type, plugin.conf, result)

    def delete(self, result: Mapping[str, Any] | None) -> None:
        """Detach the container."""
        for plugin in reversed(self.network.plugins):
            self._call("DEL", plugin.type, plugin.conf, result)

    def _call(
        self, command: str, kind: str, conf: Mapping[str, object], result: Mapping[str, Any] | None
    ) -> str:
        given = {**conf, "name": self.network.name, "cniVersion": self.network.version}
        if result is not None:
            given["prevResult"] = result
        environment = {
            "CNI_COMMAND": command, "CNI_CONTAINERID": self.container,
            "CNI_NETNS": f"/run/netns/{self.netns}", "CNI_IFNAME": "eth0",
            "CNI_PATH": str(self.bin_dir), "PATH": os.environ["PATH"],
        }  # fmt: skip
        done = subprocess.run(
            [str(self.bin_dir / kind)],
            input=json.dumps(given),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, kind, done.stdout, done.stderr)
        return done.stdout
