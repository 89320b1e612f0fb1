"""Faults of meshes and TLS that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.message_check import ASIDE, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="secret-not-supplied",
        title="Envoy has no certificate for its TLS connections.",
        kinds=(Kind.SECRET_NOT_SUPPLIED,),
        categories=(Category.NAME_OR_CERTIFICATE, Category.MESH_POLICY),
        claim=(
            "Envoy never got the certificate that its TLS connection needs from the secret "
            "discovery service."
        ),
        breaks="connections that need that certificate",
        cure="supply the secret, and restart the proxy",
        commands=("istioctl proxy-config secret POD",),
        what="`Secret is not supplied by SDS`: the secret discovery service never sent the "
        "certificate that a cluster or listener needs.",
        why="Every connection that needs it fails with UF or URX. The secret does not exist in the "
        "proxy's namespace, the service account may not read it, or the proxy missed it at its "
        "start.",
        confirm=(
            "istioctl proxy-config secret POD; kubectl get secret -n NAMESPACE; "
            "kubectl logs -n istio-system deploy/istiod"
        ),
        fix=(
            "Create the secret that credentialName names in the gateway's namespace, fix its "
            "rights, then restart the proxy."
        ),
        references="Envoy, Secret discovery service; Istio, Gateway TLS",
    ),
    MessageCheck(
        name="peer-without-tls",
        title="one end speaks TLS and the other does not.",
        kinds=(Kind.PEER_SPEAKS_NO_TLS,),
        categories=(Category.MESH_POLICY, Category.NAME_OR_CERTIFICATE, Category.WRONG_PORT),
        claim="One end speaks TLS and the other does not{error}.",
        values=(Value("error", frame=ASIDE),),
        breaks="that connection, always",
        cure="make both ends speak TLS, or neither; or take the other port",
        what="`WRONG_VERSION_NUMBER`, `server gave HTTP response to HTTPS client`, `first record "
        "does not look like a TLS handshake`.",
        why="The packets arrive, but a client that starts TLS meets plain text or the reverse: a "
        "mesh's mutual TLS toward a workload without a sidecar, TLS twice (HTTPS inside an HTTPS "
        "upstream), or the wrong port of a server that has both.",
        confirm=(
            "openssl s_client -connect HOST:PORT; curl -v http://HOST:PORT; istioctl x describe "
            "pod POD"
        ),
        fix="Make both ends agree: a DestinationRule with tls mode DISABLE or ISTIO_MUTUAL, "
        "PeerAuthentication, the right port or scheme.",
        references="Envoy, Transport socket TLS; Istio, TLS Configuration",
    ),
    MessageCheck(
        name="certificate-refused",
        title="a certificate is not accepted.",
        kinds=(Kind.CERTIFICATE_REFUSED,),
        categories=(Category.NAME_OR_CERTIFICATE,),
        claim="The certificate is not accepted: {error}.",
        values=(Value("error", default="it fails to verify"),),
        breaks="connections to that server, always",
        cure="renew the certificate, or give the client the authority and name that fit",
        what="The TLS handshake ends since the peer's certificate is expired, signed by somebody "
        "unknown, or is for another name or address.",
        why="The packets arrive; it is not a fault of the network. After a cluster was recreated, "
        "an address changed or a year went by, kubeconfigs, webhooks and proxies keep old "
        "authorities or names.",
        confirm="openssl s_client -connect HOST:PORT </dev/null | openssl x509 -noout -dates "
        "-subject -issuer -ext subjectAltName; kubeadm certs check-expiration",
        fix="Renew the certificate (kubeadm certs renew all), add the name or address to it, or "
        "give the client the right authority; check clocks.",
        references="RFC 5280 section 6; RFC 6125",
    ),
    MessageCheck(
        name="upstream-protocol-error",
        title="the application's answer breaks HTTP's rules, and the proxy resets it.",
        kinds=(Kind.PROTOCOL_ERROR,),
        categories=(Category.APPLICATION,),
        claim="The other end's HTTP breaks the protocol, so Envoy resets the connection.",
        breaks="those requests, always",
        cure="fix the application's answer, or the name of the port's protocol",
        commands=("curl -v --raw http://POD:PORT/PATH",),
        what=(
            "Envoy's flag UPE (or DPE): the upstream (or the client) sent what HTTP does not allow."
        ),
        why="Two Transfer-Encoding headers, Content-Length with chunked, illegal names of headers, "
        "HTTP/1 where HTTP/2 is spoken: without a proxy many clients take it, Envoy answers 502.",
        confirm=(
            "curl -v --raw http://POD:PORT/PATH past the proxy; kubectl logs POD -c istio-proxy "
            "with debug of http"
        ),
        fix=(
            "Fix the application's answer, or name the port's protocol rightly (http, http2, grpc, "
            "tcp)."
        ),
        references="Envoy, Access logging, response flags; RFC 9112",
    ),
    MessageCheck(
        name="mesh-denies",
        title="a mesh's policy denies the request.",
        kinds=(Kind.MESH_DENIED, Kind.BLACK_HOLE_CLUSTER),
        categories=(Category.MESH_POLICY,),
        claim="The mesh's policy{policy} denies the request.",
        values=(Value("policy", frame=ASIDE),),
        breaks="requests that the policy does not allow",
        cure="allow the source, or register the destination",
        what="Envoy's RBAC filter, an external authorizer or linkerd's policy refused it; or the "
        "mesh lets nothing out that it does not know (BlackHoleCluster under REGISTRY_ONLY).",
        why=(
            "The packets arrive at the proxy, which answers 403 or resets. A policy that allows "
            "something denies everything else."
        ),
        confirm=(
            "kubectl get authorizationpolicy,peerauthentication,serviceentry -A; "
            "istioctl x authz check POD"
        ),
        fix="Allow the source in the policy, or register the outside host with a ServiceEntry.",
        references="Istio, Authorization Policy; Istio, Accessing External Services",
    ),
    MessageCheck(
        name="proxy-upstream-fails",
        title="a mesh's proxy cannot connect to its upstream, or has none.",
        kinds=(
            Kind.UPSTREAM_FAILED,
            Kind.NO_HEALTHY_UPSTREAM,
            Kind.UPSTREAM_OVERFLOW,
            Kind.ROUTE_UNKNOWN,
        ),
        categories=(
            Category.MESH_POLICY,
            Category.NO_ENDPOINTS,
            Category.MESH_REDIRECT,
            Category.STALE_DNAT,
            Category.NO_LISTENER,
            Category.RESOURCE_LIMIT,
        ),
        claim="The proxy's connection to its upstream{upstream} fails.",
        values=(Value("upstream", frame=ASIDE),),
        breaks="requests through that proxy",
        cure="fix what the response flag points to",
        certainty=0.4,
        ask=FollowUp(
            fact=(
                "whether the upstream's address is a pod's, and whether that pod speaks the mesh's "
                "TLS"
            ),
            command="istioctl proxy-config endpoints POD; kubectl get endpoints -A; istioctl x "
            "describe pod POD; kubectl get destinationrule,peerauthentication -A",
            decides=(
                "an address that no pod has: stale; a pod without a sidecar under mutual TLS: the "
                "policy"
            ),
        ),
        what="Envoy's flags: UF (the connection failed), UH (no healthy upstream), UO (a circuit "
        "breaker is open), NR and NC (no route or cluster).",
        why="The flag says how, not why: mutual TLS toward a pod without a sidecar, an address "
        "that no pod has any longer, no ready endpoint, limits of connections, or a host name that "
        "no VirtualService knows.",
        confirm="istioctl proxy-config endpoints POD --cluster CLUSTER; istioctl proxy-config "
        "cluster POD -o json | grep -A3 transportSocket",
        fix=(
            "Fix what the flag points to: mTLS settings, endpoints, limits in the DestinationRule, "
            "hosts in the VirtualService."
        ),
        references="Envoy, Access logging, %RESPONSE_FLAGS%",
    ),
    MessageCheck(
        name="peer-speaks-tls",
        title="one end speaks TLS and the other plain HTTP.",
        kinds=(Kind.PEER_SPEAKS_TLS,),
        categories=(
            Category.WRONG_PORT,
            Category.MESH_POLICY,
            Category.APPLICATION,
            Category.NAME_OR_CERTIFICATE,
        ),
        claim="One end speaks TLS where the other speaks plain HTTP.",
        breaks="every request on that port",
        cure="speak to the port what it speaks: scheme, port or protocol of the service",
        what=(
            "Bytes of a TLS handshake in a log of HTTP (\\x16\\x03\\x01), `malformed HTTP "
            "response`, `Client sent an HTTP request to an HTTPS server`."
        ),
        why=(
            "The client uses the wrong scheme or port, a proxy ends TLS or begins it where the "
            "other does not expect it."
        ),
        confirm="curl -v http://ADDRESS:PORT; openssl s_client -connect ADDRESS:PORT",
        fix=(
            "Correct scheme, targetPort, backend-protocol or the mode of TLS in the "
            "DestinationRule."
        ),
        references="RFC 8446; istio.io, TLS configuration",
    ),
)
