"""The chains that podpath knows: one file for each in `chains/`, installed with the code and read
like it, once.

They are part of the program, in a syntax that needs no programmer: reading them is no more input
than importing a module is.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from podpath.timeline.chain import CauseChain, parse_chain


@cache
def load_chains() -> tuple[CauseChain, ...]:
    """Return all known chains, ordered by name."""
    folder = resources.files("podpath.timeline").joinpath("chains")
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    return tuple(
        parse_chain(file.name.removesuffix(".toml"), file.read_text(encoding="utf-8"))
        for file in files
    )
