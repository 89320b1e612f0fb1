"""Whether a namespace's routes are listed whole: every table that its policy rules look up is, or follows from addresses."""

from __future__ import annotations

from podpath.assembly.draft import NetnsDraft, NodeDraft
from podpath.net.addresses import Family
from podpath.node.routing import DEFAULT, LOCAL


def settle_completeness(draft: NodeDraft) -> None:
    """Mark the namespaces whose IPv4 routes are listed whole."""
    for netns in draft.namespaces.values():
        if _is_whole(netns, 4):
            netns.complete.add("route")


def _is_whole(netns: NetnsDraft, family: Family) -> bool:
    """Tell whether each table that a rule looks up is listed; `local` follows from addresses and `default` is empty."""
    looked_up = {rule.table for rule in netns.rules if rule.family == family and rule.action == "lookup"}
    wanted = looked_up - {LOCAL, DEFAULT}
    return bool(wanted) and all((family, table) in netns.whole_tables for table in wanted)
