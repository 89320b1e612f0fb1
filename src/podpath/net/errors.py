"""The errors that podpath raises on purpose. Bugs stay `AssertionError`."""

from __future__ import annotations


class PodpathError(Exception):
    """Anything that podpath refuses with a clear message. `str()` is one line that says what to do
    next.
    """


class EvidenceError(PodpathError):
    """The input's fault: a file that cannot be read at all, an archive that must not be
    unpacked.
    """


class UsageError(PodpathError):
    """The caller's fault: a probe that cannot be parsed, an option that does not exist."""


class MissingExtra(PodpathError):
    """A command needs a package that the core does not install. The message says how to get it."""
