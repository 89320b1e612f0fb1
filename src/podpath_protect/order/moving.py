"""A jump moved within its chain: one transaction of iptables-restore that takes it out and puts it
back, never twice.

What comes in is a disorder; what goes out is the script, and whether the chain afterwards is the
chain before with that one rule elsewhere. If the rule is gone by then the whole transaction fails
and nothing has changed.
"""

from __future__ import annotations

from collections import Counter

from podpath_protect.order.chains import ChainRules, Disorder


def emit_script(disorder: Disorder) -> str:
    """Write the input of `iptables-restore --noflush` that moves the late jump before the early
    one.

    `-D` takes out the first rule of that text, which is the one that is meant; the early jump
    stands before it, so its number is still right when the rule is put back.
    """
    place, specification = disorder.listing.place, disorder.late.specification
    delete = f"-D {place.chain} {specification}"
    insert = f"-I {place.chain} {disorder.early.number} {specification}"
    return f"*{place.table}\n{delete}\n{insert}\nCOMMIT\n"


def check_move(before: ChainRules, after: ChainRules, disorder: Disorder) -> str:
    """Say what is wrong with the chain after the move; empty where it is as it shall be.

    The same rules must be there as often as before, and all but the one that moved in the same
    order.
    """
    had, has = [line.text for line in before.lines], [line.text for line in after.lines]
    if Counter(had) != Counter(has):
        missing, added = (
            list((Counter(had) - Counter(has)).elements()),
            list((Counter(has) - Counter(had)).elements()),
        )
        return f"the chain changed while the jump was moved: gone {missing}, new {added}"
    expected = had[: disorder.late.number - 1] + had[disorder.late.number :]
    expected.insert(disorder.early.number - 1, disorder.late.text)
    if expected == has:
        return ""
    return "the chain has the same rules, and not in the order that was asked for"
