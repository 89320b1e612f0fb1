"""cloud-forwarding-off: the cloud lets an instance send and receive only packets with its own
addresses.

What it is
    An attribute of the instance or of its port says so: AWS SourceDestCheck true, GCP canIpForward
    false, Azure enableIPForwarding false, OpenStack port_security_enabled true without
    allowed_address_pairs.

Why it breaks
    Packets that leave or arrive with an address that the cloud does not know for this port are
    dropped outside the host: packets of pods without an overlay, of a router, VPN gateway or NAT
    instance, or for keepalived's virtual IP.

How to confirm
    tcpdump on both instances: the packet leaves one and never reaches the other

How to fix
    aws ec2 modify-instance-attribute --no-source-dest-check; canIpForward when you create a GCP
    instance; az network nic update --ip-forwarding true; openstack port set --allowed-address
    ip-address=RANGE PORT; or use an overlay.

References
    AWS, NAT instances; GCP, IP forwarding; Azure, enable IP forwarding; Neutron, allowed address
    pairs
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.net.settings import Setting
from podpath.node.case import Case

CATEGORIES = (Category.CLOUD_NETWORK, Category.MAC_NOT_ALLOWED)
NAME = "cloud-forwarding-off"
CLOSED = {
    "sourcedestcheck": "true", "source_dest_check": "true", "canipforward": "false",
    "can_ip_forward": "false", "enableipforwarding": "false", "enable_ip_forwarding": "false",
}  # fmt: skip
"""Attributes that say it, in small letters, with the value that closes."""


def check(case: Case) -> Iterator[Finding]:
    """Report attributes by which the cloud drops what is not of the instance's own addresses."""
    for file in case.files:
        for setting in file.settings:
            if CLOSED.get(_name(setting).lower()) == setting.value.lower().rstrip(","):
                yield _report(setting)
        secured = next(
            (
                one
                for one in file.all("port_security_enabled")
                if one.value.lower().rstrip(",") == "true"
            ),
            None,
        )
        pairs = [
            one
            for one in file.all("allowed_address_pairs", "ip_address")
            if one.value not in {"", "[]", "null"}
        ]
        if (
            secured is not None
            and not pairs
            and next(file.all("allowed_address_pairs"), None) is not None
        ):
            yield _report(secured)


def _name(setting: Setting) -> str:
    """Return the attribute's name: `describe-network-interface-attribute` puts its value in a block
    of that name.
    """
    return setting.path[-1] if setting.name == "Value" and setting.path else setting.name


def _report(setting: Setting) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The cloud drops packets that do not use the instance's own addresses: "
            f"{_name(setting)} is {setting.value.rstrip(',')}."
        ),
        evidence=(setting.span,),
        reasoning=(
            (
                "Pods without an overlay, routers and NAT instances send and receive packets with "
                "other addresses."
            ),
        ),
        breaks=("packets that the host forwards without translation or tunnel",),
        prevention="Set it where the instances are created.",
        certainty=0.8,
        asks=(
            FollowUp(
                "whether packets leave and do not arrive",
                "tcpdump -ni DEVICE on both instances",
                "lost in between: the cloud drops it",
            ),
        ),
        marks=(setting.value,),
    )
