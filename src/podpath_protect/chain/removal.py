"""The plugin taken out of the node, in the order that never leaves a chain with a plugin that is
not there.

What the vendor wrote last stays, also what he writes while we remove. Configuration first, in every
file and not only in the one that is loaded; then the kubeconfig; the programs last, and only when
no file names the plugin any more. Where a file cannot be mended, what follows stays: a node with a
plugin too many works, one whose chain calls a program that is gone starts no pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from podpath.cni.conf import ConfFile
from podpath.net.errors import PodpathError
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.chain.editing import has_entry
from podpath_protect.chain.entries import WantedEntry
from podpath_protect.chain.folder import read_folder
from podpath_protect.chain.guard import MERGES
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
    directory, kind = Path(options.conf_dir), WantedEntry(options, Applier(dry_run=True)).type
    done: list[str] = []
    for again in reversed(range(MERGES)):
        try:
            files = read_folder(directory)
        except OSError as error:
            why = f"{directory} cannot be listed: {error.strerror}; programs and kubeconfig stay"
            return Removal(done=tuple(done), left=(why,))
        left: list[str] = []
        stale = False
        for file in files:
            try:
                done += _take_out(applier, directory, file, files, kind)
            except PodpathError as error:
                left.append(str(error))
                stale |= isinstance(error, ApplyError) and error.refusal == "stale"
        if applier.dry_run or not (stale or _is_named(directory, kind)) or not again:
            break
    if not left and not applier.dry_run and _is_named(directory, kind):
        left.append(f"somebody keeps chaining {kind} while it is taken out")
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


def _take_out(
    applier: Applier, directory: Path, file: ConfFile, files: Sequence[ConfFile], kind: str
) -> Iterator[str]:
    if has_entry(file, kind):
        yield restore(applier, directory, file, files, kind)
    elif file.name.endswith(f"/{kind}.conf"):
        applier.remove_file(directory / file.name, expect=file.content)
        yield f"{file.name} is removed"


def _is_named(directory: Path, kind: str) -> bool:
    """Tell whether a list names the plugin now."""
    return any(has_entry(file, kind) for file in read_folder(directory))
