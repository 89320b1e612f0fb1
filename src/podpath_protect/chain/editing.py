"""A plugin's entry put into a configuration's text, and taken out of it again. Pure.

What comes in is a file as it is and the entry; what goes out is the file's new text. Name,
version, order and every other key stay as they were; only the list of plugins changes, and an entry
that its installer chained stays what it is. `strip` undoes `chain`: what `chain` made of a file
strips to the same JSON. A file of which something would not survive (a number that no float holds,
half a character, a key that stands twice) is not edited at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from podpath.cni.conf import ConfFile, ConfProblem, Network, parse_json, parse_network
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
    a list. An entry that is there already is kept as it is written, the last of several.
    """
    value = _load(file)
    if file.extension == LIST:
        others = [plugin for plugin in _plugins(value) if not _is(plugin, entry.type)]
        there = [plugin for plugin in list_entries(file, entry.type) if is_loadable(plugin)]
        chosen = there[-1] if there else entry.conf
        return Edit(file.name, _emit(file, {**value, "plugins": [*others, chosen]}))
    if not isinstance(value.get("type"), str) or "plugins" in value:
        raise EditingError(f"{file.name}: expected one plugin, saw a list or none")
    base = file.name.removesuffix(file.extension)
    return Edit(base + LIST, _emit(file, _listed(value) | {"plugins": [_inner(value), entry.conf]}))


def strip(file: ConfFile, kind: str) -> bytes | None:
    """Return a list without the entries of a type; None where nothing would be left in it."""
    value = _load(file)
    others = [plugin for plugin in _plugins(value) if not _is(plugin, kind)]
    if others:
        return _emit(file, {**value, "plugins": others})
    return None


def is_chained(file: ConfFile, kind: str) -> bool:
    """Tell whether a list has an entry of a type once, behind another plugin, and libcni takes it;
    who stands behind it does no harm, and what it says is its installer's affair.
    """
    if file.extension != LIST or file.content is None:
        return False
    value = parse_json(file)
    if isinstance(value, ConfProblem):
        return False
    plugins = _plugins(value)
    places = [place for place, plugin in enumerate(plugins) if _is(plugin, kind)]
    return len(places) == 1 and places[0] > 0 and is_loadable(list_entries(file, kind)[0])


def list_entries(file: ConfFile, kind: str) -> tuple[Mapping[str, object], ...]:
    """Return the entries of a type in a list, as they are written."""
    value = parse_json(file) if file.content is not None and file.extension == LIST else {}
    plugins = [] if isinstance(value, ConfProblem) else _plugins(value)
    return tuple(plugin for plugin in plugins if isinstance(plugin, dict) and _is(plugin, kind))


def is_loadable(conf: Mapping[str, object]) -> bool:
    """Tell whether libcni takes an entry at all."""
    text = json.dumps({"cniVersion": "1.0.0", "name": "any", "plugins": [conf]})
    made = ConfFile(name=f"any{LIST}", content=text.encode())
    return isinstance(parse_network(made), Network)


def has_entry(file: ConfFile, kind: str) -> bool:
    """Tell whether a list names the plugin at all."""
    return bool(list_entries(file, kind))


def same_network(one: ConfFile, other: ConfFile, kind: str) -> bool:
    """Tell whether two files are the same network but for the plugin, a single configuration and
    its list being one.
    """
    return _essence(one, kind) == _essence(other, kind)


def _essence(file: ConfFile, kind: str) -> bytes:
    """Spell what a file says, so that 1, 1.0 and true are three things."""
    value = parse_json(file)
    if isinstance(value, ConfProblem):
        return file.content or b""
    said: Mapping[str, object]
    if file.extension != LIST:
        said = _listed(value) | {"plugins": [_inner(value)]}
    else:
        others = [plugin for plugin in _plugins(value) if not _is(plugin, kind)]
        said = {**value, "plugins": others}
    return json.dumps(said, sort_keys=True).encode()


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
    fault = _find_loss(file.text)
    if fault:
        raise EditingError(f"{file.name}: {fault} would not survive; it is left as it is")
    return value


def _find_loss(text: str) -> str:
    """Say what of a JSON text would be another thing if it were written anew; empty where nothing
    would.
    """
    faults: list[str] = []

    def number(raw: str) -> float:
        value = float(raw)
        try:
            same = Decimal(raw) == Decimal(repr(value))
        except InvalidOperation:
            same = False
        if not same:
            faults.append(f"the number {raw[:40]}")
        return value

    def pairs(held: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(held)
        if len(made) != len(held):
            faults.append("a key that stands twice")
        return made

    value = json.loads(text, parse_float=number, object_pairs_hook=pairs)
    if any("\ud800" <= letter <= "\udfff" for letter in json.dumps(value, ensure_ascii=False)):
        faults.append("half a character (a lone surrogate)")
    return faults[0] if faults else ""


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
