"""Faults of network plugins and their agents that a message of a program or the kernel tells by
itself.
"""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.ground import Ground
from podpath.checks.message_check import ASIDE, SPACED, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="cni-plugin-missing",
        title="the CNI configuration names a plugin whose program is not there.",
        kinds=(Kind.PLUGIN_NOT_FOUND,),
        categories=(Category.CNI_PROGRAM,),
        claim=(
            "The CNI plugin {plugin} is not installed in {path}, so no pod of the node gets a "
            "network."
        ),
        values=(
            Value("plugin", default="that the configuration names"),
            Value("path", default="/opt/cni/bin"),
        ),
        breaks="every new pod of the node",
        cure="install the plugin's program there",
        commands=("ls {path}",),
        what=(
            "The runtime looked for a plugin's program in its folder of programs (/opt/cni/bin) "
            "and did not find it."
        ),
        why="No sandbox can be set up: every new pod of the node stays in ContainerCreating. The "
        "package kubernetes-cni or containernetworking-plugins was not installed or was removed "
        "(flannel has not shipped `bridge` or `portmap` since 1.0), or the runtime looks in "
        "another folder.",
        confirm=(
            "ls /opt/cni/bin /usr/lib/cni; cat /etc/cni/net.d/*; containerd config dump | grep -A3 "
            "cni"
        ),
        fix="Put the CNI plugins of containernetworking/plugins into the folder that the runtime "
        "looks in, or point bin_dir (containerd) or plugin_dirs (CRI-O) to where they are.",
        references="CNI specification, section 2; containerd, docs/cri/config.md",
    ),
    MessageCheck(
        name="cni-configuration-invalid",
        title="the CNI configuration cannot be read, or asks for what its plugin does not know.",
        kinds=(Kind.PLUGIN_CONFIGURATION_INVALID,),
        categories=(Category.CNI_CONFIGURATION,),
        claim="The CNI configuration is not usable{error}.",
        values=(Value("error", names=("error", "name", "file"), frame=ASIDE),),
        breaks="every pod that the configuration is for",
        cure="correct the configuration",
        commands=("python3 -m json.tool < /etc/cni/net.d/FILE",),
        what="A file of /etc/cni/net.d is not valid JSON, lacks `type`, has a cniVersion that its "
        "plugin does not speak, or a NetworkAttachmentDefinition that a pod names does not exist.",
        why="The runtime leaves the file out or refuses the pod: the node stays NotReady, or its "
        "new pods stay in ContainerCreating.",
        confirm=(
            "for f in /etc/cni/net.d/*; do echo $f; python3 -m json.tool < $f; done; "
            "podpath protect chain lint"
        ),
        fix="Correct the file (a comma too many, a missing bracket), or its cniVersion; what an "
        "agent writes from a ConfigMap is put right there.",
        references="CNI specification, section 1; libcni, ConfListFromBytes",
    ),
    MessageCheck(
        name="addresses-exhausted",
        title="there is no address left to give.",
        kinds=(Kind.ADDRESSES_EXHAUSTED,),
        categories=(Category.IPAM,),
        claim=(
            "There is no address left to give{pool}: the range is used up, or stale allocations "
            "hold it."
        ),
        values=(Value("pool", names=("range",), frame=ASIDE),),
        breaks="every new pod that needs an address of the range",
        cure="free stale allocations, or enlarge the range",
        commands=("ls /var/lib/cni/networks/*",),
        what=(
            "An IPAM plugin, a cloud's subnet, a network's pool or a DHCP server has no free "
            "address."
        ),
        why="The range is too small, or addresses of pods that are gone were never given back: "
        "host-local keeps a file for each in /var/lib/cni/networks, Calico and Whereabouts keep "
        "allocations, a cloud's subnet is full. New pods get no network.",
        confirm="ls /var/lib/cni/networks/* | wc -l; crictl pods -q | wc -l\n"
        "calicoctl ipam check; kubectl get ippools.whereabouts.cni.cncf.io -A; aws ec2 "
        "describe-subnets (AvailableIpAddressCount)",
        fix="Remove what nobody uses any longer (the files of host-local whose container is gone), "
        "or give a larger range or a further subnet.",
        references="plugins/ipam/host-local of containernetworking/plugins; Amazon VPC CNI, "
        "docs/troubleshooting.md; calicoctl ipam check",
    ),
    MessageCheck(
        name="address-allocated-twice",
        title="the address that a pod or container asks for is taken.",
        kinds=(Kind.ADDRESS_ALLOCATED_TWICE,),
        categories=(Category.IPAM,),
        claim="The address{address} that was asked for is allocated to another container already.",
        values=(Value("address", frame=SPACED),),
        breaks="the pod or container that asks for it",
        cure="free the stale allocation, or ask for another address",
        what="A fixed address is asked for (an annotation, --ip, runtimeConfig) that the IPAM "
        "plugin has given to somebody, often to an earlier container of the same pod.",
        why="The plugin refuses, so the pod or container does not start. A sandbox that was not "
        "torn down in order keeps its address.",
        confirm="grep -r . /var/lib/cni/networks/*/ADDRESS; docker network inspect NETWORK",
        fix="Remove the stale allocation, or ask for another address.",
        references="plugins/ipam/host-local/backend/allocator of containernetworking/plugins",
    ),
    MessageCheck(
        name="pod-range-missing",
        title="the node has no pod range, so its network agent cannot start.",
        kinds=(Kind.POD_RANGE_MISSING,),
        categories=(Category.POD_CIDR,),
        claim=(
            "The node{node} has no pod range (spec.podCIDR), so its network agent cannot set up "
            "its network."
        ),
        values=(Value("node", frame=SPACED),),
        breaks="every pod of the node",
        cure="let the controller manager assign pod ranges",
        commands=("kubectl get nodes -o custom-columns=N:.metadata.name,C:.spec.podCIDR",),
        what="The agent waits for Node.spec.podCIDR, and the node has none.",
        why="The controller manager assigns it: without --allocate-node-cidrs and --cluster-cidr "
        "(kubeadm init --pod-network-cidr), or with all ranges given out, nodes stay without one; "
        "the agent exits or waits and no pod gets a network.",
        confirm="kubectl get nodes -o custom-columns=N:.metadata.name,C:.spec.podCIDR\n"
        "grep -E 'cidr' /etc/kubernetes/manifests/kube-controller-manager.yaml",
        fix="Give the controller manager --allocate-node-cidrs=true and --cluster-cidr, the one "
        "that the plugin has; enlarge the range or shrink --node-cidr-mask-size where it is used "
        'up; kubectl patch node NODE -p \'{"spec":{"podCIDR":"10.244.1.0/24"}}\' helps at once.',
        references=(
            "flannel, Documentation/troubleshooting.md; kube-controller-manager, --cluster-cidr"
        ),
    ),
    MessageCheck(
        name="agent-interface-missing",
        title="the network agent finds no interface or address to use.",
        kinds=(Kind.INTERFACE_NOT_FOUND,),
        categories=(Category.TUNNEL_ENDPOINT, Category.NO_ROUTE, Category.CNI_AGENT),
        claim="The network agent finds no interface to use{device}.",
        values=(Value("device", names=("device", "name", "other"), frame=ASIDE),),
        breaks="the pod network of the node",
        cure="name an interface that the node has, or set a default route",
        commands=("ip -br addr; ip route show default",),
        what="Flannel, Calico, Cilium or k3s looks for the interface by name, by regular "
        "expression or by the default route, and finds none.",
        why="The interface has another name on this node, has no address yet, or the host has no "
        "default route. The agent exits or waits.",
        confirm="ip -br addr; ip route show default",
        fix="Name an interface or pattern that every node has (flannel --iface, "
        "IP_AUTODETECTION_METHOD of Calico, devices of Cilium), or set a default route.",
        references=(
            "flannel, Documentation/configuration.md (--iface); Calico, Configuring node IP "
            "autodetection"
        ),
    ),
    MessageCheck(
        name="agent-not-running",
        title="a CNI plugin cannot reach its own agent on the node.",
        kinds=(Kind.AGENT_SOCKET_MISSING, Kind.SUBNET_FILE_MISSING),
        categories=(Category.CNI_AGENT, Category.CNI_CONFIGURATION),
        claim=(
            "The CNI plugin cannot reach its agent on the node{file}: it does not run, or another "
            "plugin replaced it."
        ),
        values=(Value("file", names=("file", "agent"), frame=ASIDE),),
        breaks="every new pod of the node",
        cure="start the agent, or remove the configuration of a plugin that is no longer used",
        commands=("ls /etc/cni/net.d",),
        certainty=0.6,
        ask=FollowUp(
            fact="why the network agent does not run on the node",
            command=(
                "kubectl get pods -A -o wide; kubectl logs -n NAMESPACE AGENT-POD --previous; "
                "ls /etc/cni/net.d"
            ),
            decides="its own log names the cause; no such pod: the configuration is a leftover",
        ),
        what="The plugin asks its agent by a socket, or reads a file that the agent writes "
        "(subnet.env of flannel, nodename of Calico), and it is not there.",
        why="The agent's pod does not run on the node or has not come up; or the configuration in "
        "/etc/cni/net.d is that of a plugin which was removed. Every new pod of the node stays in "
        "ContainerCreating; why the agent does not run stands in its own log.",
        confirm=(
            "kubectl get pods -A -o wide | grep -E "
            "'cilium|calico|flannel|weave|aws-node|kube-ovn|multus'; ls /etc/cni/net.d"
        ),
        fix="Fix the agent (kubectl logs of its pod tells why it does not run). Of a plugin that "
        "was removed delete the file in /etc/cni/net.d.",
        references="flannel, Documentation/troubleshooting.md; Calico, /var/lib/calico/nodename",
    ),
    MessageCheck(
        name="cni-not-ready",
        title="the runtime has no network configuration yet.",
        kinds=(Kind.PLUGIN_NOT_READY,),
        categories=(Category.CNI_CONFIGURATION, Category.CNI_AGENT),
        claim="The container runtime finds no usable CNI configuration, so the node is not ready.",
        breaks="every pod of the node that needs a network",
        cure="install the network plugin, or fix its agent or its file",
        certainty=0.4,
        ask=FollowUp(
            fact=(
                "what stands in the folder of CNI configurations, and whether the network agent "
                "runs"
            ),
            command="ls -l /etc/cni/net.d; cat /etc/cni/net.d/*; kubectl get pods -A -o wide",
            decides=(
                "an empty folder: the agent has not written its file; an invalid file: it is the "
                "cause"
            ),
        ),
        what="`cni plugin not initialized`, `cni config uninitialized` or `no networks found in "
        "/etc/cni/net.d`: the folder holds no usable file.",
        why="No network plugin was installed, its agent has not written its file since it does not "
        "run, the file is invalid, or the runtime looks in another folder. The node stays NotReady "
        "and starts only pods of the host's network.",
        confirm="ls -l /etc/cni/net.d; kubectl get pods -A -o wide | grep NODE; crictl info | grep "
        "-A3 cniconfig; journalctl -u containerd | grep -i cni",
        fix=(
            "Install the network plugin, fix its agent or its file, and restart the runtime where "
            "it does not watch the folder."
        ),
        references="kubelet, runtime network not ready; containerd, docs/cri/config.md",
    ),
    MessageCheck(
        name="agent-forbidden",
        title="the API server forbids a network agent what it needs.",
        kinds=(Kind.AGENT_FORBIDDEN, Kind.AGENT_UNAUTHORIZED),
        categories=(Category.CNI_AGENT,),
        claim="The API server refuses {account} what it needs{resource}.",
        values=(
            Value("account", names=("account", "user"), default="the network agent"),
            Value("resource", names=("resource", "error"), frame=ASIDE),
        ),
        breaks="what the agent should program",
        cure="give the service account the role of the version that runs",
        what="The role of an agent's service account lacks a resource or verb (`is forbidden: User "
        "... cannot list resource`), or its token is no longer accepted (`connection is "
        "unauthorized`).",
        why="The agent or the plugin that acts for it sees no pods, nodes or services, so it "
        "programs nothing, or refuses every new pod. It happens after an upgrade of the plugin "
        "without its new ClusterRole, with a binding to another namespace, or with a stale "
        "kubeconfig.",
        confirm="kubectl auth can-i list nodes --as system:serviceaccount:NAMESPACE:ACCOUNT; "
        "kubectl get clusterrolebinding -o wide",
        fix="Apply the plugin's whole manifest of the version that runs, ClusterRole and binding "
        "included. For a stale token restart the agent's pod, which writes its kubeconfig again.",
        references="Kubernetes, Using RBAC Authorization; Calico, issues of the CNI plugin's token",
    ),
    MessageCheck(
        name="datapath-action-refused",
        title="the kernel's Open vSwitch refuses an action that its controller needs.",
        kinds=(Kind.DATAPATH_ACTION_REFUSED,),
        categories=(Category.KERNEL_MODULE, Category.KERNEL_BUG),
        claim=(
            "The kernel's openvswitch module refuses flows that user space needs ({error}), so "
            "their packets are dropped."
        ),
        values=(Value("error"),),
        breaks="what those flows were for: services and NAT especially",
        cure="run a kernel or module that fits the version of Open vSwitch",
        commands=("uname -r; modinfo openvswitch; ovs-vsctl --version",),
        what="`openvswitch: netlink: Flow actions may not be safe on all matching packets` or an "
        "unknown attribute: user space asked for a flow that the module of this kernel does not "
        "know or allow.",
        why="OVN's load balancers and NAT need ct with nat actions; an old or in-tree module lacks "
        "them, so the flow is never installed and its packets are dropped, while plain forwarding "
        "works.",
        confirm=(
            "dmesg | grep openvswitch; modinfo openvswitch; ovs-appctl dpctl/show; uname -r; "
            "ovs-vsctl --version"
        ),
        fix="Run a kernel whose openvswitch module has what the version of OVS and OVN needs, or "
        "install the module of that version.",
        references="net/openvswitch/flow_netlink.c; Open vSwitch FAQ, Releases",
    ),
    MessageCheck(
        name="kubelet-refuses",
        title="the kubelet does not start, and says why.",
        kinds=(Kind.KUBELET_REFUSES,),
        categories=(Category.OTHER, Category.APPLICATION),
        claim="The kubelet refuses to start: {error}.",
        values=(Value("error"),),
        breaks="every pod of the node",
        cure="fix what the kubelet names",
        commands=("journalctl -u kubelet -n 50",),
        what="Swap is on, the cgroup drivers of kubelet and runtime differ, the runtime's socket "
        "does not answer, a flag or file is not valid.",
        why=(
            "Without the kubelet the node starts no pod: the network agent, kube-proxy and "
            "everything else are missing."
        ),
        confirm="systemctl status kubelet; journalctl -u kubelet -n 50; swapon --show",
        fix=(
            "swapoff -a and remove it from /etc/fstab (zram too), or allow it; "
            "use one cgroup driver; fix the flag or file."
        ),
        references="Kubernetes, Troubleshooting kubeadm; kubelet, failSwapOn",
    ),
    MessageCheck(
        name="container-name-taken",
        title="a container of an earlier start keeps the name that a new one needs.",
        kinds=(Kind.NAME_TAKEN,),
        categories=(Category.OTHER,),
        claim="An old container keeps the name {container}, so the new one is not created.",
        values=(Value("container", names=("name",), default="of the new one"),),
        breaks="what that container should run",
        cure="remove the exited container",
        commands=("docker rm {container}",),
        what=(
            "`Conflict. The container name is already in use`: the runtime holds an exited "
            "container of that name."
        ),
        why="The kubelet or compose cannot create the new container, so what it should run stays "
        "away; refused connections are its shadow.",
        confirm="docker ps -a | grep NAME",
        fix="docker rm -f NAME of the exited container; find why it was not removed (a full disk, "
        "a daemon restarted on the way).",
        references="moby, daemon/names.go",
    ),
    MessageCheck(
        name="bpf-not-loaded",
        title="a BPF program of the network agent cannot be compiled or loaded.",
        kinds=(Kind.BPF_LOAD_FAILED,),
        categories=(Category.BPF, Category.CNI_AGENT, Category.KERNEL_BUG),
        claim=(
            "The network agent cannot load its BPF programs, so the ones that are missing carry no "
            "packet."
        ),
        breaks="pods and services whose programs are missing or old",
        cure=(
            "read why the verifier or the compiler refuses, and run a kernel that the agent "
            "supports"
        ),
        commands=("uname -r; mount -t bpf; bpftool prog",),
        certainty=0.7,
        settled_by=frozenset({Ground.ENDED, Ground.SAME_ERROR}),
        ask=FollowUp(
            fact="whether the programs were loaded at a later attempt",
            command="cilium status --verbose; cilium endpoint list; tc filter show dev DEV ingress",
            decides="endpoints that are not ready, devices without a program: it is the cause",
        ),
        what="`Unable to compile BPF program`, `Failed to load BPF`, an error of the "
        "verifier, or a BPF filesystem that is not mounted.",
        why="The kernel is older than the agent needs or lacks an option, the verifier of a new "
        "kernel refuses a program, /sys/fs/bpf is not mounted in the agent's container, or "
        "memory for maps is limited. Devices keep the old program or have none.",
        confirm=(
            "cilium status --verbose; kubectl -n kube-system logs AGENT-POD | grep -iA20 verifier; "
            "uname -r"
        ),
        fix="Take a version of kernel and agent that fit, mount the BPF filesystem (mount bpffs -t "
        "bpf /sys/fs/bpf), raise the limit of locked memory; then restart the agent.",
        references=(
            "Cilium, System requirements; Calico, Enable the eBPF data plane; kernel/bpf/verifier.c"
        ),
    ),
    MessageCheck(
        name="gateway-unreachable",
        title="a network agent waits for the gateway of its own network, which does not answer.",
        kinds=(Kind.GATEWAY_UNREACHABLE,),
        categories=(Category.TUNNEL_BLOCKED, Category.TUNNEL_CONFIGURATION, Category.CNI_AGENT),
        claim=(
            "The gateway {address} of the network between nodes and pods does not answer this node."
        ),
        values=(Value("address", default="of the agent"),),
        breaks="pods of the node: the agent starts none before the gateway answers",
        cure="find where the packets to the gateway end",
        certainty=0.4,
        ask=FollowUp(
            fact="where the packets to the gateway end",
            command=(
                "ip route get GATEWAY; ovs-vsctl show; ovs-appctl ofproto/trace br-int FLOW; "
                "ovn-sbctl show"
            ),
            decides="no route or device on the node: the agent; a chassis that is missing: its "
            "controller; packets that leave and do not arrive: the tunnel is blocked",
        ),
        what="`network not ready after 195 ping to gateway`, `failed to ping ovn0 gateway`: "
        "kube-ovn's agent asks the gateway of the join network by ICMP and gets no answer.",
        why="ovn-controller is not connected or has no flows, the module openvswitch does not fit, "
        "the tunnel (Geneve, UDP 6081) is blocked, or a firewall drops ICMP on ovn0. The agent "
        "exits and starts again.",
        confirm="ip addr show ovn0; ovs-vsctl show; ovn-sbctl show; dmesg -T | grep openvswitch",
        fix="Fix what the trace ends at: restart ovn-controller, open UDP 6081 between nodes, give "
        "the kernel a module that fits Open vSwitch.",
        references="kube-ovn, pkg/daemon/ovs.go; ovn-architecture(7)",
    ),
    MessageCheck(
        name="peers-seeded-apart",
        title="peers of Weave Net gave out addresses of two different beginnings.",
        kinds=(Kind.PEERS_INCONSISTENT,),
        categories=(Category.IPAM, Category.TUNNEL_CONFIGURATION),
        claim=(
            "Peers of Weave Net share out addresses of two different beginnings, so they refuse to "
            "connect."
        ),
        breaks="pods of the peers that refuse each other",
        cure="reset the peers that began by themselves",
        commands=("weave status ipam; weave status connections",),
        what="`IP allocation was seeded by different peers`: two parts of the network each believe "
        "that they have the whole range to give out.",
        why="Nodes that could not reach each other when they first started (or whose data was kept "
        "from an older cluster) each began an allocation. Peers that find out close their "
        "connection.",
        confirm=(
            "kubectl exec -n kube-system WEAVE-POD -c weave -- /home/weave/weave --local status "
            "connections"
        ),
        fix="On the nodes of the smaller part: delete /var/lib/weave/weave-netdata.db and restart "
        "weave (the pods there get new addresses). Let all nodes reach each other by TCP and "
        "UDP 6783 first.",
        references="Weave Net, IP addresses, routes and networks: the seed consensus",
    ),
    MessageCheck(
        name="plugin-crashes",
        title="a CNI plugin cannot run, or was killed.",
        kinds=(Kind.PLUGIN_CRASHED,),
        categories=(Category.CNI_PROGRAM, Category.RESOURCE_LIMIT),
        claim="A CNI plugin cannot run or ends without an answer{error}.",
        values=(Value("error", names=("error", "file"), frame=ASIDE),),
        breaks="every new pod of the node",
        cure="install the plugin for the right architecture, or give it what it lacks",
        what=(
            "The runtime gets no answer of the plugin: it was killed, it is a file of another "
            "architecture, it may not be executed."
        ),
        why=(
            "The runtime runs the plugin for each pod; without its answer the sandbox has no "
            "network."
        ),
        confirm="ls -l /opt/cni/bin; file /opt/cni/bin/*; dmesg | grep -i kill",
        fix=(
            "Install the plugins of the architecture of the node; fix rights; "
            "give the slice more memory."
        ),
        references="CNI specification, section 2",
    ),
    MessageCheck(
        name="plugin-fails",
        title="a CNI plugin fails for a pod.",
        kinds=(Kind.PLUGIN_FAILED,),
        categories=(
            Category.CNI_PROGRAM,
            Category.CNI_AGENT,
            Category.CNI_CONFIGURATION,
            Category.IPAM,
        ),
        claim="The CNI plugin{plugin} fails for a new pod: {error}.",
        values=(
            Value("plugin", names=("plugin", "network", "pod"), frame=ASIDE),
            Value("error", default="the log says why"),
        ),
        breaks="that pod: it stays in ContainerCreating",
        cure="fix what the innermost error names",
        certainty=0.6,
        ask=FollowUp(
            fact="what the plugin's agent says at that time",
            command=(
                "kubectl logs -n kube-system -l k8s-app=AGENT --tail=100; journalctl -u kubelet -u "
                "containerd"
            ),
            decides="its error names the cause",
        ),
        what="The runtime passes on what the plugin said when it was to set up a pod.",
        why="Without a network the sandbox of the pod is taken down and made again, and again.",
        confirm=(
            "kubectl describe pod POD; journalctl -u kubelet -u containerd; the log of the agent "
            "of the plugin"
        ),
        fix="Fix what the innermost error names.",
        references="CNI specification, errors",
    ),
    MessageCheck(
        name="program-missing",
        title="a program that the network needs is not installed.",
        kinds=(Kind.PROGRAM_MISSING,),
        categories=(Category.CNI_PROGRAM, Category.RULESET_FAILURE, Category.OTHER),
        claim="The program {program} is not installed where the network needs it.",
        values=(Value("program", default="iptables"),),
        breaks="what would run it: rules, tunnels, the whole network of containers",
        cure="install it, or fix PATH",
        commands=("command -v {program}",),
        certainty=0.7,
        settled_by=frozenset({Ground.ENDED}),
        ask=FollowUp(
            fact="whether what would run that program goes on without it",
            command=(
                "command -v iptables nft ip conntrack; the log of the component after that line"
            ),
            decides="it ends, or its rules are missing: it is the cause",
        ),
        what="`executable file not found in $PATH` for iptables, nft, conntrack and the like.",
        why=(
            "Engines, plugins and proxies run other programs; a slim image or a changed PATH lacks "
            "them."
        ),
        confirm="command -v iptables nft ip conntrack; echo $PATH",
        fix="Install the package (iptables, nftables, conntrack, slirp4netns, passt).",
        references="the manual of the engine",
    ),
    MessageCheck(
        name="ipv6-disabled",
        title="a container is to have an IPv6 address where IPv6 is switched off.",
        kinds=(Kind.FAMILY_DISABLED,),
        categories=(Category.IPV6, Category.SYSCTL),
        claim="An IPv6 address cannot be set{device}: IPv6 is switched off there.",
        values=(Value("device", frame=ASIDE),),
        breaks="the container, or its IPv6",
        cure="switch IPv6 on there, or take it out of the configuration of the network",
        what="`permission denied` for an IPv6 address, or `IPv6 is disabled on this device`.",
        why=(
            "net.ipv6.conf.*.disable_ipv6 is 1, or the kernel was booted with ipv6.disable=1: the "
            "kernel refuses the address with EACCES."
        ),
        confirm=(
            "sysctl net.ipv6.conf.all.disable_ipv6 net.ipv6.conf.default.disable_ipv6; "
            "cat /proc/cmdline"
        ),
        fix=(
            "sysctl -w net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0, or "
            "remove the IPv6 range."
        ),
        references="net/ipv6/addrconf.c, ipv6_add_addr",
    ),
    MessageCheck(
        name="lease-daemon-missing",
        title="the CNI plugin dhcp does not find its daemon.",
        kinds=(Kind.LEASE_DAEMON_MISSING,),
        categories=(Category.IPAM, Category.CNI_PROGRAM),
        claim="The CNI plugin dhcp does not reach its daemon{error}.",
        values=(Value("error", frame=ASIDE),),
        breaks="every pod whose addresses come by DHCP",
        cure="run the daemon: /opt/cni/bin/dhcp daemon",
        what="`error dialing DHCP daemon`.",
        why=(
            "The plugin dhcp asks a daemon at /run/cni/dhcp.sock for leases; nobody started it, or "
            "its socket is stale."
        ),
        confirm='ls -l /run/cni/dhcp.sock; pgrep -af "dhcp daemon"',
        fix="rm -f /run/cni/dhcp.sock; /opt/cni/bin/dhcp daemon, as a unit or DaemonSet.",
        references="cni.dev, plugins/ipam/dhcp",
    ),
    MessageCheck(
        name="namespace-gone",
        title="the network namespace of a pod is gone.",
        kinds=(Kind.NAMESPACE_GONE,),
        categories=(Category.CNI_PROGRAM, Category.OTHER),
        claim="The network namespace of a pod is gone{file}.",
        values=(Value("file", frame=ASIDE),),
        breaks="that pod",
        cure="let the pod be recreated",
        certainty=0.5,
        ask=FollowUp(
            fact="why the sandbox ended",
            command="crictl pods; journalctl -u containerd",
            decides="it was killed or the runtime was restarted: that is the cause",
        ),
        what="`failed to open netns`, `unknown FS magic`.",
        why=(
            "The sandbox ended, or the mount of its namespace was lost (a runtime that was "
            "restarted, /run cleaned)."
        ),
        confirm="lsns -t net; ls /run/netns /var/run/docker/netns; crictl pods",
        fix="Delete the pod; keep /run/netns mounted as shared.",
        references="namespaces(7)",
    ),
    MessageCheck(
        name="endpoint-left",
        title="the engine keeps an endpoint of a container that is gone.",
        kinds=(Kind.ENDPOINT_LEFT,),
        categories=(Category.OTHER, Category.IPAM),
        claim="The engine keeps an endpoint{name} that stands in the way.",
        values=(Value("name", names=("name", "network"), frame=ASIDE),),
        breaks="what is to have that name or take that network down",
        cure="disconnect the stale endpoint by force",
        certainty=0.7,
        ask=FollowUp(
            fact="which endpoints the network has",
            command="docker network inspect NETWORK",
            decides="one of no container: it is stale",
        ),
        what="`has active endpoints`, `endpoint with name ... already exists in network`.",
        why=(
            "A container was removed while the engine could not clean up, so its endpoint stayed "
            "in the store."
        ),
        confirm="docker network inspect NETWORK",
        fix=(
            "docker network disconnect -f NETWORK NAME; restart the engine where that does not "
            "help."
        ),
        references="docker network disconnect",
    ),
    MessageCheck(
        name="gateway-outside",
        title="the gateway of a container is not a neighbor of it.",
        kinds=(Kind.GATEWAY_OUTSIDE,),
        categories=(Category.NO_ROUTE, Category.CNI_CONFIGURATION, Category.SOURCE_ADDRESS),
        claim=(
            "The gateway {address} is in no network of the container, so no default route can be "
            "set."
        ),
        values=(Value("address", default="of the network"),),
        breaks="the container: it does not start, or has no way out",
        cure="give the network a gateway within its range",
        what="`route for the gateway ... could not be found`.",
        why="A default route needs a gateway that is on a link of the container.",
        confirm="docker network inspect NETWORK",
        fix="Make the network again with a gateway of its own range.",
        references="ip-route(8)",
    ),
    MessageCheck(
        name="cgroup-drivers",
        title="the kubelet and the container runtime use different cgroup drivers.",
        kinds=(Kind.CGROUP_DRIVERS_DIFFER,),
        categories=(Category.OTHER, Category.CNI_AGENT),
        claim=(
            "The kubelet and the container runtime use different cgroup drivers, so no sandbox is "
            "made."
        ),
        breaks="every pod of the node, the API server of a new cluster included",
        cure="set the same driver for both, systemd where systemd runs",
        commands=(
            (
                "containerd config dump | grep SystemdCgroup; grep cgroupDriver "
                "/var/lib/kubelet/config.yaml"
            ),
        ),
        what='`expected cgroupsPath to be of format "slice:prefix:name"` is runc\'s '
        "with systemd's driver, given a path of cgroupfs.",
        why=(
            "The kubelet names the cgroup of each pod in its own driver's form, which the runtime "
            "with another driver refuses."
        ),
        confirm="crictl info | grep -i cgroup; grep cgroupDriver /var/lib/kubelet/config.yaml",
        fix="SystemdCgroup = true in containerd's config.toml (or native.cgroupdriver=systemd for "
        "Docker) and cgroupDriver: systemd for the kubelet; restart both.",
        references="Kubernetes, Configuring a cgroup driver",
    ),
)
