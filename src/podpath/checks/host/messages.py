"""Faults of the host and its cloud that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import Ask
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
        why="The agent cannot attach interfaces or addresses, so new pods get none; or a load balancer is not made.",
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
        confirm="ss -s; ss -tan state time-wait | wc -l; sysctl net.ipv4.ip_local_port_range; ulimit -n; cat /proc/net/sockstat",
        fix="Reuse connections (keep-alive, pools), set IP_BIND_ADDRESS_NO_PORT, widen "
        "ip_local_port_range, raise LimitNOFILE or tcp_mem.",
        references="ip(7), ip_local_port_range, IP_BIND_ADDRESS_NO_PORT; accept(2), EMFILE",
    ),
    MessageCheck(
        name="listener-overrun",
        title="new connections overrun a listener's queue.",
        kinds=(Kind.SYN_FLOOD,),
        categories=(Category.RESOURCE_LIMIT, Category.APPLICATION),
        claim="More connections come to port {port} than its program accepts: the queue of its listener overruns.",
        values=(Value("port"),),
        breaks="new connections to that port",
        cure="raise the backlog and net.core.somaxconn, or make the program accept faster",
        commands=("ss -ltn sport = :{port}",),
        certainty=0.7,
        ask=Ask(
            fact="whether the listener's queue is full",
            command="ss -ltn; nstat -az TcpExtListenOverflows TcpExtListenDrops",
            decides="Recv-Q above Send-Q, or counters that grow: it is",
        ),
        what="The kernel says `possible SYN flooding on port`: the queue of connections that the "
        "program has not accepted is full.",
        why="SYNs are dropped or answered with cookies, so connects take seconds or time out. The "
        "program accepts too slowly, its backlog or net.core.somaxconn is small, or it is an "
        "attack.",
        confirm="ss -ltn (Recv-Q against Send-Q); nstat -az TcpExtListenOverflows TcpExtListenDrops TcpExtTCPReqQFullDrop",
        fix="Raise the program's backlog and net.core.somaxconn, and find what keeps it from accepting.",
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
        ask=Ask(
            fact="whether the program is killed at the times of the failures",
            command="kubectl get pods -A (restarts); kubectl describe pod POD | grep -A5 'Last State'",
            decides="OOMKilled at those times: it is the cause",
        ),
        what="The kernel's log names the process that it killed.",
        why="Until it is back, what it serves fails; with a limit that is too small it is killed again and again.",
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
        what="An AVC line of the audit log: denied name_connect, name_bind or the like on a socket.",
        why="The program's type may not connect to or listen on that port: connect fails with "
        "EACCES (502 of a proxy), whatever the firewall says.",
        confirm="ausearch -m avc -ts recent; getsebool -a | grep connect; semanage port -l",
        fix="setsebool -P httpd_can_network_connect 1; semanage port -a -t TYPE -p tcp PORT",
        references="audit2allow(1); httpd_selinux(8)",
    ),
    MessageCheck(
        name="address-family-missing",
        title="a program asks for a socket of a family that the kernel does not offer, IPv6 mostly.",
        kinds=(Kind.ADDRESS_FAMILY_UNSUPPORTED,),
        categories=(Category.IPV6, Category.KERNEL_MODULE, Category.APPLICATION),
        claim="A program asks for a socket of an address family that this kernel does not offer, IPv6 mostly.",
        breaks="the program, where it does not go on without that family",
        cure="let the program listen on IPv4 alone, or boot the kernel with IPv6",
        commands=("cat /proc/cmdline; cat /proc/net/if_inet6; ss -ltn",),
        certainty=0.6,
        ask=Ask(
            fact="whether the program runs and listens without it",
            command="ss -ltnp; cat /proc/cmdline (ipv6.disable=1)",
            decides="nothing listens on its port: it is the cause; it listens on 0.0.0.0: it went on",
        ),
        what="`Address family not supported by protocol` (EAFNOSUPPORT): socket() refuses AF_INET6, or a protocol such as SCTP.",
        why="IPv6 was switched off at boot (ipv6.disable=1) or is not built in, or the module of the protocol "
        "is not loaded. A server that is configured for [::]:80 does not start; ip6tables and dual-stack "
        "listeners fail likewise.",
        confirm="cat /proc/cmdline; cat /proc/net/if_inet6; ss -ltnp",
        fix="Take the IPv6 listener out of the program's configuration (`listen [::]:80` of nginx), or boot "
        "without ipv6.disable=1 and switch addresses off by sysctl instead.",
        references="socket(7); Documentation/networking/ipv6.rst",
    ),
    MessageCheck(
        name="send-not-permitted",
        title="the host that sends refuses its own packet.",
        kinds=(Kind.SEND_FAILED,),
        needs=("error", "Operation not permitted"),
        categories=(Category.HOST_FIREWALL, Category.CONNTRACK_FULL, Category.NETWORK_POLICY),
        claim="The sender's own kernel refuses the packet: a rule of OUTPUT, a full connection table or a BPF program drops it.",
        breaks="what that host or pod sends to the destination",
        cure="find the rule or program that drops it where it is sent",
        certainty=0.5,
        ask=Ask(
            fact="what drops the packet in the sender's own namespace",
            command="iptables-save -c; nft list ruleset; sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",
            decides="a counter of OUTPUT that grows: that rule; a count at its maximum: the table; neither: a BPF program",
        ),
        what="`sendmsg: Operation not permitted` (EPERM): the packet never left the sender's stack.",
        why="A packet that netfilter drops in OUTPUT or POSTROUTING, that conntrack has no entry for since its "
        "table is full, or that a BPF program of the cgroup refuses is told to its sender as EPERM. No "
        "other host has seen it.",
        confirm="iptables -t filter -L OUTPUT -nv; nft list ruleset; conntrack -C; bpftool cgroup tree",
        fix="Remove the rule or put an accept before it, make the table larger, or correct the policy whose program refuses it.",
        references="net/netfilter/core.c, nf_hook_slow; nf_conntrack_core.c, nf_conntrack_in",
    ),
)
