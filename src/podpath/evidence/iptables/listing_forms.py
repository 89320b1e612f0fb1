"""How `iptables -L` words each match and target: what `xtables.registry` holds, in the order in
which it is tried.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.xtables import registry
from podpath.xtables.wording import Form, ListedReader

MATCHES: tuple[Form, ...] = tuple(
    form for match in registry.MATCHES.values() for form in match.forms
)
"""In the order they are tried at a place. A comment is no form: its text may hold anything."""
TARGETS: tuple[Form, ...] = tuple(
    form for target in registry.TARGETS.values() for form in target.forms
)
"""Every wording of a target; it always ends the line."""
APART = frozenset(match.name for match in registry.MATCHES.values() if match.apart)
"""Matches that print each option as a text of its own."""
BARE = frozenset(target.name for target in registry.TARGETS.values() if target.bare)
"""Targets that print nothing when they have no options."""
SPECIAL: Mapping[str, ListedReader] = {
    extension.name: extension.listed
    for extension in registry.EXTENSIONS
    if extension.listed is not None
}
"""Extensions whose groups are more than options by name."""
