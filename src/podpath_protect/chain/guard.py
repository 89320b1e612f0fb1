"""One look at the folder: what the runtime would load, whether the plugin is in it, and what was
done where it was not.

What comes in are the options; what goes out is a `FolderState`. Nothing is chained before its
program is there, since a runtime that finds a plugin without a program fails every pod; for the
same reason an entry whose program has gone is taken out again. What the mesh's own installer wrote
is kept as it is: it is acted on only where the entry is missing or would break the load. A file
that cannot be read is somebody's half-written one: it is looked at again, and never touched. The
folder's own network is never made up: where there is none, the keeper waits.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from podpath.cni.conf import ConfFile, Network, parse_network
from podpath.cni.runtimes import (
    CONTAINERD,
    CRIO,
    Programs,
    RuntimeSettings,
    RuntimeVerdict,
    candidates,
    judge_containerd,
    judge_crio,
)
from podpath.net.errors import PodpathError
from podpath_protect.apply import ABSENT, Applier, ApplyError
from podpath_protect.chain.editing import (
    LIST,
    ChainedPlugin,
    EditingError,
    chain,
    has_entry,
    is_chained,
    is_loadable,
    list_entries,
    same_network,
    strip,
)
from podpath_protect.chain.entries import Mesh, WantedEntry
from podpath_protect.chain.folder import list_programs, read_folder
from podpath_protect.chain.kubeconfig import write_kubeconfig
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.originals import CHAINED, find_wrapped, keep_original
from podpath_protect.fights import Fights

META = ("multus", "multus-shim")
"""Plugins that run another network's chain."""
MERGES = 8
"""How often a change is made anew while somebody writes into the same file."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainProblem:
    """Something that keeps the plugin out of the chain."""

    check: str
    subject: str
    claim: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderState:
    """How the folder stands after a look."""

    verdicts: tuple[RuntimeVerdict, ...]
    files: tuple[ConfFile, ...]
    chained: tuple[str, ...]
    """Runtimes whose network has the plugin now."""
    edited: tuple[str, ...]
    """Files that were written at this look, or would be in a dry run."""
    held: tuple[str, ...]
    """Files that are not written for now, since somebody keeps changing them back."""
    troubles: tuple[ChainProblem, ...]
    idle: str = ""
    """Why there is nothing to keep; empty where there is."""

    @property
    def holds(self) -> bool:
        """Tell whether every runtime that is asked about would run the plugin for the next pod, or
        none has to.
        """
        return bool(self.idle) or (
            bool(self.verdicts)
            and all(verdict.runtime in self.chained for verdict in self.verdicts)
        )


@dataclass(frozen=True, slots=True)
class _Edits:
    """What comes of the edits of one look."""

    troubles: list[ChainProblem]
    edited: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)


class ChainGuard:
    """Looks and mends; it remembers only what it had to mend how often."""

    def __init__(
        self,
        options: ChainOptions,
        applier: Applier,
        mesh: Mesh | None = None,
        running: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """Read the entry; `EditingError` where it is none. `mesh` says whether there is one, and
        `running` which runtimes run here, as far as that can be seen.
        """
        self.options = options
        self.applier = applier
        self.directory = Path(options.conf_dir)
        self._mesh, self._running = mesh, running
        self.entry = WantedEntry(options, applier, self._offer)
        self._gone_since: float | None = None
        self._installed: list[tuple[int, ...]] = []
        self.fights = Fights(rounds=options.fight_rounds, longest_pause=options.longest_pause)

    def look(self, now: float) -> FolderState:
        """Look once, and mend what may be mended."""
        troubles = list(self._prepare())
        files = self._read(troubles)
        self.entry.learn(files)
        idle = self._find_idle(files, troubles)
        if idle:
            troubles = []
        edits = _Edits(troubles)
        if idle:
            self._gone_since = None
        elif not troubles:
            self._gone_since = None
            for file in self._targets(files):
                if not self._is_right(file, files):
                    self._edit(file.name, edits, now, self._chain)
        elif self._is_gone(files, now):
            for file in files:
                if has_entry(file, self.entry.type) or self._is_drop_in(file):
                    self._edit(file.name, edits, now, self._take_out)
        edited, held = edits.edited, edits.held
        files = self._read(troubles) if edited else files
        verdicts = self._judge(files)
        chained = tuple(
            verdict.runtime
            for verdict in verdicts
            if verdict.network and self._reaches(verdict.network, files)
        )
        return FolderState(
            verdicts=verdicts,
            files=files,
            chained=chained,
            edited=tuple(edited),
            held=tuple(held),
            troubles=tuple(troubles),
            idle=idle,
        )

    def _offer(self) -> ChainedPlugin | None:
        return None if self._mesh is None else self._mesh().entry

    def _find_idle(self, files: Sequence[ConfFile], troubles: list[ChainProblem]) -> str:
        """Say why there is nothing to keep: the node has neither program nor entry, and the cluster
        no mesh. Where the cluster does not say, that is a trouble more.
        """
        if self._mesh is None or self.options.entry or self.options.binaries:
            return ""
        here = self.entry.type in list_programs(map(Path, self.options.bin_dirs))
        others = any(each.check != "chain-unprepared" for each in troubles)
        if here or others or any(has_entry(file, self.entry.type) for file in files):
            return ""
        found = self._mesh()
        if found.state == "absent":
            return f"{self.entry.type} is not installed in this cluster ({found.why})"
        if found.state == "unknown":
            subject = self.options.config_map
            troubles.append(ChainProblem(check="chain-mesh", subject=subject, claim=found.why))
        return ""

    def pending(self, now: float) -> float | None:
        """Return the seconds until a program that is gone is believed to be; None where none is."""
        if self._gone_since is None:
            return None
        left = self._gone_since + self.options.gone_after - now
        return left if left > 0 else None

    def _edit(
        self,
        name: str,
        edits: _Edits,
        now: float,
        change: Callable[[ConfFile, Sequence[ConfFile]], str],
    ) -> None:
        """Change one file; where somebody writes between the look and the change, read what was
        written and make the change in it.
        """
        if not self.fights.may_mend(name, now):
            edits.held.append(name)
            return
        for left in reversed(range(MERGES)):
            files = self._read(edits.troubles)
            file = next((each for each in files if each.name == name), None)
            if file is None or (change == self._chain and self._is_right(file, files)):
                return
            try:
                edits.edited.append(change(file, files))
            except (EditingError, ApplyError, OSError) as error:
                if left and isinstance(error, ApplyError) and error.refusal == "stale":
                    continue
                edits.troubles.append(
                    ChainProblem(check="chain-refused", subject=name, claim=str(error))
                )
            else:
                self.fights.record(name, now)
            return

    def _is_gone(self, files: Sequence[ConfFile], now: float) -> bool:
        """Tell whether the plugin's program has gone from the folder where the network's other
        programs are, and not just now: where none is seen, the folder is another's.
        """
        directories = [Path(directory) for directory in self.options.bin_dirs]
        programs = list_programs(directories)
        networks = [parse_network(file, files) for file in files]
        kinds = {kind for one in networks if isinstance(one, Network) for kind in one.types}
        if self.entry.type in programs or not kinds & programs.keys():
            self._gone_since = None
            return False
        if self._gone_since is None:
            self._gone_since = now
        return now - self._gone_since >= self.options.gone_after

    def _take_out(self, file: ConfFile, files: Sequence[ConfFile]) -> str:  # noqa: ARG002  # one signature for changes
        """Take the entries out of a file, since with them no pod starts at all."""
        if self._is_drop_in(file):
            self.applier.remove_file(self.directory / file.name, expect=file.content)
            return file.name
        content = strip(file, self.entry.type)
        if content is None:
            raise EditingError(f"{file.name} has nothing else in it; it is left as it is")
        self.applier.write_file(self.directory / file.name, content, expect=file.content)
        return file.name

    def _is_drop_in(self, file: ConfFile) -> bool:
        return self.options.drop_in and file.name.endswith(f"/{self.entry.type}.conf")

    def _prepare(self) -> Iterator[ChainProblem]:
        """Put programs and kubeconfig in place, and say why nothing may be chained before they
        are.
        """
        options = self.options
        try:
            self._install_programs()
            if options.kubeconfig is not None:
                write_kubeconfig(self.applier, options.kubeconfig, os.environ)
        except (OSError, PodpathError) as error:
            yield ChainProblem(check="chain-unprepared", subject=self.entry.type, claim=str(error))
            return
        programs = list_programs(map(Path, options.bin_dirs))
        missing = self.entry.type not in programs and not (
            self.applier.dry_run and options.binaries
        )
        if options.bin_dirs and missing:
            claim = (
                f"{self.entry.type} is not in {', '.join(options.bin_dirs)}: chained "
                f"without its program, it would stop every pod"
            )
            yield ChainProblem(check="chain-unprepared", subject=self.entry.type, claim=claim)

    def _install_programs(self) -> None:
        """Copy programs that are not there as they should be; what nobody touched since is not
        compared again.
        """
        pairs = [
            (Path(source), Path(self.options.bin_dirs[0]) / Path(source).name)
            for source in self.options.binaries
        ]
        if pairs and self._installed == [_stamp(path) for pair in pairs for path in pair]:
            return
        for source, target in pairs:
            self.applier.write_file(target, source.read_bytes(), mode=0o755)
        self._installed = [_stamp(path) for pair in pairs for path in pair]

    def _read(self, troubles: list[ChainProblem]) -> tuple[ConfFile, ...]:
        try:
            return read_folder(self.directory)
        except OSError as error:
            troubles.append(
                ChainProblem(
                    check="chain-folder",
                    subject=str(self.directory),
                    claim=f"{self.directory} cannot be listed: {error.strerror}",
                )
            )
            return ()

    def _judge(self, files: Sequence[ConfFile]) -> tuple[RuntimeVerdict, ...]:
        settings = RuntimeSettings()
        programs = self._programs()
        judged = {
            CONTAINERD: judge_containerd(files, settings),
            CRIO: judge_crio(files, settings, programs),
        }
        if self.options.runtime != "auto":
            return (judged[self.options.runtime],)
        seen = self._running() & judged.keys()
        return tuple(judged[name] for name in judged if len(seen) != 1 or name in seen)

    def _programs(self) -> Programs | None:
        return list_programs(map(Path, self.options.bin_dirs)) or None

    def _targets(self, files: Sequence[ConfFile]) -> list[ConfFile]:
        """Return the files that must have the plugin: what the runtimes load, or all that they
        could.
        """
        if self.options.scope == "every":
            return [
                file
                for file in candidates(files)
                if isinstance(parse_network(file, files), Network)
            ]
        if self.options.conf_name:
            return [file for file in candidates(files) if self._is_named(file)][:1]
        loaded = {verdict.file for verdict in self._judge(files)}
        again = [
            file
            for file in candidates(files)
            if file.name not in loaded
            and isinstance(parse_network(file, files), Network)
            and find_wrapped(file, files, self.entry.type)
        ]
        spoiled = [
            file for file in candidates(files) if file.name not in loaded and self._is_spoiled(file)
        ]
        return [*again, *spoiled, *(file for file in files if file.name in loaded)]

    def _is_spoiled(self, file: ConfFile) -> bool:
        """Tell whether a list does not load for the very entry of the plugin."""
        entries = list_entries(file, self.entry.type)
        return any(not is_loadable(entry) for entry in entries)

    def _is_right(self, file: ConfFile, files: Sequence[ConfFile]) -> bool:
        if not self.options.drop_in:
            return is_chained(file, self.entry.type)
        network = parse_network(file, files)
        return (
            isinstance(network, Network)
            and network.types.count(self.entry.type) == 1
            and network.types[0] != self.entry.type
        )

    def _is_named(self, file: ConfFile) -> bool:
        return file.name.removesuffix(file.extension) == self.options.conf_name.rpartition(".")[0]

    def _reaches(self, network: Network, files: Sequence[ConfFile]) -> bool:
        """Tell whether a runtime that has loaded a network runs the plugin: by itself, or by what a
        meta plugin delegates to.
        """
        if not self.options.conf_name or network.types[0] not in META:
            return self._runs(network)
        named = [parse_network(file, files) for file in self._targets(files)]
        return any(isinstance(one, Network) and self._runs(one) for one in named)

    def _runs(self, network: Network) -> bool:
        return network.types.count(self.entry.type) == 1 and network.types[0] != self.entry.type

    def _chain(self, file: ConfFile, files: Sequence[ConfFile]) -> str:
        """Put the entry into a file, or beside it; give the name of what was written."""
        network = parse_network(file, files)
        if self.options.drop_in and isinstance(network, Network) and self._takes_drop_ins(network):
            return self._drop_in(network)
        edit = chain(file, self.entry.wanted())
        if edit.name == file.name:
            keep_original(self.applier, self.directory, file, self.entry.type)
            self.applier.write_file(self.directory / file.name, edit.content, expect=file.content)
            return file.name
        return self._wrap(file, edit.name, edit.content, files)

    def _wrap(self, file: ConfFile, name: str, content: bytes, files: Sequence[ConfFile]) -> str:
        """Write the list that a single configuration becomes, then remove that; in between the
        runtime has either.

        A single configuration that its vendor wrote meanwhile is not removed: the next look finds
        it.
        """
        before = find_wrapped(file, files, self.entry.type)
        other = next((one for one in files if one.name == name), None)
        if before is not None:
            name = before.name
        elif other is not None and not same_network(file, other, self.entry.type):
            name = f"{name.removesuffix(LIST)}{CHAINED}"
        mode = (self.directory / file.name).stat().st_mode & 0o7777
        expected = other if before is None else before
        if before is None and name.endswith(CHAINED):
            expected = next((one for one in files if one.name == name), None)
        self.applier.write_file(
            self.directory / name,
            content,
            mode=mode,
            expect=ABSENT if expected is None else expected.content,
        )
        keep_original(self.applier, self.directory, file, self.entry.type)
        self.applier.remove_file(self.directory / file.name, expect=file.content)
        return name

    def _takes_drop_ins(self, network: Network) -> bool:
        return (
            not network.single
            and "loadOnlyInlinedPlugins" not in network.flags
            and bool(_NAME.fullmatch(network.name))
        )

    def _drop_in(self, network: Network) -> str:
        name = f"{network.name}/{self.entry.type}.conf"
        self.applier.make_directory(self.directory / network.name)
        content = json.dumps(self.entry.wanted().conf, indent=2) + "\n"
        self.applier.write_file(self.directory / name, content.encode())
        return name


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is written; nothing where there is none."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return ()
    return (there.st_ino, there.st_size, there.st_mtime_ns, there.st_mode)


def describe_options(options: ChainOptions, kind: str) -> Mapping[str, object]:
    """Say what is kept, for a log: nothing secret is in it."""
    return {
        "type": kind,
        "folder": options.conf_dir,
        "runtime": options.runtime,
        "scope": options.scope,
    }
