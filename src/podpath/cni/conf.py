"""One CNI configuration file as libcni reads it: a network with its plugins, or the fault for which
it is refused.

What comes in is a file's name and bytes, and the files of the drop-in directory named after its
network; what goes out is a `Network` or a `ConfProblem` with the line it stands in. The rules are
those of libcni 1.3 (`libcni/conf.go`), row P1 to P5 of parity.md; where an older libcni decides
otherwise (drop-in directories came with 1.3.0), `drop_ins` says which is meant.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

EXTENSIONS = (".conf", ".conflist", ".json")
CURRENT = (1, 1, 0)
"""The newest version of the specification that libcni 1.3 knows."""
_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_GO_KINDS = {
    str: "string",
    bool: "bool",
    int: "float64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}
_FLOAT_DIGITS = 308
"""An integer with fewer digits is always a float64 too."""
_FLAGS = ("disableCheck", "disableGC", "loadOnlyInlinedPlugins")


class ConfProblem(NamedTuple):
    """Why a file, or a part of it, is not taken."""

    row: str
    """The rule, as parity.md numbers it."""
    file: str
    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfFile:
    """A file of the folder, by the name that it has there; one of a drop-in directory as
    `NETWORK/NAME`.
    """

    name: str
    content: bytes | None
    """None where it cannot be read."""
    obstacle: str = ""
    """Why it cannot be read."""
    is_link: bool = False

    @property
    def extension(self) -> str:
        """The part of the name from its last dot on, as Go's filepath.Ext has it: of `.conf` it is
        `.conf`.
        """
        base = self.name.rpartition("/")[2]
        if "." in base:
            return f".{base.rpartition('.')[2]}"
        return ""

    @property
    def text(self) -> str:
        """The content as text."""
        return (self.content or b"").decode("utf-8", "replace")

    def line_of(self, pattern: str) -> int:
        """Return the number of the first line that matches; 1 where none does."""
        found = re.search(pattern, self.text)
        if found is None:
            return 1
        return self.text.count("\n", 0, found.start()) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin of a chain."""

    type: str
    conf: Mapping[str, object]
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network that libcni would give a runtime."""

    file: str
    name: str
    """May be empty or unusable: libcni looks at the name only when a pod is added."""
    version: str
    """The version that the plugins are called with; empty stands for 0.1.0."""
    plugins: tuple[Plugin, ...]
    single: bool = False
    """It was one plugin at the top level."""
    flags: tuple[str, ...] = ()
    """Which of disableCheck, disableGC and loadOnlyInlinedPlugins are true."""

    @property
    def types(self) -> tuple[str, ...]:
        """The plugins in the order in which a pod is added."""
        return tuple(plugin.type for plugin in self.plugins)


def parse_network(
    file: ConfFile, folder: Sequence[ConfFile] = (), *, drop_ins: bool = True
) -> Network | ConfProblem:
    """Read a file as a runtime does: a list where it is a `.conflist`, one plugin otherwise."""
    if file.content is None:
        return ConfProblem("D2", file.name, 1, f"it cannot be read: {file.obstacle}")
    value = parse_json(file)
    if isinstance(value, ConfProblem):
        return value
    if file.extension != ".conflist":
        return _parse_single(file, value)
    network = _parse_list(file, value, drop_ins=drop_ins)
    if (
        isinstance(network, ConfProblem)
        or not drop_ins
        or "loadOnlyInlinedPlugins" in network.flags
    ):
        return network
    return _with_drop_ins(file, network, folder)


def parse_json(file: ConfFile) -> Mapping[str, object] | ConfProblem:
    """Read a file's JSON object by Go's rules: no byte order mark, no NaN, no number that is too
    large, nothing behind it.
    """
    try:
        value: object = json.loads(
            file.text, parse_constant=_refuse_constant, parse_float=_read_float, parse_int=_read_int
        )
    except RecursionError:
        return ConfProblem("D2", file.name, 1, "its JSON is nested too deep")
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        what = "it is empty" if not file.text.strip() else f"it is not JSON: {said}"
        return ConfProblem("D2", file.name, line, what)
    if not isinstance(value, dict):
        return ConfProblem("D2", file.name, 1, f"expected an object of JSON, saw {_kind(value)}")
    return value


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Return a version's numbers, 0.1.0 for an empty one; None where it is none."""
    found = _VERSION.fullmatch(text) if text else _VERSION.fullmatch("0.1.0")
    if found is None:
        return None
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0))


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no value of JSON")


def _read_float(text: str) -> float:
    """Read a number as encoding/json reads what it has no type for: what no float64 can be is an
    error, wherever it stands (`ConfListFromBytes` reads the whole into a map).
    """
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is larger than a float64")
    return value


def _read_int(text: str) -> int:
    if len(text) > _FLOAT_DIGITS:
        _read_float(text)
    return int(text)


def _parse_single(file: ConfFile, value: Mapping[str, object]) -> Network | ConfProblem:
    if "plugins" in value and not value.get("type"):
        line = file.line_of(r'"plugins"\s*:')
        return ConfProblem(
            "D5",
            file.name,
            line,
            "it is a list of plugins under the name of a single one: it must end in .conflist",
        )
    plugin = _parse_plugin(file, value, 1)
    if isinstance(plugin, ConfProblem):
        return plugin
    name, version = value.get("name") or "", value.get("cniVersion") or ""
    return Network(
        file=file.name, name=str(name), version=str(version), plugins=(plugin,), single=True
    )


def _parse_list(
    file: ConfFile, value: Mapping[str, object], *, drop_ins: bool
) -> Network | ConfProblem:
    name = value.get("name")
    if "name" not in value:
        return ConfProblem("P1", file.name, 1, "it has no name")
    if not isinstance(name, str):
        return ConfProblem(
            "P1", file.name, file.line_of(r'"name"\s*:'), f"its name is no string but {_kind(name)}"
        )
    version = _choose_version(file, value)
    if isinstance(version, ConfProblem):
        return version
    flags = _read_flags(file, value)
    if isinstance(flags, ConfProblem):
        return flags
    network = Network(file=file.name, name=name, version=version, plugins=(), flags=flags)
    if "plugins" not in value:
        if not drop_ins:
            return ConfProblem("P4", file.name, 1, "it has no key plugins")
        if "loadOnlyInlinedPlugins" in flags:
            line = file.line_of('"loadOnlyInlinedPlugins"')
            return ConfProblem(
                "P4", file.name, line, "loadOnlyInlinedPlugins is true, and there is no key plugins"
            )
        return network
    listed, line = value["plugins"], file.line_of(r'"plugins"\s*:')
    if not isinstance(listed, list):
        return ConfProblem("P4", file.name, line, f"its plugins are no list but {_kind(listed)}")
    if not listed:
        return ConfProblem("P4", file.name, line, "its list of plugins is empty")
    plugins = tuple(_parse_plugin(file, entry, number + 1) for number, entry in enumerate(listed))
    trouble = next((plugin for plugin in plugins if isinstance(plugin, ConfProblem)), None)
    return trouble or replace(
        network, plugins=tuple(plugin for plugin in plugins if isinstance(plugin, Plugin))
    )


def _choose_version(file: ConfFile, value: Mapping[str, object]) -> str | ConfProblem:
    """Choose the highest version of `cniVersion` and `cniVersions` that libcni knows."""
    single, listed = value.get("cniVersion", ""), value.get("cniVersions")
    line = file.line_of(r'"cniVersions?"\s*:')
    if not isinstance(single, str):
        return ConfProblem(
            "P2", file.name, line, f"its cniVersion is no string but {_kind(single)}"
        )
    if "cniVersions" not in value:
        return single
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        return ConfProblem("P2", file.name, line, "its cniVersions are no list of strings")
    offered = [*listed, single] if single else listed
    wrong = next((entry for entry in offered if not entry or parse_version(entry) is None), None)
    if wrong is not None:
        return ConfProblem("P2", file.name, line, f"{wrong!r} is no version")
    known = [entry for entry in offered if (parse_version(entry) or CURRENT) <= CURRENT]
    return max(known, key=lambda entry: parse_version(entry) or CURRENT) if known else single


def _read_flags(file: ConfFile, value: Mapping[str, object]) -> tuple[str, ...] | ConfProblem:
    flags: list[str] = []
    for key in _FLAGS:
        held = value.get(key, False)
        word = str(held).lower() if isinstance(held, str | bool) else ""
        if word not in {"true", "false"}:
            return ConfProblem(
                "P3",
                file.name,
                file.line_of(f'"{key}"'),
                f"{key} is neither true nor false: {json.dumps(held)[:40]}",
            )
        flags += [key] if word == "true" else []
    return tuple(flags)


def _parse_plugin(file: ConfFile, value: object, number: int) -> Plugin | ConfProblem:
    """Read one plugin's configuration; its keys are found in any case, as encoding/json finds them
    for a struct.
    """
    which = f"plugin {number}"
    if not isinstance(value, dict):
        return ConfProblem(
            "P5",
            file.name,
            file.line_of(r'"plugins"\s*:'),
            f"{which} is no object but {_kind(value)}",
        )
    fields = {key.lower(): held for key, held in value.items()}
    for key in ("type", "name", "cniversion"):
        if not isinstance(fields.get(key), str | None):
            line = file.line_of(rf'(?i)"{key}"\s*:')
            return ConfProblem(
                "P5", file.name, line, f"the {key} of {which} is no string but {_kind(fields[key])}"
            )
    wrong = next(_misshapen(fields), None)
    if wrong is not None:
        return ConfProblem(
            "P5",
            file.name,
            file.line_of(rf'(?i)"{wrong}"\s*:'),
            f"the {wrong} of {which} has not the shape that it must",
        )
    kind = fields.get("type")
    if not kind or not isinstance(kind, str):
        return ConfProblem("P5", file.name, file.line_of(r'"plugins"\s*:'), f"{which} has no type")
    line = file.line_of(rf'(?i)"type"\s*:\s*"{re.escape(kind)}"')
    return Plugin(type=kind, conf=value, file=file.name, line=line)


def _misshapen(fields: Mapping[str, object]) -> Iterator[str]:
    """Name the typed keys of a plugin whose value encoding/json would refuse
    (`types.PluginConf`).
    """
    capabilities, ipam = fields.get("capabilities"), fields.get("ipam")
    if capabilities is not None and not (
        isinstance(capabilities, dict)
        and all(isinstance(held, bool | None) for held in capabilities.values())
    ):
        yield "capabilities"
    if ipam is not None and not (
        isinstance(ipam, dict) and isinstance(ipam.get("type"), str | None)
    ):
        yield "ipam"
    for key in ("dns", "prevresult"):
        if fields.get(key) is not None and not isinstance(fields[key], dict):
            yield key


def _with_drop_ins(
    file: ConfFile, network: Network, folder: Sequence[ConfFile]
) -> Network | ConfProblem:
    added: list[Plugin] = []
    for other in sorted(folder, key=lambda other: other.name):
        if (
            other.name.rpartition("/")[0] != network.name
            or not network.name
            or other.extension != ".conf"
        ):
            continue
        if other.content is not None:
            value = parse_json(other)
        else:
            value = ConfProblem("P4", other.name, 1, other.obstacle)
        plugin = value if isinstance(value, ConfProblem) else _parse_plugin(other, value, 1)
        if isinstance(plugin, ConfProblem):
            return plugin
        added.append(plugin)
    if not network.plugins and not added:
        return ConfProblem(
            "P4", file.name, 1, f"it lists no plugin, and {network.name}/ has none either"
        )
    return replace(network, plugins=(*network.plugins, *added))


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return _GO_KINDS.get(type(value), type(value).__name__)
