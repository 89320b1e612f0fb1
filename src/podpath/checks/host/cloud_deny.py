"""cloud-deny: the cloud's security list has no rule for outside traffic, and its last rule denies.

What it is
    A pasted rule table (Azure NSG, security group of AWS, OpenStack or another cloud, GCP firewall)
    has a deny-all rule, and above it only rules that accept traffic from the virtual network and
    the load balancer.

Why it breaks
    The packet never reaches the node: clients time out, and no capture on the node shows their SYN.
    On Azure, a packet has to pass both the subnet's list and the network card's; AKS writes its
    rule only to its own list.

How to confirm
    az network nsg rule list -g GROUP --nsg-name NAME -o table
    tcpdump -ni any port PORT on the node (nothing arrives)

How to fix
    az network nsg rule create ... --priority 500 --source-address-prefixes Internet
    --destination-port-ranges 80 --access Allow

References
    Microsoft Learn "Network security groups", default security rules
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.net.firewall import CloudRule
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.CLOUD_NETWORK,)
NAME = "cloud-deny"
_INSIDE = ("virtualnetwork", "azureloadbalancer", "vnet", "self", "loadbalancer")
_ALL = frozenset({"any", "*", "all", "", "0.0.0.0/0", "all traffic"})
Row = tuple[CloudRule, Span]


def check(case: Case) -> Iterator[Finding]:
    """Report each list whose deny for all comes before any accept from outside; sure where a
    connection timed out.
    """
    rows = [
        (rule, stated.span)
        for rule, stated in statements_of(case, CloudRule)
        if rule.inbound is not False
    ]
    timed_out = any(attempt.result == "timeout" for attempt in case.attempts)
    timed_out = timed_out or any(unplaced.result == "timeout" for unplaced in case.unplaced)
    for rules in _cut(rows):
        deny = next((row for row in rules if not row[0].allowed and _is_all(row[0])), None)
        if deny is not None and not any(rule.allowed and not _is_inside(rule) for rule, _ in rules):
            yield _report(rules, deny, sure=timed_out)


def _cut(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each list: priorities that fall start another one, and so does a gap
    between the lines.
    """
    current: list[Row] = []
    for row in rows:
        if current and (
            row[1].line > current[-1][1].line + 1 or row[0].priority < current[-1][0].priority
        ):
            yield current
            current = []
        current.append(row)
    if current:
        yield current


def _is_all(rule: CloudRule) -> bool:
    return rule.port.casefold() in _ALL and rule.source.casefold() in _ALL


def _is_inside(rule: CloudRule) -> bool:
    return rule.source.casefold().replace(" ", "") in _INSIDE


def _report(rules: Sequence[Row], deny: Row, *, sure: bool) -> Finding:
    accepting = [span for rule, span in rules if rule.allowed]
    name = deny[0].name or "a rule"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The cloud's security list accepts nothing from outside: {name} denies "
            f"everything that its rules for internal traffic do not accept."
        ),
        evidence=(deny[1], *accepting),
        reasoning=(
            ("A packet has to pass every list on its way, the subnet's and the network card's."),
        ),
        breaks=("connections from outside to every port of the nodes behind the list",),
        prevention="Add a rule for each published port to every list on the way.",
        certainty=1.0 if sure else 0.7,
        marks=(name,),
        asks=()
        if sure
        else (
            FollowUp(
                fact="whether the failing packets reach the node",
                command="tcpdump -ni any port PORT (on the node)",
                decides="nothing arrives: the security list drops them",
            ),
        ),
    )
