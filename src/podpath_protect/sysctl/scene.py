"""What the node shows of its network: plugins of its CNI configuration, devices, programs. By that
profiles are chosen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from podpath_protect.processes import list_programs
from podpath_protect.sysctl.ini import list_files
from podpath_protect.sysctl.profiles import NodeTraits
from podpath_protect.sysctl.tree import SysctlTree

CNI_DIRECTORY = Path("etc/cni/net.d")


def look_around(root: Path, proc: Path, tree: SysctlTree) -> NodeTraits:
    """Look at the node; what cannot be read shows nothing."""
    return NodeTraits(
        cni_types=frozenset(_plugin_types(root / CNI_DIRECTORY)),
        devices=frozenset(tree.devices()),
        programs=frozenset(list_programs(proc)),
    )


def _plugin_types(directory: Path) -> Iterator[str]:
    for path in list_files(directory, ("",), "*.conf", "*.conflist"):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if not isinstance(document, dict):
            continue
        plugins = document.get("plugins")
        for plugin in (document, *(plugins if isinstance(plugins, list) else ())):
            if isinstance(plugin, dict) and isinstance(plugin.get("type"), str):
                yield plugin["type"]
