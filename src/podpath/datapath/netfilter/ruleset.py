"""The compiled tables of one namespace and family, by hook, in the kernel's order."""

from __future__ import annotations


class Ruleset:
    """Everything that is registered at the hooks of one namespace and family."""

    __slots__ = ()
