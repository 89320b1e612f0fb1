"""The chains that podpath knows: one file for each in `chains/`, installed with the code and read
like it, once.

They are part of the program, in a syntax that needs no programmer: reading them is no more input
than importing a module is.
"""

from __future__ import annotations

from functools import cache

from podpath.net.data_files import list_data, read_data
from podpath.timeline.chain import CauseChain, parse_chain


@cache
def load_chains() -> tuple[CauseChain, ...]:
    """Return all known chains, ordered by name."""
    return tuple(
        parse_chain(name.removesuffix(".toml"), read_data("podpath.timeline", f"chains/{name}"))
        for name in list_data("podpath.timeline", "chains", ".toml")
    )
