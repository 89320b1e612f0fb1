"""What is wrong, or will be, with a folder of CNI configurations.

What comes in are its files, the plugins' programs where known and the runtimes' settings; what goes
out is a `Lint`: the verdict of each runtime and the `Remark`s, each with its row of parity.md, file
and line. `podpath protect chain lint`, the chain's keeper and `diagnose` ask the same module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from podpath.cni.conf import CURRENT, ConfFile, ConfProblem, Network, parse_network, parse_version
from podpath.cni.runtimes import (
    Programs,
    RuntimeSettings,
    RuntimeVerdict,
    candidates,
    judge_containerd,
    judge_crio,
    lacking,
)

MESHES = ("linkerd-cni", "istio-cni", "kuma-cni", "osm-cni", "consul-cni")
CHAINED = (*MESHES, "bandwidth", "portmap", "tuning", "sbr", "firewall")
"""Plugins that make no interface and only ever stand behind one that does."""
SET_ASIDE = ".cilium_bak"
KEPT = ".podpath-original"
"""The suffix under which our own keeper keeps what a file was before: nothing to remark."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_RESERVED = ("runtimeConfig", "args")
Severity = Literal["error", "warning", "note"]


class Remark(NamedTuple):
    """One thing that is worth saying of the folder."""

    row: str
    severity: Severity
    """`error`: pods start without network or without a plugin; `warning`: they may; `note`: worth
    knowing.
    """
    file: str
    line: int
    claim: str
    mend: str = ""
    of_choice: bool = False
    """It is about which file the runtimes take; the fault of another remark may be the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """What the runtimes make of a folder, and what is to be said of it."""

    verdicts: tuple[RuntimeVerdict, ...]
    remarks: tuple[Remark, ...]

    @property
    def worst(self) -> Severity | None:
        """The gravest severity among the remarks."""
        found = {remark.severity for remark in self.remarks}
        return next((level for level in ("error", "warning", "note") if level in found), None)


def lint_folder(
    files: Sequence[ConfFile], settings: RuntimeSettings, programs: Programs | None = None
) -> Lint:
    """Judge a folder for both runtimes."""
    verdicts = (judge_containerd(files, settings), judge_crio(files, settings, programs))
    parsed = [
        (file, parse_network(file, files, drop_ins=settings.drop_ins)) for file in candidates(files)
    ]
    remarks = [
        *_verdict_remarks(verdicts),
        *_file_remarks(files),
        *(
            remark
            for file, found in parsed
            if isinstance(found, ConfProblem)
            for remark in _trouble_remarks(file, found, verdicts)
        ),
        *(
            remark
            for file, found in parsed
            if isinstance(found, Network)
            for remark in _network_remarks(file, found, programs)
        ),
        *_drop_in_remarks(files, parsed, settings),
        *_folder_remarks([found for _, found in parsed if isinstance(found, Network)], verdicts),
    ]
    order = {"error": 0, "warning": 1, "note": 2}
    return Lint(
        verdicts=verdicts,
        remarks=tuple(sorted(dict.fromkeys(remarks), key=lambda remark: order[remark.severity])),
    )


def _verdict_remarks(verdicts: Sequence[RuntimeVerdict]) -> Iterator[Remark]:
    containerd, crio = verdicts
    first = next((decision.file for decision in (*containerd.decisions, *crio.decisions)), "")
    if containerd.network is None and crio.network is None:
        yield Remark(
            "D2",
            "error",
            first,
            1,
            f"neither runtime has a network: {containerd.why_none}",
            of_choice=True,
        )
    elif containerd.file != crio.file:
        yield Remark(
            "D2",
            "error",
            containerd.file or first,
            1,
            (
                f"containerd takes {containerd.file or 'nothing'}, CRI-O takes "
                f"{crio.file or 'nothing'}"
            ),
            "mend or remove the file over which they part",
            of_choice=True,
        )


def _file_remarks(files: Sequence[ConfFile]) -> Iterator[Remark]:
    for file in files:
        base = file.name.rpartition("/")[2]
        if file in candidates(files):
            if base.startswith("."):
                yield Remark(
                    "D1",
                    "warning",
                    file.name,
                    1,
                    "it is hidden, is read all the same, and sorts before digits",
                    "rename it",
                )
            if file.is_link:
                said = (
                    "it is a symbolic link, which containerd does not see come: it heeds no "
                    "creation"
                )
                yield Remark(
                    "D4", "warning", file.name, 1, said, "put a regular file in its place by rename"
                )
        elif base.endswith(SET_ASIDE):
            said = "Cilium has set it aside: it renames what others put here (cni.exclusive=true)"
            yield Remark(
                "G7",
                "warning",
                file.name,
                1,
                said,
                "set cni.exclusive=false in Cilium's Helm values",
            )
        elif (
            "/" not in file.name
            and not base.endswith(KEPT)
            and any(f"{end}." in base for end in (".conf", ".conflist", ".json"))
        ):
            yield Remark(
                "D1",
                "note",
                file.name,
                1,
                "its extension is none of .conf, .conflist, .json: no runtime reads it",
            )


def _trouble_remarks(
    file: ConfFile, trouble: ConfProblem, verdicts: Sequence[RuntimeVerdict]
) -> Iterator[Remark]:
    decisions = {
        verdict.runtime: decision.action
        for verdict in verdicts
        for decision in verdict.decisions
        if decision.file == file.name
    }
    fails = "fails" in decisions.values()
    if fails:
        said = "containerd loads nothing because of it, CRI-O passes over it"
    else:
        said = "CRI-O passes over it"
    yield Remark(
        trouble.row,
        "error" if fails else "warning",
        trouble.file,
        trouble.line,
        f"{trouble.why}; {said}",
    )
    if not fails:
        yield Remark(
            "P6",
            "note",
            trouble.file,
            trouble.line,
            "whoever loads a network by name (LoadNetworkConf) fails over it",
        )


def _network_remarks(
    file: ConfFile, network: Network, programs: Programs | None
) -> Iterator[Remark]:
    if not _NAME.fullmatch(network.name):
        said = (
            f"its name {network.name!r} is loaded, but no pod can be added to a network of that "
            "name"
        )
        yield Remark(
            "P1",
            "error",
            file.name,
            file.line_of(r'"name"\s*:'),
            said,
            "choose [A-Za-z0-9][A-Za-z0-9_.-]*",
        )
    yield from _version_remarks(file, network)
    yield from _chain_remarks(file, network)
    missing = lacking(network, programs)
    if missing is not None:
        said = (
            f"{missing.why}; containerd loads it and every pod fails, CRI-O takes the next file "
            "without it"
        )
        yield Remark(
            missing.row,
            "error",
            missing.file,
            missing.line,
            said,
            "install the program, or remove the plugin's entry",
        )
    for plugin in network.plugins:
        reserved = [key for key in plugin.conf if key in _RESERVED or key.startswith("cni.dev/")]
        if reserved:
            said = (
                f"{plugin.type} has {', '.join(sorted(reserved))}, which the runtime puts in its "
                "own place"
            )
            yield Remark(
                "P5", "warning", plugin.file, plugin.line, said, "remove the reserved keys"
            )
    if "disableCheck" in network.flags:
        yield Remark(
            "P8",
            "note",
            file.name,
            file.line_of('"disableCheck"'),
            "CHECK is switched off and always succeeds",
        )
    if "disableGC" in network.flags:
        said = "GC is switched off: addresses of pods that ended unseen stay taken"
        yield Remark("P10", "note", file.name, file.line_of('"disableGC"'), said)


def _version_remarks(file: ConfFile, network: Network) -> Iterator[Remark]:
    version, line = parse_version(network.version), file.line_of(r'"cniVersions?"\s*:')
    if version is None:
        yield Remark(
            "P2",
            "error",
            file.name,
            line,
            f"its version {network.version!r} is none: every plugin refuses it",
        )
    elif version > CURRENT:
        said = (
            f"version {network.version} is newer than libcni 1.3 knows, and only cniVersions would "
            "let it choose an older one"
        )
        yield Remark("P2", "warning", file.name, line, said, "name the versions in cniVersions")
    elif version < (0, 4, 0):
        yield Remark(
            "P8",
            "note",
            file.name,
            line,
            f"version {network.version or '0.1.0'} has no CHECK (0.4.0)",
        )
    elif version < CURRENT:
        said = (
            f"version {network.version} has neither STATUS nor GC (1.1.0): the node is ready "
            "although a plugin may not be"
        )
        yield Remark("P9", "note", file.name, line, said)
    else:
        yield Remark(
            "D7",
            "note",
            file.name,
            line,
            "STATUS is asked of every plugin; the first that fails makes the node not ready",
        )


def _chain_remarks(file: ConfFile, network: Network) -> Iterator[Remark]:
    first = network.plugins[0]
    if first.type in CHAINED:
        said = (
            f"{first.type} comes first in the chain and makes no interface: it has nothing to work "
            "on, and adding a pod fails"
        )
        yield Remark(
            "P7",
            "error",
            first.file,
            first.line,
            said,
            "put the plugin that makes the interface before it",
        )
    for kind in dict.fromkeys(
        kind for kind in network.types if network.types.count(kind) > 1 and kind in CHAINED
    ):
        yield Remark(
            "L3",
            "error",
            file.name,
            file.line_of(f'"{re.escape(kind)}"'),
            f"{kind} stands in the chain more than once",
        )
    mesh = next((plugin for plugin in network.plugins if plugin.type in MESHES), None)
    if mesh is not None:
        said = (
            f"{mesh.type} redirects a pod before its first container: its init containers have no "
            "network until the proxy runs, unless they run as the proxy's user or the proxy is a "
            "native sidecar"
        )
        yield Remark("G25", "note", mesh.file, mesh.line, said)


def _drop_in_remarks(
    files: Sequence[ConfFile],
    parsed: Sequence[tuple[ConfFile, Network | ConfProblem]],
    settings: RuntimeSettings,
) -> Iterator[Remark]:
    networks = {
        found.name: found for _, found in parsed if isinstance(found, Network) and not found.single
    }
    inlined = {
        network.name for network in networks.values() if "loadOnlyInlinedPlugins" in network.flags
    }
    for other in files:
        name, _, base = other.name.rpartition("/")
        if not name:
            continue
        if other.extension != ".conf":
            yield Remark("P4", "note", other.name, 1, f"{base} is no .conf: it is not read")
        elif name not in networks:
            yield Remark(
                "P4",
                "warning",
                other.name,
                1,
                f"no list here is called {name!r}: nothing reads this drop-in",
            )
        elif name in inlined:
            yield Remark(
                "P4",
                "warning",
                other.name,
                1,
                f"{networks[name].file} has loadOnlyInlinedPlugins: it is not read",
            )
        elif not settings.drop_ins:
            yield Remark(
                "P4",
                "error",
                other.name,
                1,
                "this runtime's libcni is older than 1.3.0: it is not read",
            )
        else:
            said = (
                f"it is appended to {networks[name].file}, by a runtime with libcni 1.3.0 or newer "
                "only"
            )
            yield Remark("P4", "note", other.name, 1, said)


def _folder_remarks(
    networks: Sequence[Network], verdicts: Sequence[RuntimeVerdict]
) -> Iterator[Remark]:
    seen: dict[str, Network] = {}
    for network in networks:
        other = seen.setdefault(network.name, network)
        if other is not network:
            said = (
                f"{other.file} has a network of the name {network.name!r} too: CRI-O and "
                f"whoever loads by name see the first only"
            )
            yield Remark("P6", "warning", network.file, 1, said)
    for verdict in verdicts:
        if verdict.network is None:
            continue
        for network in networks:
            for plugin in network.plugins:
                if (
                    network.file != verdict.file
                    and plugin.type in MESHES
                    and plugin.type not in verdict.network.types
                ):
                    said = (
                        f"{plugin.type} stands here, but {verdict.runtime} takes {verdict.file}, "
                        "which does not have it"
                    )
                    mend = "keep it in the chain that is loaded: podpath protect chain"
                    yield Remark("N6", "error", plugin.file, plugin.line, said, mend)
