"""What the runtime has loaded, as `crictl info` prints it, held against what stands on the disk
now.

A runtime that missed a change goes on with what it loaded before: pods get a chain that no file has
any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from podpath.cni.conf import ConfFile
from podpath.cni.lint import Lint, Remark
from podpath.net.errors import EvidenceError

_LOOPBACK = "cni-loopback"
"""containerd's own network, which no file has."""


def compare_loaded(found: Lint, text: str, files: Sequence[ConfFile]) -> Lint:
    """Add to a lint where the runtime is behind the disk; `EvidenceError` where the text is not
    what crictl prints.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise EvidenceError(f"expected what `crictl info` prints, saw no JSON: {error}") from error
    if not isinstance(document, dict):
        raise EvidenceError("expected an object of JSON, as `crictl info` prints it")
    return replace(found, remarks=(*_behind(document, found, files), *found.remarks))


def _behind(
    document: Mapping[str, object], found: Lint, files: Sequence[ConfFile]
) -> Iterator[Remark]:
    configuration = document.get("cniconfig")
    listed = configuration.get("Networks") if isinstance(configuration, dict) else None
    loaded = [
        network["Config"]
        for network in listed or ()
        if isinstance(network, dict) and isinstance(network.get("Config"), dict)
    ]
    networks = [config for config in loaded if config.get("Name") != _LOOPBACK]
    disk = found.verdicts[0].network
    mend = "touch the file by renaming a copy over it, or restart the runtime"
    if disk is None:
        if networks:
            yield Remark(
                "G10",
                "warning",
                "",
                1,
                f"the runtime still has {networks[0].get('Name')!r}, and no file is loadable now",
            )
        return
    if not networks:
        yield Remark(
            "G10",
            "error",
            disk.file,
            1,
            "the runtime has loaded no network, although this file could be",
            mend,
        )
        return
    kinds = tuple(_types(networks[0]))
    if (networks[0].get("Name"), kinds) != (disk.name, disk.types):
        said = (
            f"the runtime has {networks[0].get('Name')!r} with {' > '.join(kinds)}; "
            f"on the disk it is {' > '.join(disk.types)}"
        )
        yield Remark("G10", "error", disk.file, 1, said, mend)
        return
    source = networks[0].get("Source")
    same = next((file for file in files if file.name == disk.file), None)
    if (
        isinstance(source, str)
        and same is not None
        and source.strip() != same.text.strip()
        and not _same_json(source, same.text)
    ):
        yield Remark(
            "G10", "warning", disk.file, 1, "the runtime has an older content of this file", mend
        )


def _types(config: Mapping[str, object]) -> Iterator[str]:
    plugins = config.get("Plugins")
    for plugin in plugins if isinstance(plugins, list) else []:
        network = plugin.get("Network") if isinstance(plugin, dict) else None
        if isinstance(network, dict) and isinstance(network.get("type"), str):
            yield network["type"]


def _same_json(one: str, other: str) -> bool:
    """Compare two configurations; a single one is held by the runtime as the list that libcni makes
    of it.
    """
    try:
        first, second = json.loads(one), json.loads(other)
    except ValueError:
        return False
    if isinstance(second, dict) and "plugins" not in second and isinstance(first, dict):
        return bool(first.get("plugins") == [second])
    return bool(first == second)
