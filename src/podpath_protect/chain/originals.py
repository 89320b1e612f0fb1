"""The original of every file that is edited, kept beside it under a name that no runtime reads, and
given back byte by byte.

Where a file is byte by byte what we made of its original, giving back means the original's bytes;
where somebody else has written it since, if only to order its keys, what he wrote stays and only
the plugin's entry is taken out. A single configuration
that became a list is given back under its own name first, and the list is removed after it: at no
moment is there no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from podpath.cni.conf import EXTENSIONS, ConfFile
from podpath.cni.lint import KEPT
from podpath_protect.apply import ABSENT, Applier, check_trusted
from podpath_protect.chain.editing import (
    LIST,
    ChainedPlugin,
    EditingError,
    chain,
    has_entry,
    list_entries,
    same_network,
    strip,
)

SUFFIX = KEPT
CHAINED = f"-chained{LIST}"
"""The end of a list's name where the plain one is another network's: `-` sorts before `.`."""


def keep_original(applier: Applier, directory: Path, file: ConfFile, kind: str) -> None:
    """Keep a file's bytes as they are without the plugin; a file that has the plugin is no
    original.
    """
    if file.content is not None and not has_entry(file, kind):
        there = check_trusted(directory / file.name)
        mode = 0o600 if there is None else there.st_mode & 0o7777
        applier.write_file(directory / f"{file.name}{SUFFIX}", file.content, mode=mode)


def restore(
    applier: Applier, directory: Path, file: ConfFile, files: Sequence[ConfFile], kind: str
) -> str:
    """Take the plugin out of a file, by its original where that is still what it was; say what was
    done.
    """
    for original in _originals(file, files):
        if not _is_made_of(file, original, kind):
            continue
        mode = check_trusted(directory / f"{original.name}{SUFFIX}")
        target = directory / original.name
        there = file if original.name == file.name else _named(original.name, files)
        applier.write_file(
            target,
            original.content or b"",
            new_mode=0o600 if mode is None else mode.st_mode & 0o7777,
            expect=ABSENT if there is None else there.content,
        )
        if original.name != file.name:
            applier.remove_file(directory / file.name, expect=file.content)
        return f"{original.name} is again what it was"
    if any(one.name in _sources(file) and same_network(file, one, kind) for one in files):
        applier.remove_file(directory / file.name, expect=file.content)
        return (
            f"{file.name} is removed: the single configuration that it was made of is there still"
        )
    content = strip(file, kind)
    if content is None:
        applier.remove_file(directory / file.name, expect=file.content)
        return f"{file.name} had nothing else in it, and is removed"
    applier.write_file(directory / file.name, content, expect=file.content)
    return f"{file.name} is rid of {kind}; the rest of it is left as others have written it"


def _is_made_of(file: ConfFile, original: ConfFile, kind: str) -> bool:
    """Tell whether a list is what we make of an original, whatever its entry says."""
    entries = list_entries(file, kind)
    if not entries:
        return False
    try:
        return chain(original, ChainedPlugin(kind, entries[-1])).content == file.content
    except EditingError:
        return False


def _named(name: str, files: Iterable[ConfFile]) -> ConfFile | None:
    return next((file for file in files if file.name == name), None)


def find_wrapped(file: ConfFile, files: Sequence[ConfFile], kind: str) -> ConfFile | None:
    """Return the list that a single configuration of this name was made into before; None where it
    was not, or others changed it.

    A vendor that writes its single configuration anew means that one, which its older list must not
    outlive.
    """
    original = next((one for one in list_originals(files) if one.name == file.name), None)
    if original is None or file.extension == LIST:
        return None
    base = file.name.removesuffix(file.extension)
    lists = (
        one
        for one in files
        if one.name in {f"{base}{LIST}", f"{base}{CHAINED}"} and has_entry(one, kind)
    )
    return next(
        (
            one
            for one in lists
            if same_network(original, one, kind) or same_network(file, one, kind)
        ),
        None,
    )


def list_originals(files: Iterable[ConfFile]) -> Iterator[ConfFile]:
    """Yield the originals in a folder, by the names that they had."""
    for file in files:
        if file.name.endswith(SUFFIX) and file.content is not None:
            yield ConfFile(name=file.name.removesuffix(SUFFIX), content=file.content)


def _originals(file: ConfFile, files: Iterable[ConfFile]) -> Iterator[ConfFile]:
    """Yield the originals that a file may come from: its own, or the single configuration that
    became this list.
    """
    names = {file.name, *_sources(file)}
    yield from (original for original in list_originals(files) if original.name in names)


def _sources(file: ConfFile) -> set[str]:
    """Return the names that a list's single configuration may have."""
    base = file.name.removesuffix(CHAINED).removesuffix(LIST)
    return {f"{base}{extension}" for extension in EXTENSIONS if extension != LIST}
