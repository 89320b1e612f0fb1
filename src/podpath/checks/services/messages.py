"""Faults of services and listeners that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.ground import Ground
from podpath.checks.message_check import ASIDE, SPACED, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="port-taken",
        title="another program has the port already.",
        kinds=(Kind.PORT_TAKEN,),
        categories=(Category.APPLICATION, Category.OTHER, Category.DNS_SERVER),
        claim="The port{port} is taken by another program, so the new listener does not start.",
        values=(Value("port", frame=SPACED),),
        breaks="the program that should listen there",
        cure="stop what holds the port, or take another one",
        commands=("ss -ltnup | grep ':{port} '",),
        what=(
            "A program or container cannot listen: `address already in use`, `port is already "
            "allocated`."
        ),
        why="A port of an address belongs to one listener. Another container, a host service "
        "(systemd-resolved or dnsmasq on 53, a web server on 80) or an old process holds it, so "
        "the new one does not start, and who connects meets the other.",
        confirm="ss -ltnup | grep ':PORT '; docker ps --filter publish=PORT",
        fix="Stop what holds the port, or take another port or address for the new one.",
        references="bind(2), EADDRINUSE",
    ),
    MessageCheck(
        name="bind-refused",
        title="a program may not, or cannot, bind the address and port that it is told to.",
        kinds=(Kind.PORT_PRIVILEGED, Kind.BIND_ADDRESS_ABSENT),
        categories=(Category.APPLICATION, Category.SYSCTL, Category.OTHER),
        claim="A program cannot listen on {address} port {port}.",
        values=(Value("address", default="its address"), Value("port")),
        breaks="the program that should listen there",
        cure="listen on an address and port that it may have",
        what="The address is none of the host's (`cannot assign requested address`), or the port "
        "is below 1024 and the program is not root.",
        why="A listener needs an address that some device of its namespace has; an address of "
        "another node, of a VIP that is elsewhere or of a device that does not exist yet is "
        "refused. Ports below net.ipv4.ip_unprivileged_port_start need CAP_NET_BIND_SERVICE.",
        confirm="ip -br addr; sysctl net.ipv4.ip_unprivileged_port_start net.ipv4.ip_nonlocal_bind",
        fix="Listen on 0.0.0.0 or an address that is there; set ip_nonlocal_bind for VIPs that "
        "move; give the capability or a port above 1023.",
        references="ip(7), ip_nonlocal_bind; capabilities(7), CAP_NET_BIND_SERVICE",
    ),
    MessageCheck(
        name="cilium-backend-missing",
        title="a service of Cilium's load balancer has no backend.",
        kinds=(Kind.BPF_BACKEND_MISSING,),
        categories=(Category.BPF, Category.KUBE_PROXY, Category.NO_ENDPOINTS),
        claim=(
            "Cilium's load balancer has no backend for {service}, so its BPF programs refuse "
            "connections to it."
        ),
        values=(Value("service", default="the service"),),
        breaks="connections to that service",
        cure="restart the agent so that it fills its maps, or give the service endpoints",
        commands=("cilium bpf lb list",),
        what=(
            "`cilium bpf lb list` shows the service with 0.0.0.0:0 alone: no backend is in the map."
        ),
        why="Cilium's programs refuse a connection to such a service (EPERM or ICMP), also those "
        "of the host, the agent's own to the API server included. The service has no ready "
        "endpoint, or the agent's maps went wrong.",
        confirm="cilium bpf lb list; cilium service list; kubectl get endpointslices -A",
        fix="Where Kubernetes has endpoints and the map has none: restart the agent, upgrade it; "
        "else fix the service's endpoints.",
        references="Cilium, Kubernetes Without kube-proxy",
    ),
    MessageCheck(
        name="proxy-sysctl-denied",
        title="kube-proxy may not write a sysctl and exits.",
        kinds=(Kind.PROXY_SYSCTL_DENIED,),
        categories=(Category.KUBE_PROXY, Category.SYSCTL),
        claim="kube-proxy may not write {file} and exits.",
        values=(Value("file", default="a sysctl"),),
        breaks="every service address on the node",
        cure="set it on the host, and keep kube-proxy from writing it",
        what=(
            "It sets nf_conntrack_max and others at its start; in a container of LXC, kind or a "
            "user namespace it may not."
        ),
        why="kube-proxy exits each time, so no service address works on the node.",
        confirm=(
            "kubectl -n kube-system logs ds/kube-proxy --previous; cat "
            "/proc/sys/net/netfilter/nf_conntrack_max"
        ),
        fix="Set the value on the host, and conntrack.maxPerCore: 0 (and tcpEstablishedTimeout: "
        "0s) in kube-proxy's configuration.",
        references="kube-proxy, conntrack settings; kind, Known Issues",
    ),
    MessageCheck(
        name="balancer-without-address",
        title="a LoadBalancer service gets no address.",
        kinds=(Kind.BALANCER_WITHOUT_ADDRESS, Kind.BALANCER_FAILED),
        categories=(Category.LOAD_BALANCER, Category.CLOUD_NETWORK),
        claim="The load balancer gives the service {service} no address{error}.",
        values=(Value("service", default="that asks for one"), Value("error", frame=ASIDE)),
        breaks="the service's outer address",
        cure="give the pool addresses, or fix what the controller names",
        what="MetalLB, kube-vip or the cloud's controller says why it gives the service none: an "
        "empty or wrong pool, missing subnets or rights.",
        why="The service stays in <pending>, or keeps an address that nobody announces.",
        confirm="kubectl describe svc NAME; kubectl get ipaddresspool,l2advertisement -A; kubectl "
        "logs -n metallb-system deploy/controller",
        fix=(
            "Add addresses to the pool, or name one of it; tag subnets for the cloud, give its "
            "role the right."
        ),
        references="MetalLB, Usage; AWS, subnet discovery",
    ),
    MessageCheck(
        name="proxy-configuration-invalid",
        title="kube-proxy does not understand its configuration.",
        kinds=(Kind.PROXY_CONFIGURATION_INVALID,),
        categories=(Category.KUBE_PROXY,),
        claim="kube-proxy does not understand its configuration{error}.",
        values=(Value("error", names=("mode", "error", "other"), frame=ASIDE),),
        breaks=(
            "every service address on the node, where kube-proxy exits; else the setting that it "
            "ignores"
        ),
        cure="correct the field or mode that kube-proxy names",
        commands=("kubectl -n kube-system get cm kube-proxy -o yaml",),
        certainty=0.7,
        settled_by=frozenset({Ground.ENDED}),
        ask=FollowUp(
            fact="whether kube-proxy runs",
            command="kubectl -n kube-system get pods -l k8s-app=kube-proxy -o wide",
            decides="CrashLoopBackOff: it is the cause; Running: it ignored the field",
        ),
        what="A field of KubeProxyConfiguration is unknown or has a wrong type, its "
        "API version has no such kind, or the mode is none that this version has.",
        why="kube-proxy exits at once, or goes on without the field; an unknown mode falls back to "
        "another. Typical after an upgrade that removed a field, or with a configuration of a "
        "newer version.",
        confirm=(
            "kubectl -n kube-system logs -l k8s-app=kube-proxy --tail=20; kubectl -n kube-system "
            "get cm kube-proxy -o yaml"
        ),
        fix="Remove the field or spell it as this version does (kube-proxy --write-config-to shows "
        "the defaults), then restart kube-proxy.",
        references="Kubernetes, kube-proxy Configuration (v1alpha1)",
    ),
    MessageCheck(
        name="name-server-not-bound",
        title="a name server cannot listen on its port.",
        kinds=(Kind.NAME_SERVER_NOT_BOUND,),
        categories=(Category.DNS_SERVER, Category.APPLICATION, Category.OTHER),
        claim=(
            "The name server cannot listen{address}{error}, so nobody gets an answer from it there."
        ),
        values=(Value("address", frame=(" on ", "")), Value("error", frame=ASIDE)),
        breaks="names, for all who ask that server",
        cure=(
            "free port 53 of that address, or give the server an address and a right that it may "
            "have"
        ),
        commands=("ss -lunp 'sport = :53'; ss -ltnp 'sport = :53'",),
        what="CoreDNS, dnsmasq or aardvark-dns fails to bind port 53.",
        why="systemd-resolved, dnsmasq or libvirt has the port already, the address is not on the "
        "host yet, or the program runs without CAP_NET_BIND_SERVICE. The server exits, or "
        "answers on other addresses only.",
        confirm="ss -lunp 'sport = :53'; ss -ltnp 'sport = :53'; ip -br addr",
        fix="Stop the other server or bind both to addresses of their own (bind-interfaces of "
        "dnsmasq, DNSStubListener=no of systemd-resolved, the plugin bind of CoreDNS); "
        "give the program the right.",
        references="dnsmasq(8), --bind-interfaces; resolved.conf(5); CoreDNS, plugin/bind",
    ),
    MessageCheck(
        name="no-destination",
        title="a service has no place to send a connection to.",
        kinds=(Kind.NO_DESTINATION, Kind.NO_ENDPOINTS),
        categories=(Category.NO_ENDPOINTS, Category.IPVS),
        claim="The service {service} has no endpoint that could answer.",
        values=(Value("service", default="in question"),),
        breaks="every connection to the service",
        cure="give it pods that are ready: selector, readiness, names",
        what=(
            "`no destination available` of IPVS, `no endpoints available for service`, `does not "
            "have any active Endpoint`."
        ),
        why="No pod matches the selector of the service, or none is ready.",
        confirm=(
            "kubectl get endpointslices -l kubernetes.io/service-name=NAME; kubectl get pods "
            "--show-labels"
        ),
        fix="Correct the selector, or what keeps the pods from being ready.",
        references="kubernetes.io, Debug Services; net/netfilter/ipvs",
    ),
)
