"""Which entry the plugin shall have: what its installer chained last, and only where nobody ever
did what the configuration says.

A mesh is upgraded by its own installer, which writes an entry of its own schema; whoever wrote
another over it would make a node run a plugin with the settings of an older release. So the entry
is learned from the files, kept over restarts, and taken back from there when a vendor's new file
lacks it. The configured entry may be a file that is mounted from the mesh's ConfigMap: it is read
anew each time. Where none is configured, the mesh's ConfigMap may offer one through the API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from podpath.cni.conf import ConfFile, ConfProblem, parse_json
from podpath_protect.apply import Applier, ApplyError
from podpath_protect.chain.editing import (
    LIST,
    ChainedPlugin,
    EditingError,
    is_loadable,
    list_entries,
    parse_entry,
)
from podpath_protect.chain.options import ChainOptions

LONGEST = 1 << 18
"""Letters of a remembered entry that are read."""


class MeshInstallation(NamedTuple):
    """What the mesh's own ConfigMap says of it."""

    state: Literal["installed", "absent", "unknown"]
    why: str
    entry: ChainedPlugin | None = None
    """The entry as it stands in the ConfigMap; None where it has none, or one that its installer
    has yet to fill in.
    """


Mesh = Callable[[], MeshInstallation]
"""Says whether there is a mesh."""


class WantedEntry:
    """The entry that is to be chained. Mutable: it learns."""

    def __init__(
        self,
        options: ChainOptions,
        applier: Applier,
        offered: Callable[[], ChainedPlugin | None] = lambda: None,
    ) -> None:
        """Take what was remembered; `EditingError` where the configured entry is none. `offered`
        returns the entry that the mesh itself holds, where it can be asked.
        """
        self._options, self._applier, self._offered = options, applier, offered
        configured = read_entry(options.entry) if options.entry else None
        self.type = options.type or (configured.type if configured is not None else "")
        self._learned = self._recall()

    def learn(self, files: Sequence[ConfFile]) -> None:
        """Take over what somebody chained, the newest where several files have one."""
        found = [(self._age(file), file) for file in files if self._has_good(file)]
        if not found:
            return
        newest = max(found, key=lambda each: each[0])[1]
        conf = list_entries(newest, self.type)[-1]
        if self._learned is None or self._learned.conf != conf:
            self._learned = ChainedPlugin(self.type, conf)
            self._remember()

    def wanted(self) -> ChainedPlugin:
        """Return the entry; `EditingError` where nobody has chained one and none is configured."""
        if self._learned is not None:
            return self._learned
        if not self._options.entry:
            offered = self._offered()
            if offered is not None and offered.type == self.type:
                return offered
            raise EditingError(
                f"expected an entry of {self.type} in a configuration, as its installer chains it: "
                "none was there yet, and none is configured"
            )
        entry = read_entry(self._options.entry)
        if entry.type != self.type:
            raise EditingError(f"expected an entry of {self.type}, saw one of {entry.type}")
        return entry

    def _has_good(self, file: ConfFile) -> bool:
        if "/" in file.name or file.extension != LIST or file.content is None:
            return False
        entries = list_entries(file, self.type)
        return bool(entries) and is_loadable(entries[-1])

    def _age(self, file: ConfFile) -> int:
        try:
            return (Path(self._options.conf_dir) / file.name).stat().st_mtime_ns
        except OSError:
            return 0

    def _recall(self) -> ChainedPlugin | None:
        if not self._options.remember:
            return None
        try:
            with Path(self._options.remember).open("rb") as file:
                content = file.read(LONGEST)
        except OSError:
            return None
        value = parse_json(ConfFile(name="entry", content=content))
        if isinstance(value, ConfProblem) or value.get("type") != self.type:
            return None
        if is_loadable(value):
            return ChainedPlugin(self.type, value)
        return None

    def _remember(self) -> None:
        if not self._options.remember or self._learned is None:
            return
        text = json.dumps(self._learned.conf, indent=2) + "\n"
        try:
            self._applier.write_file(Path(self._options.remember), text.encode(), mode=0o600)
        except ApplyError:
            return  # it is known for as long as this process lives


def read_entry(text: str) -> ChainedPlugin:
    """Read the entry from JSON, or from the file of that path."""
    if text.lstrip().startswith("{"):
        return parse_entry(text)
    try:
        return parse_entry(Path(text).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise EditingError(
            f"expected a plugin's entry or a file with it, saw {text}: {why}"
        ) from error
