"""Faults of the host and its cloud that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.ground import Ground
from podpath.checks.message_check import ASIDE, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="cloud-call-denied",
        title="the cloud refuses the agent's calls that would give pods their addresses.",
        kinds=(Kind.CLOUD_CALL_DENIED,),
        categories=(Category.CLOUD_NETWORK, Category.IPAM, Category.CNI_AGENT),
        claim="The cloud refuses {action}: the node's identity has no right to it.",
        values=(Value("action", default="the call"),),
        breaks="new addresses of pods, or the load balancer",
        cure="give the node's role that right",
        what="The node's identity (an instance role, a service principal) lacks the right for a "
        "call such as AssignPrivateIpAddresses.",
        why=(
            "The agent cannot attach interfaces or addresses, so new pods get none; "
            "or a load balancer is not made."
        ),
        confirm="aws sts get-caller-identity; aws iam list-attached-role-policies --role-name "
        "ROLE; /var/log/aws-routed-eni/ipamd.log",
        fix="Attach the policy that the plugin's documentation names (AmazonEKS_CNI_Policy), or "
        "give the principal the role on the subnet.",
        references="Amazon VPC CNI, docs/iam-policy.md; Azure CNI prerequisites",
    ),
    MessageCheck(
        name="kernel-support-missing",
        title="the kernel lacks a module or extension that the network needs.",
        kinds=(
            Kind.EXTENSION_MISSING,
            Kind.TABLE_MISSING,
            Kind.DEVICE_TYPE_UNSUPPORTED,
            Kind.MODULE_NOT_FOUND,
            Kind.SCHEDULER_MISSING,
            Kind.PROXY_MODULES_MISSING,
        ),
        categories=(Category.KERNEL_MODULE, Category.RULESET_FAILURE),
        claim="The running kernel lacks what the network needs{name}.",
        values=(Value("name", names=("module", "name", "table", "sort", "other"), frame=ASIDE),),
        breaks="what needs it: rules, bridges, tunnels or virtual servers are not made",
        cure="load the module on the host, or boot the kernel whose modules are installed",
        commands=("uname -r; ls /lib/modules",),
        what="A module is not found in /lib/modules, a table or match of iptables cannot be "
        "loaded, a kind of device is not known, a scheduler of IPVS is missing.",
        why="The kernel was upgraded and not rebooted (its modules' folder is gone), the image has "
        "a reduced kernel, the modules' package is not installed, or a container may not load "
        "modules. Then rules, bridges, tunnels or virtual servers are not made.",
        confirm="uname -r; ls /lib/modules; modprobe -v NAME; zgrep NAME /proc/config.gz",
        fix="Reboot into the installed kernel, install the package of extra modules "
        "(linux-modules-extra-$(uname -r), kernel-modules-extra), load the module on the host "
        "(/etc/modules-load.d), or mount /lib/modules into the container.",
        references="modprobe(8); iptables-extensions(8); kube-proxy, IPVS requirements",
    ),
    MessageCheck(
        name="source-ports-exhausted",
        title="a program finds no free source port or file for another connection.",
        kinds=(Kind.SOURCE_PORTS_EXHAUSTED, Kind.FILES_EXHAUSTED, Kind.SOCKET_MEMORY_FULL),
        categories=(Category.RESOURCE_LIMIT, Category.APPLICATION),
        claim="A program has used up its source ports, files or memory for connections{dst}.",
        values=(Value("dst", frame=ASIDE),),
        breaks="new connections of that program",
        cure="reuse connections, or raise the limit",
        commands=("ss -s; sysctl net.ipv4.ip_local_port_range",),
        what="connect fails with EADDRNOTAVAIL, bind to port 0 with EADDRINUSE, or accept and "
        "socket with EMFILE or ENFILE; the kernel is out of memory for TCP.",
        why="Of one source address, destination and port there are as many connections as ports in "
        "ip_local_port_range, TIME_WAIT included; a socket that is bound before it connects takes "
        "a port for itself alone. Files per process and TCP's memory are limited likewise.",
        confirm=(
            "ss -s; ss -tan state time-wait | wc -l; sysctl net.ipv4.ip_local_port_range; "
            "ulimit -n; cat /proc/net/sockstat"
        ),
        fix="Reuse connections (keep-alive, pools), set IP_BIND_ADDRESS_NO_PORT, widen "
        "ip_local_port_range, raise LimitNOFILE or tcp_mem.",
        references="ip(7), ip_local_port_range, IP_BIND_ADDRESS_NO_PORT; accept(2), EMFILE",
    ),
    MessageCheck(
        name="listener-overrun",
        title="new connections overrun a listener's queue.",
        kinds=(Kind.SYN_FLOOD,),
        categories=(Category.RESOURCE_LIMIT, Category.APPLICATION),
        claim=(
            "More connections come to port {port} than its program accepts: the queue of its "
            "listener overruns."
        ),
        values=(Value("port"),),
        breaks="new connections to that port",
        cure="raise the backlog and net.core.somaxconn, or make the program accept faster",
        commands=("ss -ltn sport = :{port}",),
        certainty=0.7,
        ask=FollowUp(
            fact="whether the listener's queue is full",
            command="ss -ltn; nstat -az TcpExtListenOverflows TcpExtListenDrops",
            decides="Recv-Q above Send-Q, or counters that grow: it is",
        ),
        what="The kernel says `possible SYN flooding on port`: the queue of connections that the "
        "program has not accepted is full.",
        why="SYNs are dropped or answered with cookies, so connects take seconds or time out. The "
        "program accepts too slowly, its backlog or net.core.somaxconn is small, or it is an "
        "attack.",
        confirm=(
            "ss -ltn (Recv-Q against Send-Q); nstat -az TcpExtListenOverflows TcpExtListenDrops "
            "TcpExtTCPReqQFullDrop"
        ),
        fix=(
            "Raise the program's backlog and net.core.somaxconn, and find what keeps it from "
            "accepting."
        ),
        references="net/ipv4/tcp_input.c, tcp_syn_flood_action; listen(2)",
    ),
    MessageCheck(
        name="program-killed",
        title="a program of the network was killed for lack of memory.",
        kinds=(Kind.PROCESS_KILLED,),
        categories=(Category.RESOURCE_LIMIT,),
        claim="The kernel killed {program} for lack of memory.",
        values=(Value("program", default="a program"),),
        breaks="what that program serves, until it is back",
        cure="raise its memory limit",
        certainty=0.5,
        ask=FollowUp(
            fact="whether the program is killed at the times of the failures",
            command=(
                "kubectl get pods -A (restarts); kubectl describe pod POD | grep -A5 'Last State'"
            ),
            decides="OOMKilled at those times: it is the cause",
        ),
        what="The kernel's log names the process that it killed.",
        why=(
            "Until it is back, what it serves fails; with a limit that is too small it is killed "
            "again and again."
        ),
        confirm="dmesg -T | grep -i 'killed process'; kubectl describe pod POD (OOMKilled)",
        fix="Raise the memory limit, or find what makes it grow (many services, endpoints, names).",
        references="mm/oom_kill.c; Kubernetes, Assign Memory Resources",
    ),
    MessageCheck(
        name="selinux-denies",
        title="SELinux denies a program its connection or port.",
        kinds=(Kind.ACCESS_DENIED,),
        categories=(Category.OTHER, Category.APPLICATION),
        claim="SELinux denies {program} its connection or port{port}.",
        values=(Value("program", default="a program"), Value("port", frame=ASIDE)),
        breaks="that program's connections",
        cure="allow it by a boolean or by the port's type",
        commands=("ausearch -m avc -ts recent",),
        what=(
            "An AVC line of the audit log: denied name_connect, name_bind or the like on a socket."
        ),
        why="The program's type may not connect to or listen on that port: connect fails with "
        "EACCES (502 of a proxy), whatever the firewall says.",
        confirm="ausearch -m avc -ts recent; getsebool -a | grep connect; semanage port -l",
        fix="setsebool -P httpd_can_network_connect 1; semanage port -a -t TYPE -p tcp PORT",
        references="audit2allow(1); httpd_selinux(8)",
    ),
    MessageCheck(
        name="address-family-missing",
        title=(
            "a program asks for a socket of a family that the kernel does not offer, IPv6 mostly."
        ),
        kinds=(Kind.ADDRESS_FAMILY_UNSUPPORTED,),
        categories=(Category.IPV6, Category.KERNEL_MODULE, Category.APPLICATION),
        claim=(
            "A program asks for a socket of an address family that this kernel does not offer, "
            "IPv6 mostly."
        ),
        breaks="the program, where it does not go on without that family",
        cure="let the program listen on IPv4 alone, or boot the kernel with IPv6",
        commands=("cat /proc/cmdline; cat /proc/net/if_inet6; ss -ltn",),
        certainty=0.6,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR}),
        ask=FollowUp(
            fact="whether the program runs and listens without it",
            command="ss -ltnp; cat /proc/cmdline (ipv6.disable=1)",
            decides=(
                "nothing listens on its port: it is the cause; it listens on 0.0.0.0: it went on"
            ),
        ),
        what=(
            "`Address family not supported by protocol` (EAFNOSUPPORT): socket() refuses AF_INET6, "
            "or a protocol such as SCTP."
        ),
        why="IPv6 was switched off at boot (ipv6.disable=1) or is not built in, or the module of "
        "the protocol is not loaded. A server that is configured for [::]:80 does not start; "
        "ip6tables and dual-stack listeners fail likewise.",
        confirm="cat /proc/cmdline; cat /proc/net/if_inet6; ss -ltnp",
        fix="Take the IPv6 listener out of the program's configuration (`listen [::]:80` of "
        "nginx), or boot without ipv6.disable=1 and switch addresses off by sysctl instead.",
        references="socket(7); Documentation/networking/ipv6.rst",
    ),
    MessageCheck(
        name="send-not-permitted",
        title="the host that sends refuses its own packet.",
        kinds=(Kind.SEND_FAILED,),
        needs=("error", "Operation not permitted"),
        categories=(Category.HOST_FIREWALL, Category.CONNTRACK_FULL, Category.NETWORK_POLICY),
        claim=(
            "The sender's own kernel refuses the packet: a rule of OUTPUT, a full connection table "
            "or a BPF program drops it."
        ),
        breaks="what that host or pod sends to the destination",
        cure="find the rule or program that drops it where it is sent",
        certainty=0.5,
        ask=FollowUp(
            fact="what drops the packet in the sender's own namespace",
            command=(
                "iptables-save -c; nft list ruleset; sysctl net.netfilter.nf_conntrack_count "
                "net.netfilter.nf_conntrack_max"
            ),
            decides=(
                "a counter of OUTPUT that grows: that rule; a count at its maximum: the table; "
                "neither: a BPF program"
            ),
        ),
        what=(
            "`sendmsg: Operation not permitted` (EPERM): the packet never left the sender's stack."
        ),
        why="A packet that netfilter drops in OUTPUT or POSTROUTING, that conntrack has no entry "
        "for since its table is full, or that a BPF program of the cgroup refuses is told to "
        "its sender as EPERM. No other host has seen it.",
        confirm=(
            "iptables -t filter -L OUTPUT -nv; nft list ruleset; conntrack -C; bpftool cgroup tree"
        ),
        fix=(
            "Remove the rule or put an accept before it, make the table larger, or correct the "
            "policy whose program refuses it."
        ),
        references="net/netfilter/core.c, nf_hook_slow; nf_conntrack_core.c, nf_conntrack_in",
    ),
    MessageCheck(
        name="buffers-exhausted",
        title="the kernel has no buffer left for a packet or a neighbor.",
        kinds=(Kind.BUFFERS_EXHAUSTED,),
        categories=(Category.RESOURCE_LIMIT, Category.NEIGHBOUR_TABLE_FULL, Category.NIC_DRIVER),
        claim=(
            "The kernel refuses to send for lack of a buffer (ENOBUFS): the neighbor table, a "
            "socket's buffers or a device's queue is full."
        ),
        breaks="what is sent while it is full",
        cure="raise the limit that is reached, or fix the queue that does not drain",
        what=(
            "`No buffer space available` (ENOBUFS), in whatever program sends, connects or sets an "
            "address."
        ),
        why=(
            "The kernel finds no place for another neighbor (gc_thresh3), another packet of the "
            "device (a queue that hangs) or of the socket. Nothing was sent."
        ),
        confirm=(
            "ip -4 neigh | wc -l; sysctl net.ipv4.neigh.default.gc_thresh3; ip -s link; "
            "tc -s qdisc; nstat -az | grep -i -E 'drop|over'"
        ),
        fix=(
            "Raise gc_thresh1 to gc_thresh3, txqueuelen or net.core.wmem_max; "
            "reset a device whose queue stands still."
        ),
        references="net/core/neighbour.c, neigh_alloc; send(2), ENOBUFS",
    ),
    MessageCheck(
        name="memory-exhausted",
        title="the kernel has no memory or no task left for a program of the network.",
        kinds=(Kind.MEMORY_EXHAUSTED, Kind.TASKS_EXHAUSTED),
        categories=(Category.RESOURCE_LIMIT, Category.RULESET_FAILURE),
        certainty=0.7,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR}),
        ask=FollowUp(
            fact="what was refused for lack of memory, and whether the failing connection needs it",
            command="the lines round the message; iptables-save | wc -l; free -m; dmesg | tail",
            decides=(
                "rules, sockets or maps of the failing path: it is the cause; something else: "
                "another trouble"
            ),
        ),
        claim="The kernel has no memory or no task left{group}: what the network needs is refused.",
        values=(Value("group", frame=ASIDE),),
        breaks="what the program wanted to make: a socket, a rule, a process, a BPF map",
        cure="raise the limit of memory or tasks, or find what uses it up",
        what=(
            "`Cannot allocate memory` (ENOMEM), or `Resource temporarily unavailable` (EAGAIN) "
            "where a process or thread is made."
        ),
        why=(
            "The host, the cgroup or the limit of locked memory (BPF maps), of processes or of "
            "threads is used up."
        ),
        confirm=(
            "free -m; cat /sys/fs/cgroup/*/memory.max; ulimit -a; systemctl show UNIT -p "
            "TasksMax,LimitMEMLOCK; dmesg | tail"
        ),
        fix=(
            "Raise the limit (TasksMax, LimitMEMLOCK, the memory of the container), or free what "
            "leaks."
        ),
        references="errno(3); cgroups(7)",
    ),
    MessageCheck(
        name="watches-exhausted",
        title="a program finds no inotify instance or watch left.",
        kinds=(Kind.WATCHES_EXHAUSTED,),
        categories=(Category.RESOURCE_LIMIT, Category.SYSCTL),
        claim=(
            "A program gets no inotify watch: fs.inotify.max_user_instances or max_user_watches is "
            "reached."
        ),
        breaks=(
            "programs that wait for files: agents, proxies and kubelet do not start or miss changes"
        ),
        cure="raise fs.inotify.max_user_instances and max_user_watches",
        commands=(
            "sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=1048576",
        ),
        what="`too many open files` or `no space left on device` from inotify or fsnotify.",
        why=(
            "Each user has a limit of inotify instances (128) and watches; nodes with many pods "
            "reach it, although files and disk are free."
        ),
        confirm=(
            "sysctl fs.inotify; find /proc/*/fd -lname anon_inode:inotify | cut -d/ -f3 | sort | "
            "uniq -c | sort -n | tail"
        ),
        fix=(
            "sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=1048576, and "
            "the same in /etc/sysctl.d."
        ),
        references="inotify(7)",
    ),
    MessageCheck(
        name="disk-full",
        title="no space is left where the network keeps its state.",
        kinds=(Kind.DISK_FULL,),
        categories=(Category.RESOURCE_LIMIT, Category.OTHER, Category.IPAM),
        claim="No space is left on a disk where a program of the network writes.",
        breaks="what has to be written first: addresses of pods, logs, sockets",
        cure="free space, or inodes",
        certainty=0.7,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR}),
        ask=FollowUp(
            fact="whether the full disk holds the state of the network",
            command="df -h /var/lib/cni /run /var/lib/containerd /var/log; df -i",
            decides="100 %: it is the cause",
        ),
        what="`no space left on device` from a program that writes a file.",
        why=(
            "CNI plugins keep addresses in files (/var/lib/cni), runtimes their state; "
            "without space no pod gets a network."
        ),
        confirm="df -h; df -i",
        fix="Free space or inodes, and give the logs a limit.",
        references="write(2), ENOSPC",
    ),
    MessageCheck(
        name="kernel-queue-full",
        title="a table or queue of the kernel overflows.",
        kinds=(Kind.ROUTE_CACHE_FULL, Kind.PACKET_QUEUE_FULL),
        categories=(Category.RESOURCE_LIMIT, Category.SYSCTL, Category.IPV6),
        claim="A table or queue of the kernel is full, so it drops packets.",
        breaks="packets at random, and new destinations first",
        cure="raise the limit, or find what fills it",
        what="`dst cache overflow`, `Route cache is full`, `nf_queue: full`.",
        why=(
            "net.ipv6.route.max_size (4096 before 6.3) is reached by many peers; "
            "a program that takes packets from NFQUEUE is too slow or gone."
        ),
        confirm=(
            "sysctl net.ipv6.route.max_size; cat /proc/net/netfilter/nfnetlink_queue; "
            "cat /proc/net/rt6_stats"
        ),
        fix=(
            "sysctl -w net.ipv6.route.max_size=2147483647; restart or speed up what reads the "
            "queue, or let rules bypass it."
        ),
        references="net/core/dst.c, dst_alloc; net/netfilter/nfnetlink_queue.c",
    ),
    MessageCheck(
        name="time-wait-overflow",
        title="connections in TIME_WAIT overflow their table.",
        kinds=(Kind.TIME_WAIT_FULL,),
        categories=(Category.RESOURCE_LIMIT, Category.SYSCTL),
        claim="More connections wait in TIME_WAIT than net.ipv4.tcp_max_tw_buckets allows.",
        breaks="late packets of closed connections, and a client that reuses a port",
        cure="raise tcp_max_tw_buckets, and reuse connections",
        certainty=0.4,
        ask=FollowUp(
            fact="how many connections wait, and for which destination",
            command="ss -tan state time-wait | awk '{print $4}' | sort | uniq -c | sort -n | tail",
            decides="as many as there are ports for one destination: source ports are used up",
        ),
        what="`TCP: time wait bucket table overflow`.",
        why=(
            "Connections are closed without TIME_WAIT. It shows that very many short connections "
            "are made, which exhausts ports and tables first."
        ),
        confirm="ss -s; sysctl net.ipv4.tcp_max_tw_buckets net.ipv4.ip_local_port_range",
        fix="Reuse connections (keep-alive); raise tcp_max_tw_buckets.",
        references="net/ipv4/tcp_minisocks.c, tcp_time_wait",
    ),
    MessageCheck(
        name="connections-exhausted",
        title="a server has as many connections as it allows itself.",
        kinds=(Kind.CONNECTIONS_EXHAUSTED,),
        categories=(Category.RESOURCE_LIMIT, Category.APPLICATION),
        claim="A server has reached its own limit of connections or requests{limit}.",
        values=(Value("limit", frame=ASIDE),),
        breaks="new clients of that server",
        cure="raise its limit, or make clients give connections back",
        what=(
            "A server says that its workers, connections or quota are used up (MaxRequestWorkers, "
            "max_children, max_connections, maxclients, ResourceExhausted)."
        ),
        why=(
            "The network carries the connection; the program does not serve it, or closes it at "
            "once."
        ),
        confirm="the status page or settings of the server; ss -tn sport = :PORT | wc -l",
        fix=(
            "Raise the limit within the memory there is; use a pool of connections; "
            "find clients that do not close theirs."
        ),
        references="the manual of the server",
    ),
    MessageCheck(
        name="peer-refuses-request",
        title="the program at the other end refuses the request itself.",
        kinds=(Kind.MESSAGE_TOO_LARGE, Kind.PINGS_REFUSED, Kind.METHOD_UNKNOWN),
        categories=(Category.APPLICATION, Category.WRONG_PORT),
        claim="The packets arrive, and the program at the other end refuses what they ask{error}.",
        values=(Value("error", frame=ASIDE),),
        breaks="those requests",
        cure="change the limit or setting of the program",
        what=(
            "gRPC: a message above the maximum, too many keep-alive pings, an unknown service or "
            "method. HTTP: a header or body that is too large."
        ),
        why=(
            "The connection works; a setting of the two programs does not fit, or it is another "
            "program that listens there."
        ),
        confirm="grpcurl or curl -v against the server itself, without proxies",
        fix=(
            "Raise the limit (max message size, proxy_buffer_size, client_max_body_size, keepalive "
            "enforcement policy), or ask the right server."
        ),
        references="grpc.io, keepalive and status codes; nginx.org, ngx_http_proxy_module",
    ),
    MessageCheck(
        name="client-refused",
        title="a server knows its clients, and refuses this one.",
        kinds=(Kind.CLIENT_REFUSED,),
        categories=(
            Category.APPLICATION,
            Category.NAME_OR_CERTIFICATE,
            Category.HOST_FIREWALL,
            Category.SOURCE_ADDRESS,
            Category.MASQUERADE_UNWANTED,
        ),
        claim=(
            "The server itself refuses its client{client}: its own list of clients does not allow "
            "that address."
        ),
        values=(Value("client", names=("client", "name"), frame=ASIDE),),
        breaks="that client",
        cure="allow the address that the server sees, or fix what changes it on the way",
        what=(
            "pg_hba.conf, a MySQL account bound to a host, protected mode of Redis, hosts.deny, an "
            "access list of a web server."
        ),
        why=(
            "The packets arrive. Often the address is a NAT one (172.17.0.1, the address of a "
            "node) that nobody has allowed."
        ),
        confirm="the log of the server; the address that it names against the client's own",
        fix=(
            "Allow the address in the list of the server; keep the source address on the way "
            "(externalTrafficPolicy: Local, no masquerade)."
        ),
        references="the manual of the server; hosts_access(5)",
    ),
    MessageCheck(
        name="socket-not-permitted",
        title="the sender's own kernel refuses a packet or a connection.",
        kinds=(Kind.SOCKET_DENIED,),
        categories=(
            Category.HOST_FIREWALL,
            Category.NETWORK_POLICY,
            Category.BPF,
            Category.CONNTRACK_FULL,
            Category.KUBE_PROXY,
        ),
        claim=(
            "The sender's own kernel refuses the packet{dst}: a rule of OUTPUT, a full connection "
            "table or a BPF program drops it."
        ),
        values=(Value("dst", frame=ASIDE),),
        breaks="what that host or pod sends to the destination",
        cure="find the rule or program that drops it where it is sent",
        certainty=0.5,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR}),
        ask=FollowUp(
            fact="what drops the packet in the sender's own namespace",
            command="iptables-save -c; nft list ruleset; conntrack -C; bpftool cgroup tree",
            decides=(
                "a counter that grows: that rule; the table at its maximum: the table; "
                "neither: a BPF program"
            ),
        ),
        what=(
            "`operation not permitted` (EPERM) from connect, sendto or write: the packet never "
            "left the stack of the sender."
        ),
        why=(
            "Netfilter in OUTPUT, a full conntrack table, or a BPF program of the cgroup (a "
            "service without backends, a policy)."
        ),
        confirm="iptables -S OUTPUT; nft list ruleset; conntrack -C; bpftool cgroup tree",
        fix="Remove the rule, make the table larger, or give the service a backend.",
        references="net/netfilter/core.c, nf_hook_slow; kernel/bpf/cgroup.c",
    ),
    MessageCheck(
        name="raw-socket-denied",
        title="a program may not open the raw socket that it needs.",
        kinds=(Kind.RAW_SOCKET_DENIED,),
        categories=(Category.APPLICATION, Category.OTHER),
        claim="A program may not open a raw or packet socket: it lacks CAP_NET_RAW.",
        breaks="DHCP, ping and ARP of that program",
        cure="give it CAP_NET_RAW",
        what="`Operation not permitted` for a socket of LPF, AF_PACKET or SOCK_RAW.",
        why=(
            "DHCP clients, ping and announcers of addresses need CAP_NET_RAW. A container without "
            "it, a profile of seccomp or an unprivileged user keeps it away."
        ),
        confirm="grep Cap /proc/PID/status; capsh --decode=...; getcap /bin/ping",
        fix="Add NET_RAW to the capabilities of the container, or set it on the file.",
        references="capabilities(7); packet(7)",
    ),
    MessageCheck(
        name="protocol-unsupported",
        title="the kernel lacks a protocol that a program asks for.",
        kinds=(Kind.PROTOCOL_UNSUPPORTED,),
        categories=(Category.KERNEL_MODULE,),
        claim=(
            "The kernel does not know the protocol that a program asks for: its module is missing."
        ),
        breaks="that program",
        cure="load the module (sctp, l2tp, ...)",
        what="`Protocol not supported` (EPROTONOSUPPORT).",
        why=(
            "The module of the protocol is not loaded, not built, or on the list of modules that "
            "are not loaded."
        ),
        confirm="lsmod; modprobe -v sctp; grep -r blacklist /etc/modprobe.d",
        fix="modprobe NAME, install the package of extra modules, or remove it from the list.",
        references="socket(2), EPROTONOSUPPORT",
    ),
    MessageCheck(
        name="sysctl-not-set",
        title="a program cannot set a sysctl of the network.",
        kinds=(Kind.SYSCTL_DENIED,),
        categories=(
            Category.SYSCTL,
            Category.IP_FORWARD,
            Category.BRIDGE_NETFILTER,
            Category.OTHER,
            Category.ROUTE_LOCALNET,
        ),
        claim="A program cannot set {key}.",
        values=(Value("key", names=("key", "file"), default="a sysctl of the network"),),
        breaks="what rests on that setting",
        cure="set it on the host, or give the container the right",
        certainty=0.7,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR}),
        ask=FollowUp(
            fact="the value that the key has now, where the program runs",
            command="sysctl -a 2>/dev/null | grep KEY",
            decides=(
                "the value that the program wanted: it does no harm; another one: it is the cause"
            ),
        ),
        what=(
            "Writing below /proc/sys/net fails: a read-only file system, permission denied, or no "
            "such file."
        ),
        why=(
            "In a container /proc/sys is read-only unless it is privileged; some keys exist only "
            "while their module is loaded (bridge, nf_conntrack). The program goes on without the "
            "setting, or ends."
        ),
        confirm="sysctl KEY, in the same container and on the host",
        fix=(
            "docker run --sysctl KEY=1 --cap-add NET_ADMIN, securityContext.sysctls, or set it on "
            "the host; load the module first."
        ),
        references="proc(5); Documentation/networking/ip-sysctl.rst",
    ),
    MessageCheck(
        name="kernel-fault",
        title="the kernel itself failed.",
        kinds=(Kind.KERNEL_FAULT,),
        categories=(Category.KERNEL_BUG,),
        claim="The kernel reports a fault of its own{what}.",
        values=(Value("what", frame=ASIDE),),
        breaks="anything, from then on",
        cure="boot another version of the kernel",
        certainty=0.5,
        ask=FollowUp(
            fact="what stands in the call trace",
            command='dmesg -T | grep -A40 -E "BUG:|Call Trace"',
            decides="functions of the network: it is the cause",
        ),
        what="`BUG:`, `general protection fault`, `Kernel panic`, a CPU that is stuck.",
        why=(
            "A fault of the kernel or of a module: what runs in it stands still or ends, the "
            "network included."
        ),
        confirm=(
            "dmesg -T; the functions of the call trace, [nf_tables], [vxlan] or a driver among them"
        ),
        fix="Boot another version, and look the trace up in the list of changes of the kernel.",
        references="Documentation/admin-guide/bug-hunting.rst",
    ),
    MessageCheck(
        name="firewall-unit-failed",
        title="a unit of systemd that writes the rules of the firewall failed.",
        kinds=(Kind.FIREWALL_UNIT_FAILED,),
        categories=(
            Category.RULESET_FAILURE,
            Category.SERVICE_RULES_MISSING,
            Category.MASQUERADE_MISSING,
            Category.HOST_FIREWALL,
        ),
        claim="systemd reports that {unit}, which writes the rules of the firewall, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.7,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why=(
            "A unit that writes the rules of the firewall does not run, so what it sets up or "
            "serves is missing."
        ),
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
    MessageCheck(
        name="network-unit-failed",
        title="a unit of systemd that sets up devices failed.",
        kinds=(Kind.NETWORK_UNIT_FAILED,),
        categories=(Category.NETWORK_MANAGER, Category.LINK_DOWN),
        claim="systemd reports that {unit}, which sets up devices, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.7,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why="A unit that sets up devices does not run, so what it sets up or serves is missing.",
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
    MessageCheck(
        name="routing-unit-failed",
        title="a unit of systemd that announces routes or addresses failed.",
        kinds=(Kind.ROUTING_UNIT_FAILED,),
        categories=(Category.ROUTE_DISTRIBUTION, Category.LOAD_BALANCER),
        claim="systemd reports that {unit}, which announces routes or addresses, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.7,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why=(
            "A unit that announces routes or addresses does not run, so what it sets up or serves "
            "is missing."
        ),
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
    MessageCheck(
        name="tunnel-unit-failed",
        title="a unit of systemd that sets up a tunnel failed.",
        kinds=(Kind.TUNNEL_UNIT_FAILED,),
        categories=(Category.TUNNEL_CONFIGURATION,),
        claim="systemd reports that {unit}, which sets up a tunnel, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.7,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why="A unit that sets up a tunnel does not run, so what it sets up or serves is missing.",
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
    MessageCheck(
        name="name-unit-failed",
        title="a unit of systemd that answers for names failed.",
        kinds=(Kind.NAME_UNIT_FAILED,),
        categories=(Category.DNS_SERVER, Category.DNS_CONFIGURATION),
        claim="systemd reports that {unit}, which answers for names, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.7,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why="A unit that answers for names does not run, so what it sets up or serves is missing.",
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
    MessageCheck(
        name="cluster-unit-failed",
        title="a unit of systemd that runs containers or a cluster failed.",
        kinds=(Kind.CLUSTER_UNIT_FAILED,),
        categories=(Category.CNI_AGENT, Category.KUBE_PROXY, Category.OTHER),
        claim="systemd reports that {unit}, which runs containers or a cluster, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.5,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why=(
            "A unit that runs containers or a cluster does not run, so what it sets up or serves "
            "is missing."
        ),
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
    MessageCheck(
        name="server-unit-failed",
        title="a unit of systemd that serves clients failed.",
        kinds=(Kind.SERVER_UNIT_FAILED,),
        categories=(Category.NO_LISTENER, Category.APPLICATION),
        claim="systemd reports that {unit}, which serves clients, failed.",
        values=(Value("unit", names=("unit", "other"), default="a unit"),),
        breaks="what that unit is for",
        cure="find out why it failed, and start it",
        commands=("journalctl -b -u {unit}", "systemctl restart {unit}"),
        certainty=0.7,
        ask=FollowUp(
            fact="why the unit failed",
            command="systemctl status UNIT; journalctl -b -u UNIT",
            decides="its last lines before the end name the cause",
        ),
        what=(
            "systemd says `Failed with result`, `Main process exited` or `Job for ... failed` of a "
            "unit."
        ),
        why="A unit that serves clients does not run, so what it sets up or serves is missing.",
        confirm="systemctl status UNIT; journalctl -u UNIT -b",
        fix="Fix what its log names, then: systemctl restart UNIT",
        references="systemd.service(5)",
    ),
)
