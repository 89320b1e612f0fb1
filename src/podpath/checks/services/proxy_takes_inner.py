"""proxy-takes-inner-calls: a forward proxy gets, and denies, what is meant for the cluster itself.

What it is
    A pod has HTTPS_PROXY, and its NO_PROXY covers no address of the cluster's services. The proxy's
    log shows that it denied a CONNECT to such an address.

Why it breaks
    Programs send to the proxy whatever NO_PROXY does not cover. The proxy knows no service of the
    cluster and answers 403 with a page of its own: the API server seems to say Forbidden.

How to confirm
    kubectl exec POD -- env | grep -i proxy; tail /var/log/squid/access.log

How to fix
    Add the ranges of services, pods and nodes to NO_PROXY where it is set (a policy, an image).

References
    golang.org/x/net/http/httpproxy; squid, access.log: TCP_DENIED
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.expected import PRIVATE
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import covering, read_prefix
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.net.addresses import Address, read_address
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.APPLICATION, Category.OUTSIDE_NODE)
NAME = "proxy-takes-inner-calls"
LIKELY = 0.8
"""Where nothing says that what fails is answered, as a proxy does."""
_OTHERWISE = frozenset({FailureKind.TIMEOUT, FailureKind.REFUSED, FailureKind.NO_ROUTE_TO_HOST})
"""How a call fails that no proxy answered."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first private address that a proxy denied and that the only NO_PROXY which is
    shown does not cover.
    """
    lists = find_said(case, MessageKind.PROXY_EXEMPTS)
    if len({one.values["list"] for one in lists}) != 1 or not find_said(
        case, MessageKind.PROXY_SET
    ):
        return
    if any(one.failure in _OTHERWISE for one in list_failing(case)):
        return
    for denied in find_said(case, MessageKind.PROXY_DENIED):
        address = read_address(denied.values["dst"])
        inner = address is not None and covering(PRIVATE, address)
        if address is not None and inner and not _is_exempt(lists[0].values["list"], address):
            yield _report(denied, lists[0], sure=_is_felt(case, address))
            return


def _is_felt(case: Case, address: Address) -> bool:
    """Tell whether what fails is an error that somebody answered, or a program prints the words of
    a proxy's status for a call to the address.
    """
    told = any(one.failure is FailureKind.ERROR_ANSWER for one in list_failing(case))
    answered = find_said(case, MessageKind.PROXY_ANSWERED)
    return told or any(f"//{address}:" in one.span.text for one in answered)


def _is_exempt(text: str, address: Address) -> bool:
    """Tell whether NO_PROXY covers an address: by itself, its range, or everything."""
    words = [word.strip().partition(":")[0] for word in text.strip("\"'").split(",")]
    ranges = [read_prefix(word) for word in words]
    covered = covering([one for one in ranges if one is not None], address)
    return covered or "*" in words or str(address) in words


def _report(denied: Message, exempts: Message, *, sure: bool) -> Finding:
    address, port = denied.values["dst"], denied.values["port"]
    ask = FollowUp(
        f"how the call to {address} fails, and by which pod",
        f"kubectl exec POD -- curl -vk https://{address}:{port}/   # in the pod with the variables",
        "the proxy answers it with an error: this is the cause",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The forward proxy gets and denies what is for {address}:{port}, since NO_PROXY does "
            "not cover it."
        ),
        evidence=(denied.span, exempts.span),
        reasoning=("Programs send to the proxy whatever NO_PROXY does not cover.",),
        breaks=("calls to services of the cluster by their addresses",),
        repairs=(
            Repair(
                title="add the ranges of services, pods and nodes to NO_PROXY where it is set",
                commands=(),
            ),
        ),
        prevention="Write the cluster's ranges into the policy that sets proxy variables.",
        certainty=1.0 if sure else LIKELY,
        asks=() if sure else (ask,),
        marks=(address,),
    )
