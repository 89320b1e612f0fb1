"""cloud-call-denied: the cloud refuses the agent's calls that would give pods their addresses.

What it is
    The node's identity (an instance role, a service principal) lacks the right for a call such as
    AssignPrivateIpAddresses.

Why it breaks
    The agent cannot attach interfaces or addresses, so new pods get none; or a load balancer is not made.

How to confirm
    aws sts get-caller-identity; aws iam list-attached-role-policies --role-name ROLE; /var/log/aws-routed-eni/ipamd.log

How to fix
    Attach the policy that the plugin's documentation names (AmazonEKS_CNI_Policy), or give the principal the role on
    the subnet.

References
    Amazon VPC CNI, docs/iam-policy.md; Azure CNI prerequisites
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.CLOUD_NETWORK,
    Category.IPAM,
    Category.CNI_AGENT,
)
NAME = "cloud-call-denied"
KINDS = (MessageKind.CLOUD_CALL_DENIED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    action = get_value(said, "action", default="the call")
    meaning = Meaning(
        claim=f"The cloud refuses {action}: the node's identity has no right to it.",
        breaks="new addresses of pods, or the load balancer",
        cure="give the node's role that right",
    )
    yield tell(NAME, said, meaning)
