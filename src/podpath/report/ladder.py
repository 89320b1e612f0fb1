"""A connection across its capture points as a ladder in the terminal: a column for each point, a
row for each packet.

Packets stand by their numbers in each file, so that they can be looked up; what was lost is marked
where it was last seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from podpath.capture.sightings import FiveTuple, Ladder, LadderPoint, LadderStep
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.report.escape import escape
from podpath.report.style import Style

MOST_STEPS = 60
"""Rows that are drawn; of a longer connection its beginning, its end and what was lost."""
BEGINNING, END, AROUND = 12, 6, 2
"""Rows of a long connection that are drawn at its beginning, at its end, and on either side of a
loss.
"""


def render_ladder(ladder: Ladder, style: Style) -> str:
    """Draw a ladder: who spoke to whom at each point, then its packets."""
    posts = ladder.posts
    lines = [style.paint("head", spell_title(ladder)), *_legend(ladder, style), ""]
    names = max((len(escape(step.what)) for step in ladder.steps), default=0)
    left = 13 + names + 2
    gap = (
        max((len(_cell(numbers)) for step in ladder.steps for numbers in step.packets), default=2)
        + 8
    )
    lines.append(" " * left + "".join(f"{letter(at):<{gap}}" for at in range(len(posts))).rstrip())
    for some in choose_steps(ladder.steps):
        if isinstance(some, int):
            lines.append(
                style.paint(
                    "dim", f"{'':>13}{_dots(style)} {some} more packets, all of which passed"
                )
            )
        else:
            lines.append(_row(some, names, gap, style))
    return "\n".join(lines) + "\n"


def letter(post: int) -> str:
    """Name a column: A to Z, then P26 and so on."""
    return chr(ord("A") + post) if post < 26 else f"P{post}"


def spell_title(ladder: Ladder) -> str:
    """Say whose connection it is, as its first point shows it."""
    first = next((post.ends for post in ladder.posts if post.ends is not None), None)
    if first is not None:
        return escape(spell_ends(first))
    return "no packets"


def spell_ends(ends: FiveTuple) -> str:
    """Spell who speaks to whom."""
    name = protocols.protocol_name(ends.protocol)
    if ends.protocol in {protocols.ICMP, protocols.ICMPV6}:
        return f"{name} {ends.src} > {ends.dst} id {ends.sport}"
    return f"{name} {endpoint(ends.src, ends.sport)} > {endpoint(ends.dst, ends.dport)}"


def describe_post(post: LadderPoint, before: LadderPoint | None) -> str:
    """Say what a point makes of the connection: its ends, how they were rewritten since the point
    before, tunnel and clock.
    """
    if post.ends is None:
        return "shows nothing of it"
    words = [spell_ends(post.ends)]
    if before is not None and before.ends is not None and before.ends != post.ends:
        source, target = before.ends[1:3] != post.ends[1:3], before.ends[3:] != post.ends[3:]
        words.append(
            " and ".join(
                word for word, changed in (("source", source), ("destination", target)) if changed
            )
            + " rewritten"
        )
    if post.tunnel is not None:
        words.append(
            f"in a tunnel {post.tunnel.src} > {post.tunnel.dst}, network {post.tunnel.network}"
        )
    if post.clock.nanoseconds is None:
        words.append("its clock could not be compared")
    elif post.clock.nanoseconds:
        words.append(
            f"clock {post.clock.nanoseconds / 1e9:+.6f} s, within {post.clock.within / 1e9:.6f} s"
        )
    return ", ".join(words)


def choose_steps(steps: Sequence[LadderStep]) -> Iterator[LadderStep | int]:
    """Yield the rows that are drawn, and for those left out between them how many they are."""
    count = len(steps)
    if count <= MOST_STEPS:
        yield from steps
        return
    kept = {*range(BEGINNING), *range(count - END, count)}
    kept |= {
        near
        for at, step in enumerate(steps)
        if step.lost
        for near in range(at - AROUND, at + AROUND + 1)
    }
    last = -1
    for at in [*sorted(each for each in kept if 0 <= each < count), count]:
        if at > last + 1:
            yield at - last - 1
        if at < count:
            yield steps[at]
        last = at


def _legend(ladder: Ladder, style: Style) -> Iterator[str]:
    names = [escape(post.name) for post in ladder.posts]
    width = max(map(len, names), default=0)
    for at, (before, post) in enumerate(pairwise([None, *ladder.posts])):
        if post is not None:
            yield from style.wrap(
                escape(describe_post(post, before)), f"  {letter(at)}  {names[at]:<{width}}  "
            )


def _dots(style: Style) -> str:
    return "…" if style.unicode else "..."


def _cell(numbers: Sequence[int]) -> str:
    """Spell the packets of a row at one point: `#12`, `#12-15`, `#12,14`, or `#12,14,..` for
    many.
    """
    if not numbers:
        return ""
    if len(numbers) > 1 and list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"#{numbers[0]}-{numbers[-1]}"
    return "#" + ",".join(map(str, numbers[:2])) + (",.." if len(numbers) > 2 else "")


def _row(step: LadderStep, names: int, gap: int, style: Style) -> str:
    seen = [at for at, numbers in enumerate(step.packets) if numbers]
    losses = {after: before for after, before, _ in step.lost}
    parts = [f"{step.time / 1e9:>11.6f} s {escape(step.what):<{names}} "]
    dot, line = ("·", "─") if style.unicode else (".", "-")
    for at, numbers in enumerate(step.packets):
        text = _cell(numbers) or (dot if min(seen) <= at <= max(seen) else " ")
        room = gap - len(text)
        crosses = min(seen) <= at < max(seen)
        lost = (at in losses and losses[at] > at) or (at + 1 in losses and losses[at + 1] <= at)
        parts.append(text + _arrow(step, room, (crosses, lost), line, style))
    words = [
        f"{escape(what)} lost between {letter(after)} and {letter(before)}"
        for after, before, what in step.lost
    ]
    return "".join(parts).rstrip() + ("  " + style.paint("bad", "; ".join(words)) if words else "")


def _arrow(step: LadderStep, room: int, what: tuple[bool, bool], line: str, style: Style) -> str:
    """Draw what stands between two points: an arrow, one that breaks off, or nothing."""
    crosses, lost = what
    cross = style.paint("bad", "✗" if style.unicode else "X")
    head = {True: "▶" if style.unicode else ">", False: "◀" if style.unicode else "<"}[step.forward]
    if crosses:
        middle = line * (room - 3)
        if lost:
            half = (room - 4) // 2
            middle = line * half + cross + line * (room - 4 - half)
        if step.forward:
            return f" {middle}{head} "
        return f" {head}{middle} "
    if lost:
        rest = " " * (room - 6)
        if step.forward:
            return f" {line * 3}{cross} {rest}"
        return f"{rest} {cross}{line * 3} "
    return " " * room
