"""external-name: a service of type ExternalName holds an address, or is queried by the wrong name.

What it is
    ExternalName makes the cluster's DNS answer with a CNAME. An address instead of a name becomes a
    name made of digits, which no server knows. Ports and selectors of such a service have no
    effect.

Why it breaks
    The name resolves to a CNAME that does not resolve further, so clients see "no such host" or
    NXDOMAIN.

How to confirm
    kubectl get service NAME -o yaml; dig NAME.NAMESPACE.svc.cluster.local

How to fix
    For an address, use a service without a selector and Endpoints with the same name; use
    ExternalName only for names.

References
    the documentation's page "Service", section ExternalName
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.addresses import read_address
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "external-name"


def check(case: Case) -> Iterator[Finding]:
    """Report addresses in the place of the external name."""
    for service in see(case, "Service"):
        name = service.at("spec", "externalName")
        if (
            service.text_at("spec", "type") == "ExternalName"
            and name is not None
            and read_address(name.text) is not None
        ):
            yield _report(service, name)


def _report(service: ObjectSightings, name: Tree) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The service {service.title} is of type ExternalName, but its external name is the "
            f"address {name.text}."
        ),
        evidence=(name.line,),
        reasoning=("DNS answers with a CNAME to it, and no server knows an address as a name.",),
        breaks=(f"the name {service.name}",),
        prevention="Use Endpoints to point to an address, and ExternalName to point to a name.",
        marks=(name.text,),
    )
