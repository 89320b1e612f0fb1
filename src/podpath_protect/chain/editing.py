"""A plugin's entry put into a configuration's text, and taken out of it again. Pure.

What comes in is a file as it is and the entry; what goes out is the file's new text. Name,
version, order and every other key stay as they were; only the list of plugins changes. `strip`
undoes `chain`: what `chain` made of a file strips to the same JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.cni.conf import ConfFile, ConfProblem, parse_json
from podpath.net.errors import PodpathError

LIST = ".conflist"
_INDENT = re.compile(r"^[ \t]+(?=\")", re.MULTILINE)
_OF_THE_LIST = ("cniVersion", "name")
"""Keys that a list has for all of its plugins: an entry of its own must not have them."""


class EditingError(PodpathError):
    """A file or an entry that cannot be edited. The message says what was expected."""


class ChainedPlugin(NamedTuple):
    """The plugin that is kept in the chain."""

    type: str
    conf: Mapping[str, object]


class Edit(NamedTuple):
    """A file's new state."""

    name: str
    """Its name: another than before where a single configuration became a list."""
    content: bytes


def parse_entry(text: str) -> ChainedPlugin:
    """Read the plugin's entry: an object with a type; what belongs to the list is left out of
    it.
    """
    value = parse_json(ConfFile(name="entry", content=text.encode()))
    if isinstance(value, ConfProblem):
        raise EditingError(
            f"expected a plugin's entry in JSON, saw that at line {value.line} {value.why}"
        )
    kind = value.get("type")
    if not isinstance(kind, str) or not kind:
        raise EditingError('expected a plugin\'s entry with its type, as {"type": "linkerd-cni"}')
    return ChainedPlugin(
        kind, {key: held for key, held in value.items() if key not in _OF_THE_LIST}
    )


def chain(file: ConfFile, entry: ChainedPlugin) -> Edit:
    """Return the file with the entry behind its other plugins, once; a single configuration becomes
    a list.
    """
    value = _load(file)
    if file.extension == LIST:
        others = [plugin for plugin in _plugins(value) if not _is(plugin, entry.type)]
        return Edit(file.name, _emit(file, {**value, "plugins": [*others, entry.conf]}))
    base = file.name.removesuffix(file.extension)
    return Edit(base + LIST, _emit(file, _listed(value) | {"plugins": [_inner(value), entry.conf]}))


def strip(file: ConfFile, kind: str) -> bytes | None:
    """Return a list without the entries of a type; None where nothing would be left in it."""
    value = _load(file)
    others = [plugin for plugin in _plugins(value) if not _is(plugin, kind)]
    return _emit(file, {**value, "plugins": others}) if others else None


def is_chained(file: ConfFile, entry: ChainedPlugin) -> bool:
    """Tell whether a list has the entry once, as it should be, behind another plugin; who stands
    behind it does no harm.
    """
    if file.extension != LIST or file.content is None or isinstance(parse_json(file), ConfProblem):
        return False
    plugins = _plugins(_load(file))
    places = [place for place, plugin in enumerate(plugins) if _is(plugin, entry.type)]
    return len(places) == 1 and places[0] > 0 and plugins[places[0]] == entry.conf


def has_entry(file: ConfFile, kind: str) -> bool:
    """Tell whether a list names the plugin at all."""
    value = parse_json(file) if file.content is not None and file.extension == LIST else None
    return isinstance(value, dict) and any(_is(plugin, kind) for plugin in _plugins(value))


def same_network(one: ConfFile, other: ConfFile, kind: str) -> bool:
    """Tell whether two files are the same network but for the plugin, a single configuration and
    its list being one.
    """
    return _essence(one, kind) == _essence(other, kind)


def _essence(file: ConfFile, kind: str) -> object:
    value = parse_json(file)
    if isinstance(value, ConfProblem):
        return file.content
    if file.extension != LIST:
        return _listed(value) | {"plugins": [_inner(value)]}
    return {**value, "plugins": [plugin for plugin in _plugins(value) if not _is(plugin, kind)]}


def _load(file: ConfFile) -> Mapping[str, object]:
    value = parse_json(file)
    if isinstance(value, ConfProblem):
        raise EditingError(f"{file.name}:{value.line}: {value.why}")
    try:
        (file.content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditingError(
            f"{file.name}: expected UTF-8, saw byte {error.start} that is none; "
            "it would not survive"
        ) from error
    return value


def _plugins(value: Mapping[str, object]) -> list[object]:
    listed = value.get("plugins")
    return listed if isinstance(listed, list) else []


def _is(plugin: object, kind: str) -> bool:
    return isinstance(plugin, dict) and plugin.get("type") == kind


def _listed(value: Mapping[str, object]) -> dict[str, object]:
    """Return what a single configuration says for the list that it becomes: its own name and
    version, and no others.
    """
    return {key: value[key] for key in _OF_THE_LIST if key in value} or {}


def _inner(value: Mapping[str, object]) -> dict[str, object]:
    return {key: held for key, held in value.items() if key not in _OF_THE_LIST}


def _emit(file: ConfFile, value: Mapping[str, object]) -> bytes:
    """Write JSON as the file has it: its indentation, its letters."""
    found = _INDENT.search(file.text)
    text = json.dumps(value, indent=found[0] if found else None, ensure_ascii=False)
    return (text + "\n").encode()
