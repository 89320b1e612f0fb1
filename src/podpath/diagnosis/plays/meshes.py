"""Questions about meshes and about programs that answer, though not with what was asked for."""

from __future__ import annotations

from podpath.diagnosis.clues import Contrast, TrafficKind
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

MESHES = frozenset({Tech.ISTIO, Tech.ENVOY, Tech.LINKERD})

PLAYS: tuple[Play, ...] = (
    Play(
        fact=(
            "what the sidecar does with the request: response flags of its access log, listener, "
            "cluster and endpoints for that port"
        ),
        ask=(
            "kubectl logs {pod} -c istio-proxy --tail=50; istioctl proxy-config listeners {pod} "
            "--port {port}; istioctl proxy-config clusters,endpoints {pod}"
        ),
        decides=(
            "UF or URX: it cannot connect to its endpoint (a pod IP that is gone?)",
            (
                "NR: no route; a listener of another service on the same port takes it "
                "(ServiceEntry, outboundTrafficPolicy)"
            ),
            "UC or DC: the program closed it",
        ),
        signs={Tech.ISTIO: 5, Tech.ENVOY: 4, Kind.ERROR_ANSWER: 2, Tech.HTTP_ERROR: 1},
        needs=MESHES,
    ),
    Play(
        fact=(
            "TLS between sidecars: DestinationRule tls mode, PeerAuthentication (mTLS), whether "
            "the server has a sidecar at all, istio version"
        ),
        ask=(
            "kubectl get destinationrule,peerauthentication -A -o yaml; istioctl x describe pod "
            "{pod}; istioctl version; kubectl get pods -o wide"
        ),
        decides=(
            "the client's rule demands mTLS and the server has no sidecar: the handshake fails",
            "STRICT, and a client without one: reset",
        ),
        signs={
            Tech.ISTIO: 4,
            Tech.ENVOY: 2,
            Kind.RESET: 2,
            Tech.TLS: 1,
            Tech.CERTIFICATE: 1,
            Contrast.SOME_WORK: 1,
        },
        needs=frozenset({Tech.ISTIO}),
    ),
    Play(
        fact="certificates and secrets of the proxy: SDS, validity, the CA's and istiod's log",
        ask=(
            "istioctl proxy-config secret {pod}; kubectl -n istio-system logs deploy/istiod "
            "--tail=50; openssl s_client -connect {address}:{port} -showcerts"
        ),
        decides=(
            "not ready, expired or signed by another CA: a restart of the proxy or the CA's secret",
            "valid: it is something else",
        ),
        signs={
            Tech.CERTIFICATE: 5,
            Kind.ERROR_ANSWER: 2,
            Tech.TLS: 2,
            Tech.ISTIO: 2,
            Tech.UPGRADE: 1,
            Tech.INGRESS: 1,
        },
        needs=frozenset({Tech.CERTIFICATE, Tech.ISTIO}),
    ),
    Play(
        fact=(
            "the redirection into the mesh: rules in the pod's namespace, order of the CNI chain, "
            "ztunnel's reverse path (rpfilter, cali-rpf-skip)"
        ),
        ask=(
            "nsenter -t PID -n iptables-save; iptables -t raw -S | grep -e rpf -e cali; kubectl -n "
            "istio-system logs ds/ztunnel --tail=50; ls /etc/cni/net.d"
        ),
        decides=(
            "no rules: the pod started before the mesh's plugin",
            "a rpfilter rule of the network plugin counts: it drops ztunnel's packets",
        ),
        signs={
            Tech.ISTIO: 3,
            Tech.LINKERD: 5,
            Tech.CALICO: 1,
            Kind.TIMEOUT: 1,
            Kind.NAME_NOT_RESOLVED: 2,
        },
        needs=frozenset({Tech.ISTIO, Tech.LINKERD}),
    ),
    Play(
        fact=(
            "what the program itself answers without the proxy: response headers "
            "(Transfer-Encoding, Connection), protocol, port"
        ),
        ask=(
            "curl -v http://{address}:{port}/ (to the pod, without the sidecar or the ingress); "
            "kubectl logs {pod} --tail=50; tcpdump -nnA -i any port {port}"
        ),
        decides=(
            "malformed or duplicate headers, or another protocol: the proxy is right to refuse",
            "correct: the proxy's route or pool",
        ),
        signs={
            Kind.ERROR_ANSWER: 4,
            Tech.HTTP_ERROR: 2,
            Tech.INGRESS: 1,
            Tech.ENVOY: 1,
            Tech.AFTER_DEPLOY: 2,
            Kind.RESET: 1,
        },
        needs=frozenset({Kind.ERROR_ANSWER, Tech.HTTP_ERROR, Tech.AFTER_DEPLOY}),
    ),
    Play(
        fact="which backends the ingress or proxy has, and which of their addresses are alive",
        ask=(
            "kubectl describe ingress -A; kubectl get endpoints -A; kubectl logs -n ingress-nginx "
            "deploy/ingress-nginx-controller --tail=50"
        ),
        decides=(
            "an upstream address that no pod has: a stale endpoint or a cached name",
            "alive: ask it directly",
        ),
        signs={
            Tech.INGRESS: 4,
            Kind.ERROR_ANSWER: 2,
            Tech.HTTP_ERROR: 1,
            TrafficKind.FROM_WORLD: 1,
            Tech.AFTER_DEPLOY: 1,
        },
        needs=frozenset({Tech.INGRESS}),
    ),
)
