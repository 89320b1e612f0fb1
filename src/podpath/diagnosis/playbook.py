"""The questions that an expert asks next, chosen by the clues of a case from a table of what is
worth asking for.

Each play of `plays` says which clues support it; what the evidence already holds completely is
never asked for. The sum of the clues orders the plays, of which those count for more that the text
begins with, and so does each word that a play has in common with it, the more the fewer plays have
that word. The table's order parts equals: an order, and no probability of anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from math import log, sqrt

from podpath.checks.told import is_of_cluster
from podpath.diagnosis.clues import Clue, Contrast, ShownPart, list_clues
from podpath.diagnosis.diagnosis import Question
from podpath.diagnosis.holdings import AnsweringOutput, list_holdings
from podpath.diagnosis.plays.play import Play
from podpath.diagnosis.plays.table import list_plays
from podpath.net.messages import DAILY_LIFE
from podpath.net.probe import Probe
from podpath.net.technologies import Emphasis, Technology, list_words
from podpath.node.case import Case
from podpath.node.node import Node

STRONGEST = 4
"""Clues that count: many weak ones are no strong one."""
STRESSED = 1.5
"""How much a clue counts with which the text begins, and what works beside what fails."""
SHOWN = 2
"""How much it counts what outputs show in part."""
ALIKE = 0.8
"""How much the words count that a play and the text have in common."""
NOTHING = Emphasis(frozenset(), frozenset())
_FOREIGN = 2
"""What a question loses on a host without Kubernetes, where its first command is of that."""
_OVERLAY = " or udp port 4789 or udp port 8472"
_TUNNELS = frozenset({Technology.VXLAN, Technology.FLANNEL})
MOST = 5
"""Questions that are asked: an expert asks for few things at a time."""


_CLUSTER_COMMAND = re.compile(r"kubectl|calicoctl|crictl|cilium|flannel|calico|kubelet|CoreDNS")
"""What stands in a command that only a node of Kubernetes has."""


def ask_expert(case: Case) -> tuple[Question, ...]:
    """Return the questions that the clues of a case speak for, the best first."""
    clues = list_clues(case)
    holdings = list_holdings(case)
    emphasis = _join(case.emphasis)
    outside = not is_of_cluster(case)
    weighed = [
        (
            weigh(play, clues, emphasis)
            - (_FOREIGN if outside and _begins_in_cluster(play) else 0),
            -place,
            play,
        )
        for place, play in enumerate(list_plays())
        if not is_held(play, holdings)
    ]
    words = fill_words(case)
    ranked = sorted((one for one in weighed if one[0] > 0), key=lambda one: one[:2], reverse=True)
    chosen = islice(_ask_once(play for _, _, play in ranked), MOST)
    return tuple(
        Question(
            fact=play.fact,
            ask=fill(leave_out_cluster(play.ask) if outside else play.ask, words),
            decides=play.decides,
        )
        for play in chosen
    )


def _ask_once(plays: Iterable[Play]) -> Iterator[Play]:
    """Yield the plays without those whose answer stands in the output that an earlier one asks
    for.
    """
    asked: set[AnsweringOutput] = set()
    for play in plays:
        if not play.held or not play.held <= asked:
            asked |= play.held
            yield play


def leave_out_cluster(ask: str) -> str:
    """Return the commands of a question that fit a host without Kubernetes; all where none does."""
    steps = ask.split("; ")
    fitting = [step for step in steps if _CLUSTER_COMMAND.search(step) is None]
    return "; ".join(fitting or steps)


def _begins_in_cluster(play: Play) -> bool:
    """Tell whether a question's first command is of Kubernetes."""
    return _CLUSTER_COMMAND.search(play.ask.split("; ")[0]) is not None


def is_asked(case: Case) -> bool:
    """Tell whether anything is said to fail: where nothing is, the connection in question is asked
    for, not its cause.
    """
    complaints = any(not complaint.works for complaint in case.complaints)
    return complaints or bool(case.unplaced) or any(_failing(case)) or _is_told(case)


def _is_told(case: Case) -> bool:
    """Tell whether a line names something that fails; what a capture prints is no failure."""
    return any(message.kind not in DAILY_LIFE for message in case.messages)


def weigh(play: Play, clues: frozenset[Clue], emphasis: Emphasis = NOTHING) -> float:
    """Return how much the clues and words speak for a play; what it says of the case in which it
    needs a clue that is not there.
    """
    if play.needs and not any(clue in clues for clue in play.needs):
        return play.otherwise
    counted = (
        weight * _stress(clue, emphasis) for clue, weight in play.signs.items() if clue in clues
    )
    weight = play.base + sum(sorted(counted, reverse=True)[:STRONGEST])
    return weight + _count_alike(play, emphasis.words) if weight > 0 else weight


def _stress(clue: Clue, emphasis: Emphasis) -> float:
    """Return how many times a clue's weight counts."""
    if isinstance(clue, ShownPart):
        return SHOWN
    return STRESSED if isinstance(clue, Contrast) or clue in emphasis.opening else 1


def _count_alike(play: Play, words: frozenset[str]) -> float:
    """Return what the words are worth that a play has in common with a text."""
    rareness = _list_rareness()
    own = _list_words(play)
    return ALIKE * sum(rareness[word] for word in own & words) / sqrt(len(own) or 1)


@cache
def _list_rareness() -> Mapping[str, float]:
    """Return how rare each word is among the plays: none that all have is worth anything."""
    plays = list_plays()
    times = Counter(word for play in plays for word in _list_words(play))
    return {word: log(len(plays) / number) for word, number in times.items()}


def _list_words(play: Play) -> frozenset[str]:
    return list_words(" ".join((play.fact, play.ask, *play.decides)))


def _join(emphasis: Iterable[Emphasis]) -> Emphasis:
    """Return what several texts together make most of."""
    texts = tuple(emphasis)
    return Emphasis(
        frozenset(one for text in texts for one in text.opening),
        frozenset(word for text in texts for word in text.words),
    )


def is_held(play: Play, holdings: frozenset[AnsweringOutput]) -> bool:
    """Tell whether the evidence holds whole what the play asks for."""
    return bool(play.held) and play.held <= holdings


def fill(text: str, words: Mapping[str, str]) -> str:
    """Put words into a command: what the evidence shows, and names in capitals for what it does
    not.
    """
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


def fill_words(case: Case) -> dict[str, str]:
    """Return what commands of the playbook are filled in with."""
    probe = next(_failing(case), None)
    complaints = [complaint for complaint in case.complaints if not complaint.works]
    addresses = [str(address) for complaint in complaints for address in complaint.addresses[-1:]]
    ports = [str(port) for complaint in complaints for port in complaint.ports]
    address = str(probe.dst) if probe is not None else next(iter(addresses), "ADDRESS")
    port = str(probe.dport) if probe is not None and probe.dport else next(iter(ports), "PORT")
    return {
        "address": address,
        "port": port,
        "pod": _pod(case.node, probe) or "POD",
        "service": _service(case.node, probe) or "SERVICE",
        "device": _uplink(case.node) or "DEVICE",
        "overlay": _OVERLAY if is_of_cluster(case) or case.mentions & _TUNNELS else "",
    }


def _failing(case: Case) -> Iterator[Probe]:
    yield from (attempt.probe for attempt in case.attempts if attempt.is_bad)


def _pod(node: Node, probe: Probe | None) -> str:
    ends = {probe.src, probe.dst} if probe is not None else set()
    named = [pod for pod in node.pods if pod.address is not None and pod.address in ends]
    return f"-n {named[0].namespace} {named[0].name}" if named else ""


def _service(node: Node, probe: Probe | None) -> str:
    named = [one for one in node.services if probe is not None and probe.dst in one.addresses]
    return f"-n {named[0].namespace} {named[0].name}" if named else ""


def _uplink(node: Node) -> str:
    """Return the device of the host's default route."""
    defaults = (route for route in node.host.routes.items if route.prefix.length == 0)
    links = (hop.link for route in defaults for hop in route.nexthops)
    link = next(filter(None, links), None)
    return str(link) if link is not None else ""
