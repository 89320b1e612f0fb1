"""What containerd and CRI-O would load from a folder of CNI configurations, and why.

What comes in are the folder's files and, where known, the plugins' programs; what goes out is one
`Verdict` for each runtime: the same folder, two answers, since the two differ where something is
wrong (D1 to D7 of parity.md). containerd takes the first file by name and fails as a whole where
that is broken (go-cni 1.1, `opts.go:loadFromConfDir`); CRI-O passes over what is broken or lacks a
program and takes the next (ocicni 0.4, `ocicni.go:loadNetworks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from podpath.cni.conf import EXTENSIONS, ConfFile, ConfProblem, Network, parse_network

CONTAINERD, CRIO = "containerd", "cri-o"
SIZE_LIMIT = 2 * 1024 * 1024
"""More than this containerd's go-cni does not read (1.1.13, `MaxFileSize`)."""
Programs = Mapping[str, tuple[str, ...]]
"""Plugin programs that are there, with the versions that they say they support; empty where nobody
asked them.
"""


class RuntimeDecision(NamedTuple):
    """What a runtime does with one file."""

    file: str
    action: Literal["loaded", "skipped", "fails", "not reached"]
    why: str
    row: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeVerdict:
    """What one runtime makes of the folder."""

    runtime: str
    network: Network | None
    """The network that pods get; None where the node is not ready."""
    others: tuple[Network, ...] = ()
    """Further networks that it holds: pods get them only where something asks for them."""
    decisions: tuple[RuntimeDecision, ...] = ()
    """One for each file with a CNI extension, in the order of reading."""
    why_none: str = ""

    @property
    def file(self) -> str | None:
        """The file that pods get their network from."""
        return None if self.network is None else self.network.file


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """How the runtimes are set up, where it matters here."""

    max_conf_num: int = 1
    """containerd's `max_conf_num`; 0 loads all files."""
    default_network: str = ""
    """CRI-O's `cni_default_network`; empty takes the first."""
    drop_ins: bool = True
    """Whether libcni reads drop-in directories: from 1.3.0 on."""


def candidates(files: Sequence[ConfFile]) -> list[ConfFile]:
    """Return the files that a runtime looks at, in its order: by name, byte by byte."""
    return sorted(
        (file for file in files if "/" not in file.name and file.extension in EXTENSIONS),
        key=_order,
    )


def judge_containerd(files: Sequence[ConfFile], settings: RuntimeSettings) -> RuntimeVerdict:
    """Say what containerd would load."""
    decisions: list[RuntimeDecision] = []
    networks: list[Network] = []
    waiting = candidates(files)
    for file in waiting:
        if settings.max_conf_num > 0 and len(networks) == settings.max_conf_num:
            decisions.append(
                RuntimeDecision(file.name, "not reached", f"{networks[0].file} comes first", "D1")
            )
            continue
        is_large = len(file.content or b"") > SIZE_LIMIT
        found = (
            ConfProblem("D2", file.name, 1, f"it is larger than {SIZE_LIMIT} bytes")
            if is_large
            else parse_network(file, files, drop_ins=settings.drop_ins)
        )
        if isinstance(found, ConfProblem):
            decisions.append(RuntimeDecision(file.name, "fails", found.why, found.row, found.line))
            rest = waiting[len(decisions) :]
            decisions += [
                RuntimeDecision(other.name, "not reached", f"loading ended at {file.name}", "D2")
                for other in rest
            ]
            return RuntimeVerdict(
                runtime=CONTAINERD,
                network=None,
                decisions=tuple(decisions),
                why_none=(
                    f"{found.file}:{found.line}: {found.why}; it loads nothing at all then, and "
                    "keeps no older network"
                ),
            )
        networks.append(found)
        decisions.append(
            RuntimeDecision(
                file.name,
                "loaded",
                "the first by name" if len(networks) == 1 else "max_conf_num allows it",
                "D1",
            )
        )
    if not networks:
        return RuntimeVerdict(
            runtime=CONTAINERD, network=None, why_none="no file ends in .conf, .conflist or .json"
        )
    return RuntimeVerdict(
        runtime=CONTAINERD,
        network=networks[0],
        others=tuple(networks[1:]),
        decisions=tuple(decisions),
    )


def judge_crio(
    files: Sequence[ConfFile], settings: RuntimeSettings, programs: Programs | None = None
) -> RuntimeVerdict:
    """Say what CRI-O would load; without `programs` every plugin's program is taken to be there."""
    decisions: list[RuntimeDecision] = []
    networks: dict[str, Network] = {}
    for file in candidates(files):
        found = parse_network(file, files, drop_ins=settings.drop_ins)
        if isinstance(found, Network):
            found = lacking(found, programs) or found
        if isinstance(found, ConfProblem):
            decisions.append(
                RuntimeDecision(file.name, "skipped", found.why, found.row, found.line)
            )
            continue
        name = found.name or file.name
        if name in networks:
            decisions.append(
                RuntimeDecision(
                    file.name,
                    "skipped",
                    f"{networks[name].file} has a network {name!r} already",
                    "D1",
                )
            )
            continue
        if not networks:
            why = "the first by name that can be used"
        else:
            why = "held for pods that ask for it by name"
        networks[name] = found
        decisions.append(RuntimeDecision(file.name, "loaded", why, "D1"))
    wanted = settings.default_network or next(iter(networks), "")
    chosen = networks.get(wanted)
    why_none = ""
    if chosen is None:
        lacks = f"the network {wanted!r}" if wanted else "a network that can be used"
        why_none = f"no file has {lacks}"
    others = tuple(network for network in networks.values() if network is not chosen)
    return RuntimeVerdict(
        runtime=CRIO, network=chosen, others=others, decisions=tuple(decisions), why_none=why_none
    )


def lacking(network: Network, programs: Programs | None) -> ConfProblem | None:
    """Return what CRI-O's probe with CNI_COMMAND=VERSION would find missing; None where nothing
    is.
    """
    if programs is None:
        return None
    version = network.version or "0.1.0"
    for plugin in network.plugins:
        supported = programs.get(plugin.type)
        if supported is None:
            return ConfProblem(
                "D3",
                plugin.file,
                plugin.line,
                f"the program of the plugin {plugin.type} is not there",
            )
        if supported and version not in supported:
            why = (
                f"the plugin {plugin.type} does not support version {version} (it says: "
                f"{', '.join(supported)})"
            )
            return ConfProblem("P11", plugin.file, plugin.line, why)
    return None


def _order(file: ConfFile) -> bytes:
    return file.name.encode("utf-8", "surrogateescape")
