"""The plugin taken out of the node, in the order that never leaves a chain with a plugin that is
not there.

Configuration first, in every file and not only in the one that is loaded; then the kubeconfig; the
programs last, and only when no file names the plugin any more. Where a file cannot be mended, what
follows stays: a node with a plugin too many works, one whose chain calls a program that is gone
starts no pod.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from podpath.cni.conf import ConfFile
from podpath.net.errors import PodpathError
from podpath_protect.apply import Applier
from podpath_protect.chain.editing import ChainedPlugin, has_entry
from podpath_protect.chain.folder import read_folder
from podpath_protect.chain.guard import read_entry
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.originals import SUFFIX, list_originals, restore


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How the removal went."""

    done: tuple[str, ...]
    """What was done, in order."""
    left: tuple[str, ...]
    """What could not be done, and what was therefore left in place."""


def remove(options: ChainOptions, applier: Applier) -> Removal:
    """Take the plugin out; what cannot be taken out keeps what it needs."""
    directory, entry = Path(options.conf_dir), read_entry(options.entry)
    done: list[str] = []
    left: list[str] = []
    try:
        files = read_folder(directory)
    except OSError as error:
        return Removal(
            done=(),
            left=(f"{directory} cannot be listed: {error.strerror}; programs and kubeconfig stay",),
        )
    for file in files:
        try:
            if has_entry(file, entry.type):
                done.append(restore(applier, directory, file, files, entry.type))
            elif _is_drop_in(file, entry):
                applier.remove_file(directory / file.name)
                done.append(f"{file.name} is removed")
        except PodpathError as error:
            left.append(str(error))
    if left:
        return Removal(
            done=tuple(done),
            left=(
                *left,
                "the kubeconfig and the programs stay, since the chain may still call them",
            ),
        )
    try:
        done += _sweep(options, applier, directory, files)
    except PodpathError as error:
        left.append(str(error))
    return Removal(done=tuple(done), left=tuple(left))


def _sweep(
    options: ChainOptions, applier: Applier, directory: Path, files: tuple[ConfFile, ...]
) -> Iterator[str]:
    """Remove what only the chain needed."""
    for original in list_originals(files):
        applier.remove_file(directory / f"{original.name}{SUFFIX}")
    applier.sweep(directory)
    targets = [] if options.kubeconfig is None else [Path(options.kubeconfig.path)]
    targets += [Path(options.bin_dirs[0]) / Path(source).name for source in options.binaries]
    for target in targets:
        if applier.remove_file(target).state != "unchanged":
            yield f"{target} is removed"


def _is_drop_in(file: ConfFile, entry: ChainedPlugin) -> bool:
    return file.name.endswith(f"/{entry.type}.conf")
