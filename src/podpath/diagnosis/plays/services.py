"""Questions about who serves: listeners, endpoints, proxies, load balancers, names."""

from __future__ import annotations

from podpath.diagnosis.clues import TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

PLAYS: tuple[Play, ...] = (
    Play(
        fact="what listens on the port in the target, and on which address (127.0.0.1 or all)",
        ask=(
            "ss -tlnp (in the target: nsenter -t PID -n ss -tlnp, or netstat -tlnp); "
            "docker port NAME"
        ),
        decides=(
            "127.0.0.1 only, or another port: nothing answers there",
            "0.0.0.0 or ::, and the port: look at the path",
        ),
        signs={
            Kind.REFUSED: 5,
            Kind.RESET: 4,
            Tech.NODE_PORT: 2,
            Kind.ERROR_ANSWER: 1,
            Tech.WEBHOOK: 2,
            Tech.DOCKER: 1,
            Kind.HANGS: 0,
        },
        needs=frozenset({Kind.REFUSED, Kind.RESET, Tech.NODE_PORT, Tech.WEBHOOK}),
        held=frozenset({AnsweringOutput.SOCKETS}),
    ),
    Play(
        fact=(
            "the service's endpoints, its selector against the pods' labels, port and targetPort, "
            "each endpoint asked by itself"
        ),
        ask=(
            "kubectl get svc,endpoints,endpointslices -A -o wide; kubectl get pods -A -o wide "
            "--show-labels; kubectl describe svc {service}"
        ),
        decides=(
            "no endpoint: selector or readiness",
            "an endpoint that is not that kind of server: the selector is too broad",
            "a port that the container does not open: targetPort",
        ),
        signs={
            TrafficKind.TO_SERVICE: 4,
            Kind.REFUSED: 2,
            Tech.WEBHOOK: 4,
            Tech.INGRESS: 2,
            Kind.SOMETIMES: 1,
            Kind.ERROR_ANSWER: 2,
            Tech.ISTIO: 1,
            TrafficKind.TO_API_SERVER: 1,
            Tech.NODE_PORT: 1,
            Kind.TIMEOUT: 1,
            Tech.KUBERNETES: 1,
        },
        needs=frozenset(
            {
                TrafficKind.TO_SERVICE,
                Tech.WEBHOOK,
                Tech.INGRESS,
                TrafficKind.TO_API_SERVER,
                Tech.ISTIO,
                Tech.KUBERNETES,
            }
        ),
        held=frozenset({AnsweringOutput.SERVICES}),
    ),
    Play(
        fact=(
            "kube-proxy: its mode, whether it runs on that node, what it logs, and the rules that "
            "it wrote for the service"
        ),
        ask=(
            "kubectl -n kube-system get pods -o wide | grep kube-proxy; kubectl -n kube-system "
            "logs -l k8s-app=kube-proxy --tail=50; curl -s localhost:10249/proxyMode; "
            "iptables-save | grep {address}"
        ),
        decides=(
            "not running, or errors: services stay as they were",
            "rules to endpoints that are gone: it does not see the API",
            "fine: the path beyond it",
        ),
        signs={
            TrafficKind.TO_SERVICE: 3,
            Tech.KUBE_PROXY: 3,
            TrafficKind.TO_API_SERVER: 3,
            Tech.RESTART: 1,
            Tech.UPGRADE: 1,
            Tech.HAPROXY: 1,
            TrafficKind.TO_NAME_SERVER: 1,
        },
        needs=frozenset({TrafficKind.TO_SERVICE, Tech.KUBE_PROXY, TrafficKind.TO_API_SERVER}),
    ),
    Play(
        fact=(
            "IPVS: virtual servers with weights and connections, kube-ipvs0, route show table "
            "local, the source of health probes"
        ),
        ask=(
            "ipvsadm -Ln --stats; ip addr show kube-ipvs0; ip route show table local; sysctl "
            "net.ipv4.vs.conn_reuse_mode net.ipv4.vs.expire_nodest_conn; tcpdump -ni any host "
            "{address}"
        ),
        decides=(
            (
                "the client's own address stands on kube-ipvs0: its packets count as martian "
                "(accept_local, rp_filter)"
            ),
            "no real server: no endpoint",
            "conn_reuse_mode 1: reused ports wait a second",
        ),
        signs={Tech.IPVS: 6, TrafficKind.TO_SERVICE: 1, TrafficKind.FROM_WORLD: 1},
        needs=frozenset({Tech.IPVS}),
    ),
    Play(
        fact=(
            "externalTrafficPolicy of the service, on which nodes its pods run, and the load "
            "balancer's health check"
        ),
        ask=(
            "kubectl get svc {service} -o yaml | grep -e TrafficPolicy -e healthCheckNodePort; "
            "kubectl get pods -o wide; curl NODE:HEALTHCHECKPORT/healthz"
        ),
        decides=(
            "Local, and no pod on the node that was asked: that node drops it",
            "Cluster: any node answers",
        ),
        signs={
            TrafficKind.FROM_WORLD: 3,
            Tech.TRAFFIC_POLICY_LOCAL: 4,
            Tech.METALLB: 2,
            Tech.AWS: 1,
            Kind.SOMETIMES: 1,
            Kind.TIMEOUT: 1,
            Tech.SOURCE_LOST: 3,
            Tech.HEALTH_CHECK: 4,
        },
        needs=frozenset(
            {Tech.TRAFFIC_POLICY_LOCAL, Tech.METALLB, Tech.HEALTH_CHECK, Tech.SOURCE_LOST}
        ),
    ),
    Play(
        fact=(
            "what announces the load balancer's address: speaker logs, ARP answers for it, strict "
            "ARP, BGP sessions"
        ),
        ask=(
            "kubectl -n metallb-system logs -l component=speaker --tail=50; arping -c 3 -I "
            "{device} {address}; kubectl -n kube-system get cm kube-proxy -o yaml | grep "
            "strictARP; ip neigh"
        ),
        decides=(
            "nothing answers ARP, or two nodes do: strictARP, a wrong interface, an excluded node",
            "one node does: look there",
        ),
        signs={Tech.METALLB: 6, TrafficKind.FROM_WORLD: 1, Tech.IPVS: 1},
        needs=frozenset({Tech.METALLB}),
    ),
    Play(
        fact=(
            "whether the API server is reached by its service and by its own address, and what the "
            "endpoints of `kubernetes` say"
        ),
        ask=(
            "kubectl get endpoints kubernetes; curl -k https://{address}:{port}/healthz (in a pod "
            "and on the node); ip route get {address}; iptables-save | grep {address}"
        ),
        decides=(
            "its own address answers, the service does not: kube-proxy or its replacement",
            "neither: route, firewall or certificate",
        ),
        signs={
            TrafficKind.TO_API_SERVER: 5,
            Tech.CILIUM: 1,
            Tech.CRASH_LOOP: 1,
            Tech.KUBE_PROXY: 1,
        },
        needs=frozenset({TrafficKind.TO_API_SERVER}),
    ),
    Play(
        fact=(
            "resolv.conf of the pod and of the node, the Corefile, and where CoreDNS forwards "
            "names it does not know"
        ),
        ask=(
            "cat /etc/resolv.conf (pod and node); kubectl -n kube-system get cm coredns -o yaml "
            "(Corefile: forward); dig NAME @UPSTREAM"
        ),
        decides=(
            (
                "a nameserver of the node's resolv.conf that does not answer or is a local stub "
                "(127.0.0.53): forward goes wrong"
            ),
            "ndots and search domains: many useless lookups first",
            "correct: ask each server by itself",
        ),
        signs={
            Kind.NAME_NOT_RESOLVED: 4,
            TrafficKind.TO_NAME_SERVER: 3,
            Tech.COREDNS: 2,
            Tech.EXTERNAL_NAME: 4,
            Tech.TALOS: 1,
            Tech.DNS: 1,
        },
        needs=frozenset({Kind.NAME_NOT_RESOLVED, TrafficKind.TO_NAME_SERVER, Tech.EXTERNAL_NAME}),
        held=frozenset({AnsweringOutput.RESOLV_CONF}),
    ),
    Play(
        fact=(
            "whether CoreDNS runs, has endpoints and answers by pod address, over UDP and TCP; "
            "its log"
        ),
        ask=(
            "kubectl -n kube-system get pods,endpoints -l k8s-app=kube-dns -o wide; kubectl -n "
            "kube-system logs -l k8s-app=kube-dns --tail=50 (CoreDNS log); dig @PODADDRESS "
            "kubernetes.default.svc.cluster.local; dig +tcp @{address}"
        ),
        decides=(
            "the pod answers, the service does not: translation on the client's node",
            "i/o timeout to the upstream in its log: the forward",
            "only pods on its own node get answers: the overlay",
        ),
        signs={
            Kind.NAME_NOT_RESOLVED: 3,
            TrafficKind.TO_NAME_SERVER: 3,
            Tech.COREDNS: 2,
            Tech.NODE_LOCAL_DNS: 2,
            Tech.TALOS: 2,
            Tech.KUBERNETES: 1,
        },
        needs=frozenset({Kind.NAME_NOT_RESOLVED, TrafficKind.TO_NAME_SERVER}),
    ),
    Play(
        fact=(
            "the resolver of the container network: aardvark-dns or Docker's 127.0.0.11, and port "
            "53 of the bridge in the firewall"
        ),
        ask=(
            "cat /etc/resolv.conf (in the container); iptables -S INPUT -v; firewall-cmd "
            "--list-all-zones; ss -ulnp | grep :53; nft list ruleset"
        ),
        decides=(
            "INPUT rejects port 53 on the bridge: names fail",
            "nothing listens on the bridge's address: aardvark does not run",
        ),
        signs={Kind.NAME_NOT_RESOLVED: 2, Tech.PODMAN: 6, Tech.DOCKER: 1, Tech.FIREWALLD: 1},
        needs=frozenset({Tech.PODMAN}),
    ),
)
