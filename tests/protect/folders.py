"""Folders of CNI configurations for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from podpath.cni.conf import ConfFile

BRIDGE: Mapping[str, object] = {
    "type": "bridge",
    "bridge": "cni0",
    "ipam": {"type": "host-local", "subnet": "10.1.0.0/24"},
}
PORTMAP: Mapping[str, object] = {"type": "portmap", "capabilities": {"portMappings": True}}
MESH: Mapping[str, object] = {"type": "linkerd-cni", "log_level": "info"}


def listed(
    *plugins: Mapping[str, object], name: str = "k8s", version: str = "1.0.0", **more: object
) -> str:
    """Write a list of plugins."""
    return json.dumps(
        {"cniVersion": version, "name": name, **more, "plugins": list(plugins or (BRIDGE,))},
        indent=2,
    )


def single(plugin: Mapping[str, object] = BRIDGE, name: str = "k8s", version: str = "0.3.1") -> str:
    """Write one plugin's configuration."""
    return json.dumps({"cniVersion": version, "name": name, **plugin})


def folder(**files: str) -> Sequence[ConfFile]:
    """Make files: `a10_conflist=TEXT` is called `10.conflist`; `net__x_conf=TEXT` is
    `net/x.conf`.
    """
    made = []
    for key, text in files.items():
        base, _, extension = key.rpartition("_")
        name = f"{base.replace('__', '/')}.{extension}"
        made.append(
            ConfFile(
                name=name.removeprefix("a") if name[1:2].isdigit() else name, content=text.encode()
            )
        )
    return made
