"""Questions about network plugins: their configuration, agents, addresses and routes."""

from __future__ import annotations

from podpath.diagnosis.clues import TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

OWN = frozenset({
    Tech.FLANNEL, Tech.CALICO, Tech.CILIUM, Tech.WEAVE, Tech.KUBE_OVN, Tech.OVN_KUBERNETES,
    Tech.ANTREA, Tech.AWS_CNI, Tech.KUBE_ROUTER, Tech.OPENSHIFT_SDN,
})  # fmt: skip

PLAYS: tuple[Play, ...] = (
    Play(
        fact=(
            "which CNI configuration the runtime loads: the files of /etc/cni/net.d (conflist, "
            "valid JSON, which CNI comes first), and the programs"
        ),
        ask=(
            "ls -l /etc/cni/net.d /opt/cni/bin; cat /etc/cni/net.d/*.conf*; journalctl -u kubelet "
            "-u containerd --since '1 hour ago' | grep -i cni"
        ),
        decides=(
            (
                "none, an invalid one, or one of another plugin that sorts first: pods are not "
                "wired by the plugin in use"
            ),
            "correct: the agent and its log next",
        ),
        signs={
            Kind.NOT_STARTED: 4,
            Tech.CNI: 3,
            Tech.KUBELET: 1,
            Tech.MULTUS: 1,
            Tech.WEAVE: 2,
            Kind.NO_ADDRESS: 1,
            Tech.UPGRADE: 1,
        },
        needs=frozenset({Kind.NOT_STARTED, Tech.CNI, Tech.MULTUS}),
        held=frozenset({AnsweringOutput.CNI_FILES}),
    ),
    Play(
        fact="the plugin's agent on that node: whether it runs, and what it logs",
        ask=(
            "kubectl get pods -A -o wide | grep -e calico -e cilium -e flannel -e weave -e ovn; "
            "kubectl -n kube-system logs POD --tail=100; kubectl describe pod POD"
        ),
        decides=(
            (
                "CrashLoopBackOff or errors (RBAC, API server out of reach, missing device): pods "
                "there are not wired"
            ),
            "running without errors: the data path",
        ),
        signs={
            Kind.NOT_STARTED: 3,
            Tech.CRASH_LOOP: 2,
            **dict.fromkeys(OWN, 1),
            TrafficKind.OTHER_NODE: 1,
            Tech.NETWORK_POLICY: 1,
        },
        needs=OWN | {Kind.NOT_STARTED},
    ),
    Play(
        fact="the address of the bridge against the node's range: cni0, subnet.env, podCIDR",
        ask=(
            "ip addr show cni0; cat /run/flannel/subnet.env; kubectl get nodes -o "
            "custom-columns=NAME:.metadata.name,CIDR:.spec.podCIDR"
        ),
        decides=(
            "cni0 has a different range than podCIDR or subnet.env: a leftover; delete the bridge",
            "the same: the sandbox's log",
        ),
        signs={Kind.NOT_STARTED: 3, Tech.FLANNEL: 2, Tech.BRIDGE: 1, Tech.IPAM: 2},
        needs=frozenset({Kind.NOT_STARTED, Tech.IPAM}),
    ),
    Play(
        fact=(
            "addresses given out and left: host-local's files, leaked or reserved ones, pools and "
            "their size"
        ),
        ask=(
            "ls /var/lib/cni/networks/*; kubectl get ippools,ipamblocks -A; calicoctl ipam show "
            "--show-blocks; kubectl describe node | grep -i -e podcidr -e allocat; "
            "cilium status | grep IPAM"
        ),
        decides=(
            "files of pods that are gone, or no address left: leaked reservations",
            "a different range than planned: ipam mode (cluster-pool, kubernetes) decides",
        ),
        signs={
            Kind.NO_ADDRESS: 4,
            Tech.IPAM: 4,
            Tech.MULTUS: 3,
            Kind.NOT_STARTED: 2,
            Tech.AWS_CNI: 1,
        },
        needs=frozenset({Tech.IPAM, Tech.MULTUS, Kind.NO_ADDRESS, Kind.NOT_STARTED}),
    ),
    Play(
        fact=(
            "why the kubelet or node is not ready: its own log (swap, cgroup driver, certificate, "
            "container name in use)"
        ),
        ask=(
            "journalctl -u kubelet -n 100; cat /proc/swaps; docker ps --all; crictl ps --all; "
            "kubectl describe node"
        ),
        decides=(
            "swap is on, wrong cgroup driver, expired certificate: it exits at once",
            "an Exited container holds the name: remove it",
        ),
        signs={
            Kind.NOT_STARTED: 3,
            Tech.KUBELET: 3,
            Tech.RESTART: 1,
            Tech.UPGRADE: 2,
            Tech.CRASH_LOOP: 1,
        },
        needs=frozenset({Kind.NOT_STARTED}),
    ),
    Play(
        fact=(
            "what flannel is allowed and has: privileged securityContext, /dev/net/tun, "
            "backend, annotations, its interface (--iface)"
        ),
        ask=(
            "kubectl -n kube-flannel logs -l app=flannel --tail=50; kubectl -n kube-flannel get ds "
            "-o yaml | grep -A8 securityContext; ls -l /dev/net/tun; kubectl get nodes -o yaml | "
            "grep flannel; ip -d link show flannel.1"
        ),
        decides=(
            "not privileged: it cannot open the tun device",
            "public-ip of the wrong interface: packets go to the wrong network",
            "different backends: nodes do not understand each other",
        ),
        signs={
            Tech.FLANNEL: 4,
            Kind.NOT_STARTED: 1,
            Tech.CRASH_LOOP: 2,
            TrafficKind.OTHER_NODE: 2,
            Tech.K3S: 1,
        },
        needs=frozenset({Tech.FLANNEL}),
    ),
    Play(
        fact=(
            "Calico: BGP and node status, IPPools with their mode, workload endpoints, Felix' log, "
            "ipsets of policies"
        ),
        ask=(
            "calicoctl node status; calicoctl get ippool -o yaml; calicoctl get workloadendpoint "
            "-A; kubectl -n kube-system logs -l k8s-app=calico-node --tail=100; "
            "ip route | grep -e bird -e blackhole"
        ),
        decides=(
            "a peer not Established: its routes are missing",
            "no workload endpoint for the pod: it was made by another CNI; recreate it",
            "IPIP or VXLAN mode against the network: CrossSubnet",
        ),
        signs={
            Tech.CALICO: 4,
            TrafficKind.OTHER_NODE: 1,
            Tech.BGP: 2,
            Tech.NETWORK_POLICY: 2,
            Kind.NOT_STARTED: 1,
        },
        needs=frozenset({Tech.CALICO}),
    ),
    Play(
        fact=(
            "Cilium: status, service and backend maps, drops, kube-proxy replacement and socket LB "
            "(k8sServiceHost, hostNamespaceOnly)"
        ),
        ask=(
            "cilium status --verbose; cilium service list; cilium bpf lb list; "
            "cilium monitor --type drop; kubectl -n kube-system get cm cilium-config -o yaml; "
            "cilium version"
        ),
        decides=(
            "a service or backend is missing or stale in the map: it is not translated",
            "a drop names its reason",
            "socketLB answers in the pod: a cached name or socket keeps the old backend",
        ),
        signs={Tech.CILIUM: 6, TrafficKind.TO_SERVICE: 1, Tech.BPF: 1},
        needs=frozenset({Tech.CILIUM}),
    ),
    Play(
        fact=(
            "BPF programs and maps in the kernel: cgroup and socket attachments (bpf-lb-sock), "
            "cilium_lb4_services, tc and XDP"
        ),
        ask=(
            "bpftool cgroup tree; bpftool map dump pinned "
            "/sys/fs/bpf/tc/globals/cilium_lb4_services_v2; "
            "bpftool net; bpftool prog show"
        ),
        decides=(
            (
                "a program of an earlier installation, or two of them: it rewrites the address in "
                "connect()"
            ),
            "one, with correct maps: look elsewhere",
        ),
        signs={Tech.BPF: 4, Tech.CILIUM: 3, TrafficKind.TO_SERVICE: 2},
        needs=frozenset({Tech.BPF, Tech.CILIUM}),
    ),
    Play(
        fact=(
            "how Cilium treats the source: masquerade, ipv4/ipv6-native-routing-cidr, bpf nat "
            "list, identity of the peer"
        ),
        ask=(
            "kubectl -n kube-system get cm cilium-config -o yaml | grep -e masquerade -e "
            "native-routing; cilium bpf nat list | grep {address}; cilium identity list; "
            "cilium monitor --type policy-verdict"
        ),
        decides=(
            "the pod's address is masqueraded between nodes: policies see the node's identity",
            "it is not: look at the policy itself",
        ),
        signs={
            Tech.CILIUM: 3,
            Tech.NETWORK_POLICY: 4,
            TrafficKind.OTHER_NODE: 1,
            Kind.WRONG_PEER: 2,
            Tech.IPV6: 1,
        },
        needs=frozenset({Tech.CILIUM}),
    ),
    Play(
        fact=(
            "OVN: ports of br-int, their iface-id and port binding, logical flows (lflow), the "
            "join network's gateway ovn0"
        ),
        ask=(
            "ovs-vsctl show; ovs-vsctl --columns=name,external_ids list interface; ovn-sbctl show; "
            "ovn-sbctl lflow-list; ip addr show ovn0; ovs-ofctl dump-flows br-int"
        ),
        decides=(
            "no port or another iface-id: the port binding is missing",
            "bound: follow the flow with ovn-trace",
        ),
        signs={Tech.KUBE_OVN: 7, Tech.OVN_KUBERNETES: 6, Tech.OPENSTACK: 1, Tech.SRIOV: 1},
        needs=frozenset({Tech.KUBE_OVN, Tech.OVN_KUBERNETES}),
    ),
    Play(
        fact=(
            "the AWS CNI: ipamd's log, secondary interfaces, ip rules per pod, "
            "AWS_VPC_K8S_CNI_EXTERNALSNAT, source/destination check"
        ),
        ask=(
            "kubectl -n kube-system logs -l k8s-app=aws-node --tail=100; ip rule; "
            "ip route show table all; kubectl -n kube-system describe ds aws-node | grep AWS_VPC; "
            "aws ec2 describe-network-interfaces"
        ),
        decides=(
            "no rule or table for the pod's interface: answers leave through the wrong one",
            "no free addresses: ipamd's limits",
        ),
        signs={Tech.AWS_CNI: 6},
        needs=frozenset({Tech.AWS_CNI}),
    ),
    Play(
        fact=(
            "the additional network: its NetworkAttachmentDefinition, parent device, and what "
            "Multus logged for the pod"
        ),
        ask=(
            "kubectl get net-attach-def -A -o yaml; kubectl describe pod {pod}; "
            "kubectl -n kube-system logs -l app=multus --tail=50; ip -d link"
        ),
        decides=(
            "invalid or another parent: that interface is not made",
            "correct: its IPAM",
        ),
        signs={Tech.MULTUS: 5, Tech.SRIOV: 2, Tech.MACVLAN: 1},
        needs=frozenset({Tech.MULTUS}),
    ),
    Play(
        fact="BGP sessions and the routes that they carry",
        ask=(
            "calicoctl node status; birdcl show protocols; vtysh -c 'show bgp summary'; "
            "ip route show proto bird; ss -tn | grep :179"
        ),
        decides=(
            "not Established: port 179, AS number or source address",
            "Established: filters and next hops",
        ),
        signs={Tech.BGP: 3, Tech.KUBE_ROUTER: 4, Tech.CALICO: 1, Tech.METALLB: 1},
        needs=frozenset({Tech.BGP, Tech.KUBE_ROUTER}),
    ),
    Play(
        fact=(
            "the swarm's overlay: its nodes, data path port, the overlay network's peers, checksum "
            "offload of the VMs"
        ),
        ask=(
            "docker node ls; docker network inspect -v NETWORK; tcpdump -nn -vv -i {device} udp "
            "port 4789; ethtool -k {device} | grep tx-checksum; nsenter --net=/run/docker/netns/ID "
            "ip addr"
        ),
        decides=(
            "VXLAN packets arrive with a bad checksum: turn the offload off",
            "they do not arrive: firewall, or ESXi's own 4789",
        ),
        signs={Tech.SWARM: 5, TrafficKind.OTHER_NODE: 1, Tech.ESXI: 2, Tech.KVM: 1},
        needs=frozenset({Tech.SWARM}),
    ),
    Play(
        fact=(
            "the state of containers and their networks: which run, with which address, network "
            "and published ports"
        ),
        ask=(
            "docker ps --all; docker inspect NAME; docker network ls; docker network inspect "
            "NETWORK; docker info | grep -i warning; journalctl -u docker -n 100"
        ),
        decides=(
            "not in the network, or with another address: recreate it",
            "a warning of the daemon names what is off (bridge-nf-call-iptables, IPv4 forwarding)",
        ),
        signs={Tech.DOCKER: 2, Tech.NODE_PORT: 1, TrafficKind.POD_TO_POD: 1},
        needs=frozenset({Tech.DOCKER}),
    ),
)
