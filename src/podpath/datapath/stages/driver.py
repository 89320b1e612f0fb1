"""The driver: one packet from stage to stage as the tables of `order` say, until an outcome."""

from __future__ import annotations

from collections.abc import Callable

from podpath.datapath.stages.order import ORDER, Path
from podpath.datapath.tracing.paths import Next, PathName
from podpath.datapath.tracing.trace import Outcome
from podpath.datapath.vocabulary import BoundaryName
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk


def _runs(path: Path) -> tuple[Callable[[Walk, Skb], Next], ...]:
    return tuple(stage.run for stage in path)


RUNS = {
    family: dict(zip(paths, map(_runs, paths.values()), strict=True))
    for family, paths in ORDER.items()
}
"""The callables of each path alone."""
HOPS = 400
"""Changes of path after which a packet goes in a circle: a TTL of 64 allows 64 forwards of 5
changes each.
"""


def drive(walk: Walk, skb: Skb, path: PathName) -> Outcome:
    """Send a packet down a path until it ends."""
    for _ in range(HOPS):
        for run in RUNS[skb.packet.dst.family][path]:
            following = run(walk, skb)
            if following is not None:
                break
        else:
            raise AssertionError(f"the path {path} ends without saying how it goes on")
        if not isinstance(following, PathName):
            return following
        path = following
    return boundary(walk, skb, BoundaryName.CIRCLE)
