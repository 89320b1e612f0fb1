"""What kubectl's tables and descriptions show of an object, put under the names that its API gives
the fields.

A check then asks one form, whoever printed it. A description's words that the API has no field for
are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from podpath.evidence.kubernetes.described_policy import is_policy, read_policy
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.net.provenance import Span
from podpath.net.trees import Tree

_PORT = re.compile(r"(?:(?P<name>\S+)\s+)?(?P<port>\d+)/(?P<protocol>\w+)")
_QUOTED = re.compile(r'"([^"]*)"')
_LISTED = re.compile(r"(?P<port>\d+)(?::(?P<node>\d+))?/(?P<protocol>TCP|UDP|SCTP)", re.IGNORECASE)
_ENDPOINT = re.compile(r"(?P<ip>[0-9a-fA-F.:]+):(?P<port>\d+)(?=[,\s]|$)")
_CONTAINER = re.compile(r"\s{2,4}(?P<name>[a-z0-9][a-z0-9.-]*):\s*$")
_NESTED = re.compile(r"\s+(?P<key>[A-Z][\w ]*?):(?:\s+(?P<value>\S.*?))?\s*$")
_CONDITION = re.compile(
    r"\s+(?P<type>[A-Z]\w+)\s+(?P<status>True|False|Unknown)(?:\s+(?P<rest>.*))?$"
)
NONE = frozenset({"", "<none>", "<unset>", "<unknown>", "none"})


class DescribedField(NamedTuple):
    """A field of a description: its name, its value, and the lines below it that stand deeper, each
    with its place.
    """

    key: str
    value: str
    span: Span
    nested: tuple[tuple[str, Span], ...] = ()


SERVICE_LABEL = "kubernetes.io/service-name"
"""The label of a slice that names its service."""
_MESH_MODES = frozenset({"STRICT", "PERMISSIVE", "DISABLE"})
"""Of mutual TLS, as the column of `kubectl get peerauthentication` has them."""
_PHASES = frozenset({"Active", "Terminating"})
_OF_NAMESPACES = frozenset({"NAME", "STATUS", "AGE", "LABELS"})
_DRAWN = re.compile(r"-[a-z0-9]{5}$")
_HELD = re.compile(r"\s+(?:- )?(?P<not>NotReady)?Addresses:\s+(?P<value>.*)")


def scalar(text: str, span: Span) -> Tree:
    """Return a scalar of a tree."""
    return Tree(value=text, span=span)


def nest(span: Span, **fields: Tree | None) -> Tree:
    """Return fields of a tree, without those that are not known."""
    return Tree(
        value={name: field for name, field in fields.items() if field is not None}, span=span
    )


def rows(span: Span, items: Iterable[Tree]) -> Tree:
    """Return a list of a tree."""
    return Tree(value=tuple(items), span=span)


def parse_pairs(text: str, span: Span, sign: str = "=") -> Tree:
    """Read `app=web,tier=front` as fields."""
    found = {}
    for pair in text.split(","):
        key, found_sign, value = pair.strip().partition(sign)
        if found_sign and key and " " not in key:
            found[key] = scalar(value.strip(), span)
    return Tree(value=found, span=span)


def describe_object(
    kind: str, namespace: str, name: str, fields: tuple[DescribedField, ...], span: Span
) -> Iterator[ApiObjectRecord]:
    """Yield a described Service with its Endpoints, Endpoints alone, a slice, a pod, a node or a
    NetworkPolicy.
    """
    by_key = {field.key: field for field in reversed(fields)}
    labels, annotations = (
        _pairs_below(by_key.get("Labels"), "="),
        _pairs_below(by_key.get("Annotations"), ":"),
    )
    metadata = nest(span, labels=labels, annotations=annotations)
    if kind == "Service":
        spec = _service_spec(by_key, fields, span)
        status = _ingress(by_key.get("LoadBalancer Ingress"))
        yield _record(
            kind, namespace, name, nest(span, metadata=metadata, spec=spec, status=status)
        )
        yield from _described_endpoints(namespace, name, fields)
    elif kind in {"Endpoints", "EndpointSlice"}:
        held = _held_addresses(by_key.get("Subsets") or by_key.get("Endpoints"))
        yield _record(kind, namespace, name, nest(span, metadata=metadata, **held))
    elif kind == "Pod":
        yield _record(
            kind,
            namespace,
            name,
            nest(
                span,
                metadata=metadata,
                spec=_pod_spec(by_key, span),
                status=_pod_status(by_key, span),
            ),
        )
    elif kind == "Node":
        yield _record(
            kind,
            "",
            name,
            nest(
                span,
                metadata=metadata,
                spec=_node_spec(by_key, span),
                status=_node_status(by_key, span),
            ),
        )
    elif kind == "NetworkPolicy" and "Spec" in by_key and is_policy(by_key["Spec"].nested):
        spec = read_policy(by_key["Spec"].nested, by_key["Spec"].span)
        yield _record(kind, namespace, name, nest(span, metadata=metadata, spec=spec))
    else:
        named = _value(by_key.get("Ingress Class"))
        classed = None if named is None else nest(span, ingressClassName=named)
        yield _record(kind, namespace, name, nest(span, metadata=metadata, spec=classed))


def _record(kind: str, namespace: str, name: str, tree: Tree) -> ApiObjectRecord:
    return ApiObjectRecord(span=tree.span, kind=kind, namespace=namespace, name=name, tree=tree)


def _value(field: DescribedField | None) -> Tree | None:
    return None if field is None or field.value in NONE else scalar(field.value, field.span)


def _pairs_below(field: DescribedField | None, sign: str) -> Tree | None:
    if field is None:
        return None
    found: dict[str, Tree] = {}
    for line, span in ((field.value, field.span), *field.nested):
        key, found_sign, value = line.strip().partition(sign)
        if found_sign and key and " " not in key:
            found[key] = scalar(value.strip(), span)
    return Tree(value=found, span=field.span)


def _service_spec(
    by_key: Mapping[str, DescribedField], fields: tuple[DescribedField, ...], span: Span
) -> Tree:
    selector = by_key.get("Selector")
    families = by_key.get("IP Families")
    return nest(
        span,
        type=_value(by_key.get("Type")),
        clusterIP=_value(by_key.get("IP")),
        selector=None if selector is None else parse_pairs(selector.value, selector.span),
        ports=rows(span, _service_ports(fields)),
        externalTrafficPolicy=_value(by_key.get("External Traffic Policy")),
        internalTrafficPolicy=_value(by_key.get("Internal Traffic Policy")),
        sessionAffinity=_value(by_key.get("Session Affinity")),
        externalName=_value(by_key.get("External Name")),
        ipFamilyPolicy=_value(by_key.get("IP Family Policy")),
        ipFamilies=None
        if families is None
        else rows(
            span, [scalar(word, families.span) for word in re.findall(r"IPv[46]", families.value)]
        ),
    )


def _service_ports(fields: tuple[DescribedField, ...]) -> Iterator[Tree]:
    open_port: dict[str, Tree] = {}
    for field in fields:
        found = _PORT.search(field.value) if field.key in {"Port", "NodePort"} else None
        if field.key == "Port" and found is not None:
            if open_port:
                yield Tree(value=open_port, span=open_port["port"].span)
            open_port = {
                "port": scalar(found["port"], field.span),
                "protocol": scalar(found["protocol"].upper(), field.span),
            }
            if found["name"] not in {None, "<unset>"}:
                open_port["name"] = scalar(found["name"], field.span)
        elif field.key == "TargetPort" and open_port and field.value:
            open_port["targetPort"] = scalar(field.value.partition("/")[0].split()[-1], field.span)
        elif field.key == "NodePort" and open_port and found is not None:
            open_port["nodePort"] = scalar(found["port"], field.span)
    if open_port:
        yield Tree(value=open_port, span=open_port["port"].span)


def _described_endpoints(
    namespace: str, name: str, fields: tuple[DescribedField, ...]
) -> Iterator[ApiObjectRecord]:
    for field in fields:
        if field.key == "Endpoints":
            yield make_endpoints(namespace, name, field.value, field.span)


def _held_addresses(field: DescribedField | None) -> dict[str, Tree]:
    """Return the addresses of described Endpoints (`Subsets`) or of a slice (`Endpoints`)."""
    if field is None:
        return {}
    found: dict[str, list[Tree]] = {"addresses": [], "notReadyAddresses": []}
    for line, span in field.nested:
        row = _HELD.match(line)
        words = () if row is None else re.findall(r"[0-9a-fA-F.:]{3,}", row["value"])
        for word in words:
            key = "notReadyAddresses" if row is not None and row["not"] else "addresses"
            found[key].append(nest(span, ip=scalar(word, span)))
    whole = field.value in {"", "<none>"} and (bool(field.nested) or field.value == "<none>")
    if field.key == "Endpoints":
        items = [nest(field.span, addresses=rows(field.span, found["addresses"]))]
        held = items if field.nested else []
        return {"endpoints": rows(field.span, held)} if whole else {}
    subset = {key: rows(field.span, items) for key, items in found.items() if items}
    return {"subsets": rows(field.span, (nest(field.span, **subset),) if subset else ())}


def _make_slice(namespace: str, name: str, columns: tuple[str, str], span: Span) -> ApiObjectRecord:
    """Return the slice of a row: its service's name is its own without the end that is drawn. The
    column of ports has neither their names nor their protocols.
    """
    text, shown = columns
    service = scalar(_DRAWN.sub("", name), span)
    metadata = nest(span, labels=Tree(value={SERVICE_LABEL: service}, span=span))
    words = re.findall(r"[0-9a-fA-F.:]{3,}", "" if text.strip() in NONE else text)
    items = [nest(span, addresses=rows(span, [scalar(word, span)])) for word in words]
    numbers = [scalar(word, span) for word in re.findall(r"\d+", shown)]
    tree = nest(
        span, metadata=metadata, endpoints=rows(span, items), portNumbers=rows(span, numbers)
    )
    return _record("EndpointSlice", namespace, name, tree)


def make_endpoints(namespace: str, name: str, text: str, span: Span) -> ApiObjectRecord:
    """Return the Endpoints of a row or line that lists them; `<none>` is an empty list."""
    subsets = []
    for found in _ENDPOINT.finditer(text):
        address = nest(span, ip=scalar(found["ip"], span))
        subsets.append(
            nest(
                span,
                addresses=rows(span, [address]),
                ports=rows(span, [nest(span, port=scalar(found["port"], span))]),
            )
        )
    elided = "more" in text or text.rstrip().endswith("...")
    fields = {"subsets": rows(span, subsets)}
    if elided:
        fields["elided"] = scalar("true", span)
    known = bool(subsets) or text.strip() in {"<none>", ""}
    return _record("Endpoints", namespace, name, Tree(value=fields if known else {}, span=span))


def _ingress(field: DescribedField | None) -> Tree | None:
    if field is None:
        return None
    words = [word.strip() for word in field.value.partition("(")[0].split(",")]
    ingress = rows(
        field.span,
        [
            nest(field.span, ip=scalar(word, field.span))
            for word in words
            if word and word not in NONE
        ],
    )
    return nest(field.span, loadBalancer=nest(field.span, ingress=ingress))


def _pod_spec(by_key: Mapping[str, DescribedField], span: Span) -> Tree:
    node = by_key.get("Node")
    containers = by_key.get("Containers")
    return nest(
        span,
        nodeName=None
        if node is None or node.value in NONE
        else scalar(node.value.partition("/")[0], node.span),
        containers=None if containers is None else rows(containers.span, _containers(containers)),
    )


def _containers(field: DescribedField) -> Iterator[Tree]:
    fields: dict[str, Tree] = {}
    for line, span in field.nested:
        heading = _CONTAINER.match(line)
        found = _NESTED.match(line)
        if heading is not None:
            if fields:
                yield Tree(value=fields, span=fields["name"].span)
            fields = {"name": scalar(heading["name"], span)}
        elif found is not None and fields:
            _take_container(fields, found["key"], found["value"] or "", span)
    if fields:
        yield Tree(value=fields, span=fields["name"].span)


def _take_container(fields: dict[str, Tree], key: str, value: str, span: Span) -> None:
    if key in {"Port", "Ports"}:
        found = _PORT.finditer(value.replace(",", " "))
        fields["ports"] = rows(span, [_container_port(port, span) for port in found])
    elif key in {"Host Port", "Host Ports"}:
        hosts = [
            scalar(port["port"], span) for port in _PORT.finditer(value) if port["port"] != "0"
        ]
        if hosts:
            fields["hostPorts"] = rows(span, hosts)
    elif key in {"State", "Ready", "Reason", "Image"}:
        fields.setdefault(key.lower(), scalar(value, span))
    elif key in {"Readiness", "Liveness"}:
        fields[f"{key.lower()}Probe"] = scalar(value, span)


def _container_port(found: re.Match[str], span: Span) -> Tree:
    return nest(
        span, containerPort=scalar(found["port"], span), protocol=scalar(found["protocol"], span)
    )


def _pod_status(by_key: Mapping[str, DescribedField], span: Span) -> Tree:
    return nest(
        span,
        phase=_value(by_key.get("Status")),
        podIP=_value(by_key.get("IP")),
        conditions=_conditions(by_key.get("Conditions")),
    )


def _conditions(field: DescribedField | None) -> Tree | None:
    if field is None:
        return None
    found = []
    for line, span in field.nested:
        match = _CONDITION.match(line)
        if match is not None:
            message = scalar((match["rest"] or "").strip(), span)
            found.append(
                nest(
                    span,
                    type=scalar(match["type"], span),
                    status=scalar(match["status"], span),
                    message=message,
                )
            )
    return rows(field.span, found)


def _node_spec(by_key: Mapping[str, DescribedField], span: Span) -> Tree:
    cidrs = by_key.get("PodCIDRs")
    listed = (
        None
        if cidrs is None
        else [scalar(word, cidrs.span) for word in cidrs.value.split(",") if word not in NONE]
    )
    return nest(
        span,
        podCIDR=_value(by_key.get("PodCIDR")),
        podCIDRs=None if cidrs is None else rows(cidrs.span, listed or ()),
    )


def _node_status(by_key: Mapping[str, DescribedField], span: Span) -> Tree:
    field = by_key.get("Addresses")
    addresses = []
    for line, place in () if field is None else ((field.value, field.span), *field.nested):
        kind, _, value = line.strip().partition(":")
        if value.strip():
            addresses.append(
                nest(place, type=scalar(kind, place), address=scalar(value.strip(), place))
            )
    return nest(
        span, addresses=rows(span, addresses), conditions=_conditions(by_key.get("Conditions"))
    )


def table_object(cells: Mapping[str, str], namespace: str, span: Span) -> ApiObjectRecord | None:
    """Return the object of a row; None for a row of nothing that is asked about."""
    name = cells.get("NAME", "").rpartition("/")[2]
    labels = parse_pairs(cells["LABELS"], span) if cells.get("LABELS", "") not in NONE else None
    metadata = nest(span, labels=labels)
    if "CLUSTER-IP" in cells:
        return _record("Service", namespace, name, _service_row(cells, metadata, span))
    if "ADDRESSTYPE" in cells:
        return _make_slice(
            namespace, name, (cells.get("ENDPOINTS", ""), cells.get("PORTS", "")), span
        )
    if "ENDPOINTS" in cells:
        return make_endpoints(namespace, name, cells["ENDPOINTS"], span)
    if "READY" in cells and "STATUS" in cells and "/" in cells["READY"]:
        return _record("Pod", namespace, name, _pod_row(cells, metadata, span))
    if "POD-SELECTOR" in cells:
        selected = (
            nest(span, matchLabels=parse_pairs(cells["POD-SELECTOR"], span))
            if cells["POD-SELECTOR"] not in NONE
            else nest(span)
        )
        return _record(
            "NetworkPolicy",
            namespace,
            name,
            nest(span, metadata=metadata, listed=nest(span, podSelector=selected)),
        )
    if "NODE SELECTOR" in cells and "DESIRED" in cells:
        return _record("DaemonSet", namespace, name, _daemon_row(cells, metadata, span))
    if ("ROLES" in cells or "INTERNAL-IP" in cells) and "STATUS" in cells:
        return _record("Node", "", name, _node_row(cells, metadata, span))
    return _custom_object(cells, namespace, name, metadata, span)


def _ingress_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    named, hosts = cells["CLASS"], cells["HOSTS"].split(",")
    rules = [nest(span, host=scalar(host, span)) for host in hosts if host not in NONE | {"*"}]
    spec = nest(
        span,
        ingressClassName=None if named in NONE else scalar(named, span),
        rules=rows(span, rules),
    )
    status = nest(span, address=scalar(cells.get("ADDRESS", ""), span))
    return nest(span, metadata=metadata, spec=spec, status=status)


def _custom_object(
    cells: Mapping[str, str], namespace: str, name: str, metadata: Tree, span: Span
) -> ApiObjectRecord | None:
    """Return the object of a row of a namespace, an Ingress, or what MetalLB and Istio define."""
    if cells.get("STATUS") in _PHASES and cells.keys() <= _OF_NAMESPACES:
        bare = cells.get("LABELS") == "<none>"
        metadata = nest(span, labels=nest(span)) if bare else metadata
        return _record("Namespace", "", name, nest(span, metadata=metadata))
    if "CLASS" in cells and "HOSTS" in cells:
        return _record("Ingress", namespace, name, _ingress_row(cells, metadata, span))
    if "CONTROLLER" in cells and "PARAMETERS" in cells:
        spec = nest(span, controller=scalar(cells["CONTROLLER"], span))
        return _record("IngressClass", "", name, nest(span, metadata=metadata, spec=spec))
    if cells.get("MODE") in _MESH_MODES and "AGE" in cells:
        spec = nest(span, mtls=nest(span, mode=scalar(cells["MODE"], span)))
        return _record("PeerAuthentication", namespace, name, nest(span, spec=spec))
    if "AVOID BUGGY IPS" in cells:
        return _record("IPAddressPool", namespace, name, _pool_row(cells, metadata, span))
    if "IPADDRESSPOOLS" in cells and "IPADDRESSPOOL SELECTORS" in cells:
        kind = "L2Advertisement" if "INTERFACES" in cells else "BGPAdvertisement"
        return _record(kind, namespace, name, _advertised_row(cells, metadata, span))
    return None


def _daemon_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    """Return how many pods of a DaemonSet there should be and are."""
    status = nest(
        span,
        desiredNumberScheduled=scalar(cells["DESIRED"], span),
        numberReady=scalar(cells.get("READY", ""), span),
    )
    return nest(span, metadata=metadata, status=status)


def _pool_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    ranges = [scalar(item, span) for item in _QUOTED.findall(cells.get("ADDRESSES", ""))]
    spec = nest(
        span,
        addresses=rows(span, ranges),
        autoAssign=scalar(cells.get("AUTO ASSIGN", ""), span),
    )
    return nest(span, metadata=metadata, spec=spec)


def _advertised_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    names = [scalar(item, span) for item in _QUOTED.findall(cells["IPADDRESSPOOLS"])]
    spec = nest(span, ipAddressPools=rows(span, names) if names else None)
    return nest(span, metadata=metadata, spec=spec)


def _service_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    ports = []
    for found in _LISTED.finditer(cells.get("PORT(S)", "")):
        node = scalar(found["node"], span) if found["node"] else None
        ports.append(
            nest(
                span,
                port=scalar(found["port"], span),
                protocol=scalar(found["protocol"], span),
                nodePort=node,
            )
        )
    selector = cells.get("SELECTOR", "")
    outside = cells.get("EXTERNAL-IP", "")
    spec = nest(
        span,
        type=scalar(cells.get("TYPE", ""), span),
        clusterIP=scalar(cells["CLUSTER-IP"], span),
        ports=rows(span, ports),
        selector=parse_pairs(selector, span) if "SELECTOR" in cells else None,
        externalName=scalar(outside, span) if cells.get("TYPE") == "ExternalName" else None,
    )
    ingress = [
        nest(span, ip=scalar(word, span))
        for word in outside.split(",")
        if word not in NONE and word != "<pending>"
    ]
    pending = scalar(outside, span) if outside == "<pending>" else None
    status = (
        nest(span, loadBalancer=nest(span, ingress=rows(span, ingress)), pending=pending)
        if outside
        else None
    )
    return nest(span, metadata=metadata, spec=spec, status=status)


def _pod_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    ready, _, wanted = cells["READY"].partition("/")
    is_ready = "True" if ready == wanted and ready != "0" else "False"
    address = cells.get("IP", "")
    node = cells.get("NODE", "")
    condition = nest(span, type=scalar("Ready", span), status=scalar(is_ready, span))
    return nest(
        span,
        metadata=metadata,
        spec=nest(span, nodeName=None if node in NONE else scalar(node, span)),
        status=nest(
            span,
            phase=scalar(cells["STATUS"], span),
            podIP=None if address in NONE else scalar(address, span),
            conditions=rows(span, [condition]),
            containers=scalar(wanted, span),
        ),
    )


def _node_row(cells: Mapping[str, str], metadata: Tree, span: Span) -> Tree:
    status = "True" if cells["STATUS"].partition(",")[0] == "Ready" else "False"
    addresses = []
    for title, kind in (("INTERNAL-IP", "InternalIP"), ("EXTERNAL-IP", "ExternalIP")):
        if cells.get(title, "") not in NONE:
            addresses.append(
                nest(span, type=scalar(kind, span), address=scalar(cells[title], span))
            )
    condition = nest(span, type=scalar("Ready", span), status=scalar(status, span))
    return nest(
        span,
        metadata=metadata,
        status=nest(span, addresses=rows(span, addresses), conditions=rows(span, [condition])),
    )
