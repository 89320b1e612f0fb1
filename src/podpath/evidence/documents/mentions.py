"""Which software, devices and clouds a text speaks of, prose and outputs alike: one table of words.

A mention is not evidence of anything; it tells which commands are worth asking for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.net.technologies import Technology

LOOKED_AT = 1 << 16
"""Characters of a text that are looked at: what a ticket is about stands near its beginning."""


class _TechnologyWords(NamedTuple):
    """A technology and the words for it."""

    technology: Technology
    pattern: re.Pattern[str]


def _row(technology: Technology, words: str) -> _TechnologyWords:
    return _TechnologyWords(
        technology, re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", re.IGNORECASE)
    )


_THING = (
    r"(?:ip(?:v[46])?|address(?:es)?|routes?|gateways?|(?:iptables |firewall |nat |policy |"
    r"ip )?rules?|leases?|default|interfaces?|devices?|bridges?|settings?|configuration|sysctls?|"
    r"values?|resolv\.conf|name ?servers?|mac|mtu)"
)
"""What a host is configured with."""
_GOES = (
    r"(?:vanish(?:es|ed)?|disappear(?:s|ed)?|(?:is|are|was|were|gets?|got|has|have|been|keeps?) "
    r"(?:\S+ )?(?:gone|lost|removed|deleted|reset|reverted|flushed|wiped|overwritten|missing|"
    r"dropped|cleared|replaced|getting \S+ed)|expires?|expired|go(?:es)? away|(?:does|do|did)"
    r"(?: not|n't) (?:survive|persist|stay|stick)|reverts?|"
    r"no longer (?:there|set|present)|comes? back|re-?appears?)"
)
_LOSES = (
    r"(?:los(?:es?|t|ing)|forget(?:s|ting)?|drops?|remov(?:es?|ed|ing)|delet(?:es?|ed"
    r"|ing)|overwrit(?:es?|ten)|flush(?:es|ed)?)"
)
_WITHOUT = (
    r"(?:no longer (?:has|have) (?:an? |its |the )?|without (?:an? |its |any )|"
    r"gets? (?:an? |its own ))"
)
_T = Technology
MENTIONS: tuple[_TechnologyWords, ...] = (
    _row(_T.FLANNEL, r"flannel(?:d|\.\d+)?|kube-flannel"),
    _row(_T.CALICO, r"calico(?:-node|ctl)?|felix|vxlan\.calico|cali[0-9a-f]{11}|canal|tigera|"
                    r"bird6?"),
    _row(_T.CILIUM, r"cilium\w*|hubble|lxc[0-9a-f]{12}"),
    _row(_T.WEAVE, r"weave(?:-?net|works)?"),
    _row(_T.KUBE_ROUTER, r"kube-router"),
    _row(_T.KUBE_OVN, r"kube-?ovn(?:-\w+)?"),
    _row(_T.OVN_KUBERNETES, r"ovn-?k(?:8s|ubernetes)?|ovnkube(?:-\w+)?|ovn-(?:sb|nb)ctl"),
    _row(_T.OPENSHIFT_SDN, r"openshift-?sdn"),
    _row(_T.ANTREA, r"antrea(?:-\w+)?"),
    _row(_T.AWS_CNI, r"aws-node|aws-?(?:vpc-)?cni|vpc[- ]cni|ipamd|aws-k8s-agent"),
    _row(_T.MULTUS, r"multus|network-?attachment-?definitions?|net-attach-def|whereabouts"),
    _row(_T.CNI, r"cni\d*|networkplugin(?:notready)?|network plugin|/etc/cni/net\.d"),
    _row(_T.DOCKER, r"docker\w*|libnetwork|moby"),
    _row(_T.SWARM, r"(?:docker )?swarm|docker_gwbridge|docker (?:stack|service) \w+"),
    _row(_T.PODMAN, r"podman\d*|netavark|aardvark(?:-dns)?|cni-podman\d*"),
    _row(_T.LXC, r"lxc|lxd(?:br\d+)?|lxcbr\d+|incus(?:br\d+)?"),
    _row(_T.KUBERNETES, r"kubernetes|k8s|kubectl|kubeadm|kube-system|pods?"),
    _row(_T.KUBELET, r"kubelets?"),
    _row(_T.K3S, r"k3s|rke2?|k3d"),
    _row(_T.TALOS, r"talos(?:ctl)?"),
    _row(_T.OPENSTACK, r"openstack|neutron|nova|octavia|packstack"),
    _row(_T.FIREWALLD, r"firewalld|firewall-cmd|(?:IN|FWD[OI]?|FWD)_public\w*"),
    _row(_T.UFW, r"ufw(?:6?-[\w-]+)?"),
    _row(_T.IPTABLES, r"iptables(?:-\w+)?|ip6tables|xtables"),
    _row(_T.NFTABLES, r"nft|nftables?|nf_tables"),
    _row(_T.NETWORK_POLICY, r"(?:global)?network ?polic(?:y|ies)|netpol(?:s)?|ciliumnetworkpolic"
                            r"(?:y|ies)|cnp|ccnp"),
    _row(_T.CONNTRACK, r"(?:nf_)?conntrack\w*|\[UNREPLIED\]|\[ASSURED\]"),
    _row(_T.KUBE_PROXY, r"kube-?prox(?:y|ies)"),
    _row(_T.IPVS, r"ipvs|ipvsadm|kube-ipvs0|ip_vs\w*|lvs|keepalived lvs"),
    _row(_T.COREDNS, r"core-?dns|kube-?dns|corefile"),
    _row(_T.NODE_LOCAL_DNS, r"node-?local-?dns\w*|169\.254\.20\.10|169\.254\.25\.10"),
    _row(_T.DNS, r"dns|names?(?: server)?s?|resolv\w*|nslookup|dig|nxdomain|servfail|lookups?|"
                 r"host ?names?"),
    _row(_T.METALLB, r"metallb|speakers?|l2advertisements?|kube-vip"),
    _row(_T.INGRESS, r"ingress(?:-nginx)?|traefik|nginx"),
    _row(_T.ISTIO, r"istio\w*|istiod|pilot-agent|ztunnel|bookinfo|destination ?rules?|virtual "
    r"?services?|peerauthentications?"),
    _row(_T.LINKERD, r"linkerd\w*"),
    _row(_T.ENVOY, r"envoy|sidecars?|upstream_reset\w*|response_flags|(?:no healthy upstream)"),
    _row(_T.KEEPALIVED, r"keepalived\w*|vrrp\w*|vrid|virtual_router_id"),
    _row(_T.HAPROXY, r"haproxy|f5|big-?ip|traffic director"),
    _row(_T.NODE_PORT, r"node ?ports?|host ?ports?|publish(?:ed|es)?|port mappings?"),
    _row(_T.WEBHOOK, r"webhooks?|admission"),
    _row(_T.VXLAN, r"vxlan\w*|4789|8472|overlay|vtep|vni"),
    _row(_T.GENEVE, r"geneve\w*|genev_sys\w*|6081"),
    _row(_T.IPIP, r"ipip\w*|tunl0|ip-in-ip|ipencap"),
    _row(_T.WIREGUARD, r"wireguard|wg\d*|wg-quick|nordlynx|tailscale\d*"),
    _row(_T.IPSEC, r"ipsec|xfrm\w*|strongswan|libreswan"),
    _row(_T.OPENVPN, r"openvpn|tun\d+|vpn(?:s)?"),
    _row(_T.GRE, r"gre|gretap\d*|gue|gwlb|gwi-\S*"),
    _row(_T.VLAN, r"vlans?(?: ?\d+)?|802\.1q|vlan-id|trunk(?:s|ed)?"),
    _row(_T.BOND, r"bond(?:s|ing)?\d*|lacp|802\.3ad|team\d+"),
    _row(_T.BRIDGE, r"bridges?|br\d+|cni0|docker0|cbr0|vmbr\d+|brctl|virbr\d+|br-\w+"),
    _row(_T.OPEN_VSWITCH, r"open ?v(?:irtual )?switch|ovs(?:-\w+)?|br-int|br-tun|br-ex"),
    _row(_T.MACVLAN, r"macvlan\d*|macvtap\d*|mvlan\d*"),
    _row(_T.IPVLAN, r"ipvlan\d*"),
    _row(_T.SRIOV, r"sr-?iov|virtual functions?|vfs?|switchdev|dpdk"),
    _row(_T.VRF, r"vrfs?"),
    _row(_T.BGP, r"bgp|frr|peers?"),
    _row(_T.DHCP, r"dhcp(?:v?[46]|d|cd|client|discover|offer|ack|request|nak)?|leases?|"
                  r"dhclient(?:3)?|udhcpc"),
    _row(_T.ARP, r"arp\w*|who-has|neighbou?rs?"),
    _row(_T.IPV6, r"ipv6|ip -6|inet6(?! (?:addr: ?)?(?:fe80:|::1))|ip6tables|dual-?stack|icmp6|"
                  r"AAAA"),
    _row(_T.MULTICAST, r"(?<![<,])(?<!running )(?<!broadcast )multicast|mdns|igmp|"
    r"(?<![<,])(?<!up )broadcasts?(?! running| multicast|:| \d)"),
    _row(_T.TLS, r"tls|ssl|https|client hello|handshakes?"),
    _row(_T.UDP, r"udp|datagrams?|syslog|statsd|sip"),
    _row(_T.QUIC, r"quic|http/?3|cloudflared"),
    _row(_T.BPF, r"e?bpf\w*|xdp|bpftool|sockmap|socketlb|socket-?lb"),
    _row(_T.ESXI, r"esxi?|vmware|vsphere|vmxnet3|vcenter|nsx(?:-t)?"),
    _row(_T.PROXMOX, r"proxmox|pve\w*|vmbr\d+"),
    _row(_T.HYPER_V, r"hyper-?v|hv_netvsc"),
    _row(_T.VIRTUALBOX, r"virtualbox|vbox\w*|vagrant|10\.0\.2\.15"),
    _row(_T.KVM, r"kvm|qemu|libvirt\w*|virbr\d+|virtio\w*|multipass"),
    _row(_T.AWS, r"aws|ec2|eks|amazon|vpc|elb|nlb|gwlb|ip-\d+-\d+-\d+-\d+|compute\.internal"),
    _row(_T.AZURE, r"azure|aks|nsg"),
    _row(_T.GCP, r"gcp|gke|google cloud|gcloud|gce"),
    _row(_T.ALIBABA, r"alibaba|aliyun|ack cluster|terway"),
    _row(_T.TENCENT, r"tencent|tke"),
    _row(_T.ORACLE_CLOUD, r"oracle cloud|oci|oke"),
    _row(_T.HETZNER, r"hetzner\w*"),
    _row(_T.DIGITAL_OCEAN, r"digital ?ocean|droplets?"),
    _row(_T.CLONE, r"clon(?:e|es|ed|ing)|same (?:\S+ ){0,3}(?:image|template)|from a template|"
                   r"machine-id|duid"),
    _row(_T.NETWORK_MANAGER, r"network-?manager\w*|nmcli|nmtui|(?:systemd-)?networkd\S*|networkctl|"
                             r"wicked\w*|ifupdown2?|udev(?:adm|d)?|connman\w*|dhcpcd|if(?:up|down)|"
                             r"ifup-\S+|network-scripts|ifcfg(?:-\S+)?|(?:/etc/)?init\.d/network"
                             r"(?:ing)?|(?:systemctl|service) (?:re)?start network(?:ing)?|nm-\w+|"
                             r"\.network files?"),
    _row(_T.NETPLAN, r"netplan|/etc/network/interfaces|cloud-?init|cloud-netconfig|eni config"),
    _row(_T.RESTART, r"(?:re)?boot(?:s|ed|ing)?|restart(?:s|ed|ing)?|"
    r"(?:after|every|within) (?:about |some |a |an |few |\d+ )*(?:time|while|hours?|days?|minutes?|"
    r"night)|recreated?|power (?:cycle|outage|failure)|overnight|suspend\w*|resume[sd]?"),
    _row(_T.UPGRADE, r"upgrad(?:e|es|ed|ing)|updat(?:e|es|ed|ing)|since version|downgraded?"),
    _row(_T.LOAD, r"(?:high|heavy|under|great|more|much) (?:\S+ )?(?:load|traffic|requests)|"
                  r"at peak|load tests?|stress|per second|"
    r"concurren\w+|busy|many connections|masscan|benchmark\w*|"
                  r"peak(?:s)?|waves?|backlog|ephemeral|cannot assign requested address|"
                  r"address already in use"),
    _row(_T.LARGE, r"large(?:r)?|big(?:ger)? (?:answers?|packets?|files?|responses?)|"
                   r"mtu(?!:\d|[ =]\d+ *(?:qdisc|metric|index|\n|$))|mss|fragment\w*|bytes "
    r"or more|"
                   r"downloads?|docker pull|uploads?|client hello"),
    _row(_T.HTTP_ERROR, r"(?:http(?:/\d(?:\.\d)?)?|status(?: code)?|code|returns?|error|answers?|"
                        r"with|gets?) ?[:=]? ?(?:an? )?(?:40[0-9]|42[0-9]|431|50[0-5])s?|"
                        r"50[0234]s?|[45]xx|bad (?:gateway|request)|service unavailable|"
                        r"gateway time-?out|upstream\w*|empty reply|too large|protocol error"),
    _row(_T.SECOND_INTERFACE, r"(?:two|second|several|multiple|both|other|additional) (?:network "
    r")?(?:nics?|interfaces?|cards?|"
                              r"network cards?|network interfaces?)|eth1|ens\d+f1|multi-?homed|"
                              r"secondary (?:nic|interface|eni)"),
    _row(_T.MAC_ADDRESS, r"mac(?: address(?:es)?|s)|promisc\w*|port security|spoof\w*|forged"),
    _row(_T.CHECKSUM, r"checksums?|cksum|tx-checksum\S*|offload\w*"),
    _row(_T.OWN_SERVICE, r"its own (?:service|public|external)\b.*|itself|hairpin\w*|"
                         r"own (?:public|external) (?:address|ip|url)"),
    _row(_T.LOCALHOST, r"(?<!@)localhost|(?<!inet )(?<!addr:)127\.0\.0\.1(?!/\d)|"
                       r"(?<![<,:0])::1(?!/\d)|(?<!<)(?<!link/)(?<!local )loopback(?! 00|\))"),
    _row(_T.EXTERNAL_NAME, r"(?:external|internal|public|private|outside|corporate|company|certain|"
                           r"some|local) (?:host ?|domain ?|dns ?)*(?:names?|domains?|dns|hosts?|"
                           r"zones?|records?)|names outside|upstreams?(?: dns| servers?)?|"
    r"(?:only|just) (?:\S+ ){0,3}(?:domains?|names?|zones?|cluster\.local)|forwarders?|"
    r"stub ?domains?|split[- ]horizon|resolves? (?:\S+ )?(?:google|github|example)\S*|own domain"),
    _row(_T.STORAGE, r"iscsi\w*|nfs|longhorn|ceph|portworx|rook"),
    _row(_T.CERTIFICATE, r"certificates?|x509|mtls|secret(?:s)? discovery|sds|tls mode"),
    _row(_T.CRASH_LOOP, r"crash-?loop\w*|crash(?:es|ed|ing)|panics?|back-?off restarting|"
                        r"keeps? (?:restarting|crashing)|exits?(?: code)?|oomkilled|does not "
    r"(?:start|come) up"),
    _row(_T.IPAM, r"ipam|host-local|no ip addresses|range (?:is )?full|address "
    r"pool\w*|ippools?|podcidrs?|pod-?cidr|pod range"),
    _row(_T.TRAFFIC_POLICY_LOCAL, r"(?:external|internal)trafficpolicy\W{0,4}local|"
                                  r"traffic ?policy"),
    _row(_T.HARDWARE, r"e1000e?|igb|ixgbe|i40e|r8169|tg3|bnxt\w*|mlx[45]\w*|realtek|hardware unit "
    r"hang|firmware|nic|network cards?"),
    _row(_T.THROUGHPUT, r"throughput|[mgk]b(?:it)?/s|bandwidth|slow(?:er|ly)?|latency|iperf3?"),
    _row(_T.VANISHES, rf"{_THING} (?:\S+ ){{0,6}}{_GOES}|{_LOSES} (?:\S+ ){{0,3}}{_THING}|"
                      rf"{_WITHOUT}{_THING}"),
    _row(_T.RENAMED, r"renam(?:e|ed|es|ing)|(?:70-)?persistent-net(?:\.rules)?|iftab|"
                     r"net\.ifnames\S*|biosdevname|predictable (?:network )?(?:interface )?names?|"
                     r"(?:interface|card|device|nic)s? (?:\S+ ){0,2}"
                     r"(?:names? )?(?:swap(?:s|ped)?|chang(?:e|es|ed)|switched|moved)|"
                     r"(?:eth|en[ospx])\w+ (?:is |was |has |came |comes |shows )?(?:now |up |"
                     r"become |became |turned |back )*(?:as |into |to )?(?:eth|en[ospx])\w+|"
                     r"only (?:has |have |sees? |finds? )?eth[1-9]"),
    _row(_T.LIMIT, r"too many (?:\S+ )?(?:open files|files|connections|processes|references|"
                   r"sockets|tasks|watches)|e(?:mfile|nfile|nobufs|nomem|again)|cannot allocate "
                   r"memory|out of memory|oom(?:-?kill\w*)?|no buffer space(?: available)?|"
                   r"resource temporarily unavailable|no space left on device|"
                   r"u?limit(?:s|ed)?(?: reached| exceeded| -n)?|limitnofile|rlimit\w*|nofile|"
                   r"exhaust(?:s|ed|ion)?|leak(?:s|ed|ing)?|file descriptors?|somaxconn|backlog|"
                   r"(?:queue|table|buffer)s? (?:is |are |was )?(?:full|overflow\w*)|"
                   r"overflow(?:s|ed)?|cannot fork|pthread_create|"
                   r"after (?:\S+ )?(?:some |a few |several |many |\d+ )?(?:days|weeks)(?: of)?"
                   r"(?: uptime)?"),
    _row(_T.DUPLICATE, r"duplicat(?:e|es|ed)|dup!?|(?:ip|address|mac) (?:address )?(?:conflicts?|"
                       r"collisions?|clash(?:es)?)|conflict(?:s|ing)? (?:ip|address|mac)\S*|"
                       r"the same (?:ip|mac|address)(?: address)?|(?:ip|address) "
                       r"(?:is )?(?:already )?(?:in use|taken|used) (?:by|twice|elsewhere)|"
                       r"flap(?:s|ped|ping)?|flip-?flop(?:s|ping)?|moved from \S+ to|"
                       r"two (?:hosts|machines|macs|nodes|pods) (?:\S+ ){0,3}(?:answer|claim|share|"
                       r"own|have|with) ?(?:\S+ ){0,3}(?:the same|it|one)?|arping"),
    _row(_T.SOURCE_LOST, r"(?:real|original|true|actual|external) (?:client|source|remote|user|"
                         r"visitor|sender)\S*|(?:client|source|remote|src)'?s? (?:ip|address|addr)"
                         r"(?:es|s)?|remote_addr|x-forwarded-for|x-real-ip|(?:come|comes|coming|"
                         r"appear|appears|seen|arrive|arrives|logged) (?:to come )?(?:as )?from "
                         r"(?:the )?(?:node|host|gateway|bridge|docker0|cni0|firewall|router)\S*|"
                         r"(?:snat|masquerad)(?:s|t?ed|ing|e)?"),
    _row(_T.ACROSS, r"(?:across|between|other|another|different|second|remote|peered|cross)[- ]"
                    r"(?:two |the |availability )*(?:zones?|az|azs|subnets?|vpcs?|regions?|vnets?|"
                    r"vlans?|data ?cent(?:er|re)s?|racks?|accounts?|projects?)|"
                    r"availability zones?|vpc peering|transit gateway|route tables?|"
                    r"same (?:zone|subnet|az|vpc|region)"),
    _row(_T.HEALTH_CHECK, r"health[- ]?checks?|target groups?|unhealthy (?:targets?|hosts?|"
                          r"backends?|instances?|members?)|(?:targets?|backends?|instances?|"
                          r"members?) (?:\S+ ){0,3}(?:unhealthy|outofservice|out of service)|"
                          r"healthchecknodeport|healthz|backend pools?"),
    _row(_T.MODULE, r"modprobe|insmod|lsmod|kernel modules?|modules?\.(?:dep|builtin)|"
                    r"module (?:\S+ )?(?:not found|missing)|unknown symbol|(?:self-?built|custom|"
                    r"own|compiled|mainline|vanilla) kernels?|(?:protocol|operation|"
                    r"address family) not supported|menuconfig|dkms|config_\w+"),
    _row(_T.CABLE, r"cables?|cabling|link (?:light|led)s?|leds?|auto-?negotiat\w*|"
                   r"(?:half|full)[- ]duplex|10 ?mb(?:it)?(?:/s|ps)?|"
                   r"10baset?|no[- ]carrier|no link|link is down|crossover|switch ports?|"
                   r"patch panel|sfp\+?|mii-tool"),
    _row(_T.SCRIPT, r"(?:shell|bash|own|boot|start(?:up)?|up|init) scripts?|scripts?|crontab|"
                    r"ip-up(?:\.d)?|rc\.local|\S+\.sh"),
    _row(_T.FILTERED, r"refus(?:e|es|ed|al)|reject(?:s|ed|ing)?|block(?:s|ed|ing)?|prohibit\w*|"
                      r"filter(?:s|ed|ing)?|firewalls?\w*|not permitted|eperm|(?:open(?:ed|ing)?|"
                      r"clos(?:e|ed|ing)) (?:the |a )?(?:\S+ )?ports?|"
                      r"ports? (?:\d+ )?(?:(?:is|are) )?(?:open|closed|blocked|filtered)|"
                      r"drop(?:s|ped|ping)? (?:\S+ ){0,2}(?:packets?|traffic|connections?)|"
                      r"policy drop|(?:iptables|nft) rules?|whitelist\w*|"
                      r"docker-user"),
    _row(_T.AFTER_DEPLOY, r"(?:after|since|following|once|during|with) (?:\S+ ){0,4}"
                          r"(?:deploy(?:s|ed|ing|ment)?|roll-?outs?|rolling update|release|"
                          r"redeploy\w*|new (?:version|image|build|revision)|helm \w+|"
                          r"config(?:uration)? change)"),
    _row(_T.NODE_RUNTIME, r"kubeadm (?:init|join|upgrade)|crictl|containerd|cri-o|crio|"
                          r"sandbox(?:es)?|cgroups?|cgroup-?driver|systemdcgroup|static pods?|"
                          r"pleg"),
)  # fmt: skip
"""In the order of `Technology`."""


def find_mentions(text: str) -> frozenset[Technology]:
    """Return what a text speaks of. Never raises."""
    head = text[:LOOKED_AT]
    return frozenset(row.technology for row in MENTIONS if row.pattern.search(head) is not None)
