"""Names of programs that people type when a network fails, and what stands behind them in a command
and not in a sentence.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import asked_object, parse_command
from podpath.evidence.documents.prose import reads_as_prose

PROGRAMS = frozenset(
    """ip tc bridge ss rtmon nstat ifconfig route arp netstat brctl ethtool mii-tool iwconfig
    dhclient nmcli networkctl resolvectl wg wg-quick virsh ifup ifdown netplan
    iptables iptables-save iptables-restore ip6tables
    ip6tables-save ip6tables-restore iptables-nft iptables-nft-save iptables-legacy
    iptables-legacy-save ip6tables-legacy ip6tables-legacy-save ip6tables-nft ip6tables-nft-save
    ebtables arptables xtables-monitor xtables-nft-multi nft ipset ipvsadm conntrack conntrackd
    firewall-cmd ufw update-alternatives sysctl modprobe lsmod rmmod insmod modinfo depmod dmesg
    journalctl systemctl service uname hostname hostnamectl uptime lscpu tcpdump tshark ngrep curl
    wget ping ping6 fping arping traceroute traceroute6 tracepath mtr nc ncat netcat nmap telnet dig
    nslookup host getent iperf iperf3 socat openssl hping3 pwru bpftool bpftrace perf strace
    dropwatch kubectl oc k crictl docker docker-compose podman podman-compose nerdctl ctr lxc
    lxc-attach incus pct machinectl nsenter lsns unshare helm minikube kind
    kubeadm kops k0s k3s microk8s rke rke2 eksctl gcloud aws az cilium cilium-dbg cilium-health
    hubble calicoctl
    istioctl linkerd flanneld kube-proxy kubelet weave antctl ovs-vsctl ovs-ofctl ovs-appctl
    ovs-dpctl ovs-tcpdump ovsdb-client ovn-nbctl ovn-sbctl cat head tail grep egrep zgrep less more
    ls find awk sed echo printf tee jq yq sort uniq wc cut tr xargs for while if export sudo su ssh
    scp time watch env cd pwd exit logout chroot timeout bash sh vi vim nano cp mv rm mkdir touch
    chmod ln date sleep psql mysql mysqladmin mariadb redis-cli grpcurl mongo mongosh yum dnf apt
    apt-get rpm dpkg zypper apk pacman snap reboot shutdown kill pkill tuned-adm python python3 make
    git go ps pgrep""".split()  # noqa: SIM905 - a list of words reads best as words
)  # fmt: skip
"""Programs by name; a path to one counts too."""

_PLAUSIBLE = re.compile(r"(?:\.{0,2}/|~/)?[A-Za-z_][\w.+-]*(?:/[\w.+-]+)*(?:=\S*)?")
_OBJECTS = (
    r"-\S+|(?:a|ad|add|addr|address|l|li|link|r|ro|rou|route|ru|rule|rul|n|ne|nei|neigh|neighbour|"
    r"netns|fdb|vlan|mdb|qdisc|filter|class|xfrm|tunnel|maddr|mroute|monitor|tuntap|vrf|nexthop)"
    r"(?:\s|$)"
)
_TOOLS = (
    r"(?:route|arp|netstat|ss|lsmod|brctl|ifconfig|conntrack|dmesg|ipvsadm|tcpdump|curl|wget|"
    r"ping6?|arping|nc|ncat|telnet|dig|nslookup|traceroute|ethtool|ipset|nft|sysctl|modprobe|"
    r"journalctl|uname|hostname|mtr|tracepath|tshark|bpftool)"
)
_TOOL_ARGUMENTS = (
    r"(?:-\S|\||>|$|(?:add|del|delete|show|showmacs|addbr|addif|delif|list|save|create|flush|get|"
    r"monitor|insert)(?:\s|$)|https?://|\d+\.\d+\.\d+\.\d+|[\w-]+(?:\.[\w/-]+)+(?:\s|$|[=:])|"
    r"[\w-]+$)"
)
_CLUSTER_TOOLS = (
    r"(?:kubectl|oc|crictl|docker(?:-compose)?|podman|nerdctl|ctr|lxc|incus|helm|minikube|cilium"
    r"|systemctl|service|lxc-attach|pct|machinectl"
    r"|calicoctl|istioctl|linkerd|kubeadm|nsenter)"
)
_COMMAND = (
    (re.compile(r"(?:ip|bridge|tc)"), re.compile(_OBJECTS)),
    (re.compile(r"(?:ip6?tables|ebtables|arptables)(?:-\w+)*"), re.compile(r"(?:-|>|\||$)")),
    (re.compile(_TOOLS), re.compile(_TOOL_ARGUMENTS)),
    (re.compile(_CLUSTER_TOOLS), re.compile(r"(?:-\S|[a-z][\w-]*(?:\s|$))")),
    (
        re.compile(r"(?:nmcli|networkctl|resolvectl|firewall-cmd|ufw|wg|virsh|netplan)"),
        re.compile(r"(?:-\S|$|[a-z][\w-]*(?:\s|$))"),
    ),
    (re.compile(r"ovs-(?:vsctl|appctl|ofctl|dpctl)"), re.compile(r"(?:-\S|[a-z][\w/-]*(?:\s|$))")),
    (re.compile(r"(?:sudo|watch|time)"), re.compile(r"(?:-\S+\s+)*[a-z][\w./-]*(?:\s|$)")),
    (re.compile(r"(?:cat|head|tail|grep|ls|echo)"), re.compile(r"-\S|(?:\S+\s+)*[>/.~]")),
)
"""Which programs are followed by what, in a command and hardly in a sentence."""
_SIGNS = re.compile(r"(?:^|\s)-{1,2}\w|[|<>=$;]|/\w|(?:^|\s)\S*\d\S*(?:\s|$)|\\$")


_SELECTED_BY = frozenset({"table", "dev", "type", "proto", "scope", "root", "master", "nud"})
"""What a listing may be narrowed by (ip-route(8), ip-address(8), ip-link(8), ip-neighbour(8))."""


def is_program(command: str) -> bool:
    """Tell whether a command line starts with the name of a known program, or with a path to
    one.
    """
    first = command.split(maxsplit=1)[0] if command.strip() else ""
    return first in PROGRAMS or (
        first.startswith(("/", "./", "~/")) and _PLAUSIBLE.fullmatch(first) is not None
    )


def reads_as_command(command: str) -> bool:
    """Tell whether a text is a command line: it starts with a program's name and does not go on as
    a sentence.
    """
    first, _, rest = command.strip().partition(" ")
    if _PLAUSIBLE.fullmatch(first) is None or first[0].isupper():
        return False
    if not rest.strip() or is_command(command):
        return True
    if reads_as_prose(command):
        return False
    return is_program(command) or _SIGNS.search(rest) is not None


def _is_listing(text: str) -> bool:
    """Tell whether a line is a whole command of `ip` or `bridge` that lists something: its words
    (`ip route show table all`) may be those of a sentence.
    """
    asked = asked_object(parse_command(text))
    return asked is not None and len(asked[1]) % 2 == 0 and set(asked[1][::2]) <= _SELECTED_BY


def is_command(text: str) -> bool:
    """Tell whether a line without a prompt is a command beyond doubt: the program is known, and so
    is what follows it.
    """
    first, _, rest = text.strip().partition(" ")
    name = first.rpartition("/")[2]
    if name not in PROGRAMS or (reads_as_prose(text) and not _is_listing(text)):
        return False
    return any(
        program.fullmatch(name) and follows.match(rest.strip()) for program, follows in _COMMAND
    )
