"""Faults of names that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.message_check import ASIDE, SPACED, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="resolver-loop",
        title="the cluster's DNS server forwards to itself.",
        kinds=(Kind.FORWARDING_LOOP,),
        categories=(Category.DNS_CONFIGURATION,),
        claim=(
            "The cluster's DNS server forwards questions to itself, by a resolv.conf that names a "
            "loopback address."
        ),
        breaks="all names",
        cure="let kubelet and CoreDNS use a resolv.conf that names real servers",
        commands=("kubectl -n kube-system get cm coredns -o yaml",),
        what="CoreDNS' plugin loop saw its own question come back.",
        why="It forwards to /etc/resolv.conf, which names a stub on loopback (127.0.0.53 of "
        "systemd-resolved, 127.0.0.1), in the pod's namespace CoreDNS itself; or to an address "
        "that leads back to the service. CoreDNS exits, and no name is resolved.",
        confirm=(
            "kubectl -n kube-system get cm coredns -o yaml | grep forward; cat /etc/resolv.conf; "
            "ls -l /etc/resolv.conf"
        ),
        fix="Set resolvConf: /run/systemd/resolve/resolv.conf in the kubelet's configuration, or "
        "name real servers after `forward .`.",
        references="CoreDNS, plugin/loop; Kubernetes, Debugging DNS Resolution, Known issues",
    ),
    MessageCheck(
        name="resolver-loopback",
        title=(
            "a program asks a name server on its own loopback address, and nothing answers there."
        ),
        kinds=(Kind.RESOLVER_IS_LOOPBACK, Kind.RESOLV_CONF_MISSING),
        categories=(Category.DNS_CONFIGURATION,),
        claim=(
            "Names are looked up at {server}, where nothing answers: resolv.conf is missing, empty "
            "or names a loopback stub."
        ),
        values=(Value("server", names=("server", "file"), default="loopback"),),
        breaks="all names that this program asks for",
        cure="name a server in resolv.conf that can be reached from there",
        commands=("ls -l /etc/resolv.conf; cat /etc/resolv.conf",),
        what="`lookup ... on [::1]:53` is what Go's resolver does without a usable resolv.conf; "
        "127.0.0.53 is systemd-resolved's stub, which exists only in the host's own namespace; "
        "`open .../resolv.conf: no such file` is the kubelet's or the runtime's.",
        why="Every name fails at once. The file was copied into a container or chroot, is empty, "
        "missing or a dangling link, or the stub does not run.",
        confirm=(
            "cat /etc/resolv.conf; ls -l /etc/resolv.conf; systemctl status systemd-resolved; "
            "ss -lunp | grep ':53 '"
        ),
        fix="Name servers that can be reached from there; kubelet's resolvConf: "
        "/run/systemd/resolve/resolv.conf; start systemd-resolved.",
        references="Go, net/dnsconfig_unix.go (defaultNS); systemd-resolved(8)",
    ),
    MessageCheck(
        name="upstream-silent",
        title="the name server that the cluster's DNS forwards to does not answer.",
        kinds=(Kind.UPSTREAM_SILENT, Kind.UPSTREAM_REFUSES),
        categories=(Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION),
        claim="The name server{server}, to which the cluster's DNS forwards, does not answer it.",
        values=(Value("server", frame=SPACED),),
        breaks="names outside the cluster, always or intermittently",
        cure="forward to a server that answers, or fix the path to it",
        commands=("dig @{server} example.org +time=2",),
        certainty=0.6,
        ask=FollowUp(
            fact="whether the upstream name server answers the node and a pod",
            command=(
                "dig @SERVER example.org +time=2   # on the node, and in a pod; "
                "cat /etc/resolv.conf"
            ),
            decides=(
                "neither: the server or a firewall before it; only the node: the pod's way out is "
                "broken"
            ),
        ),
        what="CoreDNS or nodelocaldns logs `i/o timeout` or a refusal for questions that it sent "
        "on, or dnsmasq waits for as many answers as it may (`Maximum number of concurrent DNS "
        "queries`).",
        why="The server was retired or is overloaded, a firewall or security group drops the "
        "questions, or the pod's own way out is broken (no masquerading, a broken overlay). Names "
        "outside the cluster fail, or take seconds where another server answers.",
        confirm="From the node and from a pod: dig @SERVER example.org +time=2; kubectl -n "
        "kube-system get cm coredns -o yaml; cat /etc/resolv.conf",
        fix="Take servers that answer (forward, or the node's resolv.conf), or fix the way to "
        "them where only the node reaches them.",
        references="CoreDNS, plugin/forward; Kubernetes, Customizing DNS Service",
    ),
    MessageCheck(
        name="resolv-conf-limit",
        title="the resolv.conf of pods is longer than allowed, and parts are left out.",
        kinds=(Kind.RESOLV_CONF_LIMIT,),
        categories=(Category.DNS_CONFIGURATION,),
        claim=(
            "The node's resolv.conf has more name servers or search domains than pods may have; "
            "the kubelet leaves some out."
        ),
        breaks="names that only the omitted servers or domains know",
        cure="shorten the node's resolv.conf",
        certainty=0.2,
        ask=FollowUp(
            fact="whether the omitted name servers or search domains are needed",
            command="cat /etc/resolv.conf; kubectl exec POD -- cat /etc/resolv.conf",
            decides="a needed one is missing in the pod: it is the cause",
        ),
        what="The kubelet takes at most three name servers, and a limited list of search domains.",
        why=(
            "What is left out is not asked: where the server or domain that knows a name is among "
            "it, that name fails."
        ),
        confirm="cat /etc/resolv.conf on the node and in a pod",
        fix=(
            "Remove name servers or search domains from the node's resolv.conf, or give kubelet a "
            "file of its own."
        ),
        references="Kubernetes, Debugging DNS Resolution, Known issues; resolv.conf(5)",
    ),
    MessageCheck(
        name="names-refused",
        title="a name server refuses its client.",
        kinds=(Kind.NAMES_REFUSED,),
        categories=(Category.DNS_SERVER, Category.DNS_CONFIGURATION),
        claim="The name server refuses to answer {client}.",
        values=(Value("client", default="its client"),),
        breaks="names of that client",
        cure="allow the range of the client in the name server",
        what="`query (cache) ... denied`.",
        why=(
            "BIND answers clients of allow-query, allow-query-cache and allow-recursion alone, by "
            "default those of its own networks; pods and VPNs are others."
        ),
        confirm="dig @SERVER NAME; named-checkconf -p | grep -A3 allow",
        fix="Add the range to allow-query, allow-query-cache and allow-recursion.",
        references="BIND 9, Access Control Lists",
    ),
    MessageCheck(
        name="names-not-validated",
        title="a resolver discards answers that DNSSEC does not prove.",
        kinds=(Kind.NAMES_NOT_VALIDATED,),
        categories=(Category.DNS_CONFIGURATION, Category.DNS_UPSTREAM, Category.DNS_SERVER),
        claim="The resolver discards the answer for {name}: DNSSEC does not prove it{error}.",
        values=(Value("name", default="a name"), Value("error", frame=ASIDE)),
        breaks="that name, and all of its domain",
        cure="switch validation off for the domain, or fix its signatures",
        what="`DNSSEC validation failed`, `no valid RRSIG`, `insecurity proof failed`.",
        why=(
            "A forwarder strips signatures, an internal domain is not signed below a signed one, "
            "or the clock is wrong."
        ),
        confirm="resolvectl query NAME; delv NAME; dig +cd NAME; timedatectl",
        fix=(
            "DNSSEC=no or allow-downgrade in resolved.conf; validate-except or domain-insecure for "
            "internal domains."
        ),
        references="resolved.conf(5); RFC 4035",
    ),
    MessageCheck(
        name="rebind-refused",
        title="a resolver drops answers with private addresses.",
        kinds=(Kind.REBIND_REFUSED,),
        categories=(Category.DNS_CONFIGURATION, Category.DNS_SERVER),
        claim="dnsmasq drops the answer for {name}: its address is a private one.",
        values=(Value("name", default="a name"),),
        breaks="outside names that stand for internal addresses",
        cure="allow the domain: rebind-domain-ok",
        what="`possible DNS-rebind attack detected`.",
        why="With stop-dns-rebind answers of upstream servers with private addresses are dropped.",
        confirm="dig @UPSTREAM NAME; dig @ROUTER NAME",
        fix="rebind-domain-ok=/DOMAIN/, or take stop-dns-rebind out.",
        references="dnsmasq(8)",
    ),
    MessageCheck(
        name="name-server-configuration",
        title="a name server rejects its configuration.",
        kinds=(Kind.NAME_SERVER_CONFIGURATION_INVALID,),
        categories=(Category.DNS_SERVER, Category.DNS_CONFIGURATION),
        claim="The name server rejects its configuration{zone}: {error}.",
        values=(
            Value("zone", names=("zone", "file", "plugin"), frame=ASIDE),
            Value("error", default="an error"),
        ),
        breaks="names of that server or zone",
        cure="correct the line that it names",
        what="CoreDNS: `Error during parsing`. BIND: `not loaded due to errors`.",
        why="The server does not start, or answers SERVFAIL for the zone.",
        confirm=(
            "kubectl -n kube-system logs -l k8s-app=kube-dns; named-checkzone ZONE FILE; "
            "named-checkconf"
        ),
        fix="Correct the line, and restart it.",
        references="coredns.io, Corefile; named-checkzone(1)",
    ),
    MessageCheck(
        name="name-queries-exhausted",
        title="a name server has more open questions than it allows.",
        kinds=(Kind.NAME_QUERIES_EXHAUSTED,),
        categories=(Category.DNS_SERVER, Category.RESOURCE_LIMIT, Category.DNS_UPSTREAM),
        claim="The name server has more open questions than it allows itself{size}.",
        values=(Value("size", frame=ASIDE),),
        breaks="new questions, at random",
        cure="find what makes them wait: an upstream that is silent, a loop; then raise the limit",
        certainty=0.7,
        ask=FollowUp(
            fact="whether the upstream servers answer in time",
            command="dig @UPSTREAM NAME; tcpdump -ni any port 53",
            decides="they do not: they are the cause",
        ),
        what=(
            "`no more recursive clients`, `concurrent queries exceeded maximum`, `Maximum number "
            "of concurrent DNS queries reached`."
        ),
        why=(
            "Each open question waits for an upstream server. One that does not answer, or a loop, "
            "fills the table."
        ),
        confirm="dig @UPSTREAM NAME; rndc recursing; the metrics of the forwarder",
        fix="Fix the upstream server; raise recursive-clients, max_concurrent or dns-forward-max.",
        references="BIND 9, recursive-clients; coredns.io, forward; dnsmasq(8)",
    ),
    MessageCheck(
        name="upstream-name-unknown",
        title="a proxy does not resolve the name of its upstream.",
        kinds=(Kind.UPSTREAM_NAME_UNKNOWN,),
        categories=(Category.DNS_CONFIGURATION, Category.DNS_SERVER, Category.APPLICATION),
        claim="A proxy does not resolve the name {name} of its upstream.",
        values=(Value("name", default="in question"),),
        breaks="what the proxy passes on to it, or the proxy itself: nginx does not start",
        cure="make the name resolvable where the proxy runs, and resolve it at run time",
        certainty=0.8,
        ask=FollowUp(
            fact="whether the name resolves where the proxy runs",
            command="docker exec PROXY getent hosts NAME",
            decides="no: it is the cause",
        ),
        what="`host not found in upstream`, `could not be resolved`.",
        why=(
            "nginx resolves names when it starts and ends where it cannot; names of containers "
            "exist only in a network with a resolver of its own, while they run."
        ),
        confirm="nslookup NAME, in the container of the proxy; cat /etc/resolv.conf",
        fix=(
            "Put both into one network of Docker, start the upstream first, or use resolver and a "
            "variable in proxy_pass."
        ),
        references="nginx.org, resolver",
    ),
)
