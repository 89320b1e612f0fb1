"""Rules that give connections to a transparent proxy of the host, as service meshes do, now and
then to a port where none listens or without the route that keeps them here.

They are drawn by a chance of their own, so that no other draw of a case changes.
"""

from __future__ import annotations

from random import Random

from podpath.net import protocols
from podpath.net.addresses import MaskedMark
from podpath.node.netfilter import Match, MatchOption, ProtocolMatch, Target
from podpath.node.routing import PolicyRule
from podpath_lab.cases.routing import PORTS
from podpath_lab.cases.rules import make_rule
from podpath_lab.draft import DraftNetns

SHARE = 0.06
"""How many cases have a proxy."""
PORT = 15001
"""Where the host's transparent socket listens."""
_TABLE, _PRIORITY = 200, 90


def draw_proxy(chance: Random, host: DraftNetns, flavour: str) -> None:
    """Draw the rule, now and then, and in most cases the route that delivers here what it marks."""
    if chance.random() >= SHARE:
        return
    host.proxies = (PORT,)
    wanted = chance.choice((PORT, PORT, PORT, PORT, PORTS[0]))
    options = [MatchOption("on-port", (str(wanted),))]
    own = [str(item.address) for item in host.addresses]
    address = chance.choice(("", "", "0.0.0.0", "127.0.0.1", *own))  # noqa: S104 - of a rule
    if address:
        options.append(MatchOption("on-ip", (address,)))
    mark = chance.choice(("0x1/0xffffffff", "0x200/0xf00"))
    options.append(MatchOption("tproxy-mark", (mark,)))
    port = MatchOption("dport", (str(chance.choice(PORTS)),))
    matches = (Match("tcp", (port,)),) if chance.random() < 0.5 else ()
    rule = make_rule(
        Target("TPROXY", tuple(options)), protocol=ProtocolMatch(protocols.TCP), matches=matches
    )
    rules = host.table("mangle", flavour).chains["PREROUTING"]
    rules.insert(chance.randrange(len(rules) + 1), rule)
    if chance.random() < 0.2:
        return
    selected = MaskedMark(*(int(part, 16) for part in mark.split("/")))
    host.rules.append(PolicyRule(family=4, priority=_PRIORITY, mark=selected, table=_TABLE))
    host.add_route("default", "lo", type="local", table=_TABLE, scope="host")
