"""Values as `iptables -L` words them to the values that `iptables-save` prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from podpath.evidence.text.services import read_port
from podpath.xtables import registry

_OPTIONS = [
    (name, option)
    for extension in registry.EXTENSIONS
    for name, option in extension.options.items()
]
_PORT_OPTIONS = frozenset(name for name, option in _OPTIONS if option.ports)
_SPELLERS: Mapping[str, Callable[[str], str]] = {
    name: option.save for name, option in _OPTIONS if option.save is not None
}


def read_value(option: str, value: str) -> str:
    """Spell one word of an option as iptables-save does; `ValueError` says what a name hides."""
    if option in _PORT_OPTIONS:
        return re.sub(r"[^,:]+", lambda found: read_port(found[0]), value)
    spell = _SPELLERS.get(option)
    return spell(value) if spell is not None else value
