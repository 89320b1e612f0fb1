"""Errors of the kernel by their words (`strerror`): they mean the same whoever prints them, in
whatever language it is written.

The words come from glibc, musl, Go (lower case), Java, Node and Python (the name before the words),
Rust (the number behind). What is only a symptom (refused, timed out, unreachable) is an attempt and
is read by `evidence.attempts`.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_PROGRAM = r"(?:(?P<program>[A-Za-z][\w./-]*)(?:\[\d+\])?: )?"
_CALL = (
    r"(?:\b(?:accept4?|socket|pipe2?|open(?:at)?|connect|listen|dial|bind|fopen|epoll_create1?|"
    r"eventfd|dup|fork/exec|exec|read|write|lookup|resolve|poll|fd|sock\w*|curl|libcurl|error|"
    r"Error|ERROR|fail\w*|Fail\w*|unable|Unable|cannot|Cannot|could not|"
    r"Could not|Exception|EMFILE|ENFILE|[Ee]rrno|os error|level=|crit|alert|emerg|warn\w*|WARN\w*|"
    r"[\w./-]+\[\d+\]:|[\w./-]+:)[^\n]{0,300}?)"
)
"""What a program that fails says before the words; a sentence of a person has none of it."""
_SENDS = (
    r"(?:send(?:to|msg|_packet|mmsg|)?|connect|dial|write|ping6?|RTNETLINK answers|xmit|transmit|"
    r"arping|tx)"
)

ROWS: tuple[MessagePattern, ...] = (
    # EMFILE, ENFILE
    make_row(
        MessageKind.FILES_EXHAUSTED,
        "oo many open files",
        (
            rf"^(?!.*(?:inotify|fsnotify|file watcher|watches|Could not process rule)).*?{_CALL}"
            r"[Tt]oo many open files"
        ),
    ),
    make_row(
        MessageKind.FILES_EXHAUSTED,
        "Too many open sockets",
        r"(?:haproxy|socket|sockets).*Too many open sockets",
    ),
    make_row(MessageKind.FILES_EXHAUSTED, "reached process FD limit"),
    make_row(MessageKind.FILES_EXHAUSTED, "file-max limit ", r"VFS: file-max limit \d+ reached"),
    make_row(MessageKind.FILES_EXHAUSTED, "EMFILE", r"= -1 EMFILE|EMFILE[,: ]"),
    # EMFILE and ENOSPC of inotify
    make_row(
        MessageKind.WATCHES_EXHAUSTED,
        "oo many open files",
        r"(?:inotify\w*|fsnotify|file watcher|[Ww]atcher|watch(?:es)?)\b.*[Tt]oo many open files",
    ),
    make_row(
        MessageKind.WATCHES_EXHAUSTED,
        "o space left on device",
        (
            r"(?:inotify\w*|fsnotify|inotify watch|add watch|file watcher|[Ww]atcher|"
            r"watch(?:es)?)\b.*[Nn]o space left on device"
        ),
    ),
    make_row(
        MessageKind.WATCHES_EXHAUSTED,
        "user limit on ",
        (
            r"user limit on (?:inotify (?:watches|instances)|the total number of inotify watches) "
            r"(?:was )?reached"
        ),
    ),
    # ENOSPC elsewhere
    make_row(
        MessageKind.DISK_FULL,
        "o space left on device",
        r"^(?!.*(?:inotify|fsnotify|watch|RTNETLINK|ipset|bpf|BPF|nft|iptables)).*"
        r"(?:write|open|mkdir|mktemp|create|save|copy|sync|rename|fsync|allocate)\b"
        r"(?:ing)?[^\n]{0,200}: [Nn]o space left on device",
    ),
    # ENOBUFS
    make_row(
        MessageKind.BUFFERS_EXHAUSTED,
        "o buffer space available",
        (
            rf"^(?!.*netlink)(?!.*Could not process rule)(?!.*sendmsg: N).*?{_SENDS}"
            rf"\b[^\n]{{0,200}}?[Nn]o buffer space available"
        ),
    ),
    make_row(
        MessageKind.BUFFERS_EXHAUSTED,
        "ENOBUFS",
        r"= -1 ENOBUFS|(?:connect|send|write|sendto) ENOBUFS",
    ),
    # ENOMEM
    make_row(
        MessageKind.MEMORY_EXHAUSTED,
        "annot allocate memory",
        r"(?:\w+\[\d+\]|\w[\w./()-]*|RTNETLINK answers|Errno 12\]|os error|"
        r"level=\w+)[^\n]{0,240}?[:(\] ] ?[Cc]annot allocate memory",
    ),
    make_row(
        MessageKind.MEMORY_EXHAUSTED,
        "ENOMEM",
        r"(?:socket|connect|sendto|sendmsg|accept4?|bind|fork|clone|bpf)\(.*= -1 ENOMEM",
    ),
    # EAGAIN of fork
    make_row(
        MessageKind.TASKS_EXHAUSTED,
        "esource temporarily unavailable",
        (
            r"(?:fork|pthread_create|clone|newosproc|thread|process)[^\n]{0,120}[Rr]esource "
            r"temporarily unavailable"
        ),
    ),
    make_row(
        MessageKind.TASKS_EXHAUSTED,
        "unable to create",
        r"unable to create (?:new )?native thread|runtime: failed to create new OS thread",
    ),
    make_row(MessageKind.TASKS_EXHAUSTED, "failed to create new OS thread"),
    make_row(
        MessageKind.TASKS_EXHAUSTED,
        "fork rejected by pids controller",
        r"fork rejected by pids controller in (?P<group>\S+)",
    ),
    # EADDRNOTAVAIL
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "annot assign requested address",
        rf"(?:connect\(?|Connect\w*|connection|dial|upstream|proxy|sendto|Max "
        rf"retries)[^\n]{{0,200}}?(?<![\d.])(?!127\.|0\.0\.0\.0)(?P<dst>{_IPV4}):"
        r"(?P<port>(?!0\b)\d+)[^\n]{0,120}?[Cc]annot assign requested address",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "Cannot assign requested address",
        r"Cannot assign requested address (?:\(connect failed\)|\(Address not available\)): "
        r"(?:connect|no further)|(?:ConnectException|SocketException|NoRouteToHostException): "
        r"Cannot assign requested address",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "no free ports",
        r"(?i)(?:connect|source|haproxy|proxy|server)[^\n]{0,80}no free ports",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "local ports exhausted",
        r"(?i)local ports exhausted|ran out of local ports",
    ),
    make_row(
        MessageKind.BIND_ADDRESS_ABSENT,
        "annot assign requested address",
        r"(?:bind\w*|[Ll]isten\w*|make_sock)\b[^\n]{0,120}?(?P<address>\[[0-9a-fA-F:]+\]|"
        r"\d+\.\d+\.\d+\.\d+):(?P<port>\d+)[^\n]{0,60}?"
        r"[Cc]annot assign requested address",
    ),
    make_row(
        MessageKind.BIND_ADDRESS_ABSENT,
        "EADDRNOTAVAIL",
        r"(?:listen EADDRNOTAVAIL:? (?:address not available )?(?P<address>[\d.:a-fA-F]+?):"
        r"(?P<port>\d+)\b|bind\(.*= -1 EADDRNOTAVAIL)",
    ),
    # EADDRINUSE
    make_row(
        MessageKind.PORT_TAKEN,
        "EADDRINUSE",
        r"(?:listen|bind) EADDRINUSE(?::? address already in use)?:? (?P<address>\S*?):"
        r"(?P<port>\d+)\b|bind\(\d+, \{.*?sin6?_port=htons\((?P<bound>(?!0\b)\d+)\).*= -1 "
        r"EADDRINUSE",
    ),
    make_row(
        MessageKind.PORT_TAKEN,
        "ddress already in use",
        r"^(?!.*(?:as port: |allocate gateway|vxlan|response from daemon: Address|create listening "
        r"socket|htons\(0\))).*?(?:OSError|socket\.error|BindException|[Ll]isten\w*|make_sock|"
        r"on port|Starting)\b[^\n]{0,160}[Aa]ddress already in use"
        r"(?=[^\n]{0,80}?(?:(?::|port[ =]|port\()(?P<port>\d{2,5})\b)?)",
    ),
    make_row(
        MessageKind.PORT_TAKEN,
        "already ",
        (
            r"(?:[Pp]ort|PORT) (?P<port>\d+) (?:(?:is|was) )?(?:already (?:in use|used|allocated|"
            r"bound)|was already in use)\b(?!\?)"
        ),
    ),
    make_row(
        MessageKind.PORT_TAKEN,
        "annot bind socket",
        r"[Cc]annot bind socket(?: \([^)]*\))? (?:for )?\[(?P<address>[^\]]*):(?P<port>\d+)\]",
    ),
    # EPERM and EACCES of sockets
    make_row(
        MessageKind.SOCKET_DENIED,
        "peration not permitted",
        r"(?:dial (?:tcp|udp)\S* |connect(?:\(\))? to |sendto |write (?:udp|tcp)\S* "
        r"\S+->)\[?(?P<dst>[0-9a-fA-F:.]+?)\]?:(?P<port>\d+): "
        r"(?:connect|sendto|write|sendmsg|socket)(?:: \w+)?: operation not permitted",
    ),
    make_row(
        MessageKind.SOCKET_DENIED,
        "peration not permitted",
        r"\b(?!sendmsg: )(?P<call>sendto|sendmsg|send_packet|send|Cant send advert to \S+)"
        r"(?:\(\))?:? (?:error: |failed:? )?\(?Operation not permitted",
    ),
    make_row(
        MessageKind.SOCKET_DENIED,
        "EPERM",
        r"\b(?P<call>sendto|sendmsg|sendmmsg|connect)\(\d+, .*= -1 EPERM",
    ),
    make_row(
        MessageKind.SOCKET_DENIED,
        "EPERM",
        r"(?P<call>connect|send|write) EPERM (?P<dst>[0-9a-fA-F:.]+):(?P<port>\d+)",
    ),
    # EAFNOSUPPORT, EPROTONOSUPPORT
    make_row(
        MessageKind.PROTOCOL_UNSUPPORTED,
        "rotocol not supported",
        r"(?P<call>socket|bind|connect|RTNETLINK answers|dial \w+|create\w*|open\w*|sctp\w*|"
        r"l2tp\w*)\b[^\n]{0,80}?[Pp]rotocol not supported",
    ),
    make_row(
        MessageKind.PROTOCOL_UNSUPPORTED,
        "EPROTONOSUPPORT",
        r"(?P<call>socket)\(.*= -1 EPROTONOSUPPORT",
    ),
    make_row(
        MessageKind.ADDRESS_FAMILY_UNSUPPORTED,
        "EAFNOSUPPORT",
        r"= -1 EAFNOSUPPORT|(?:listen|connect|socket) EAFNOSUPPORT",
    ),
    make_row(
        MessageKind.ADDRESS_FAMILY_UNSUPPORTED,
        "ddress family not supported",
        r"[Aa]ddress family not supported(?! by protocol)",
    ),
    make_row(MessageKind.ADDRESS_FAMILY_UNSUPPORTED, "Make sure CONFIG_PACKET"),
    # EMSGSIZE
    make_row(
        MessageKind.PACKET_TOO_LONG,
        "essage too long",
        r"(?:send\w*|write|sendmsg|sendto|error|wireguard|tun\w*|vxlan|"
        r"udp)\b[^\n]{0,160}?[Mm]essage too long(?:[^\n]{0,20}?mtu[=: ]*(?P<mtu>\d+))?",
    ),
    make_row(
        MessageKind.PACKET_TOO_LONG, "EMSGSIZE", r"(?:send\w*\(.*= -1 EMSGSIZE|send EMSGSIZE)"
    ),
    make_row(
        MessageKind.PACKET_TOO_LONG,
        "dropped over-mtu packet",
        r"(?:(?P<device>[\w.@-]+): )?dropped over-mtu packet: (?P<size>\d+) > (?P<mtu>\d+)",
    ),
    # ENETDOWN
    make_row(
        MessageKind.NETWORK_DOWN,
        "etwork is down",
        r"(?:send\w*|sendto|sendmsg|socket|bind|connect|dial|ioctl|pcap\w*|tcpdump|read|recv\w*|"
        r"RTNETLINK answers|udhcpc|dhclient|dhcpcd)\b"
        r"[^\n]{0,120}?: [Nn]etwork is down",
    ),
    make_row(MessageKind.NETWORK_DOWN, "ENETDOWN", r"= -1 ENETDOWN|(?:connect|send|bind) ENETDOWN"),
    # EROFS, EACCES and ENOENT of sysctls
    make_row(
        MessageKind.SYSCTL_DENIED,
        "/proc/sys/net/",
        r"(?P<file>/proc/sys/net/[\w./-]+)['\"\u2019]?(?: for writing)?(?:,|:| \()[^\n]{0,40}?"
        r"(?P<error>[Pp]ermission denied|[Rr]ead-only file system|[Oo]peration not permitted)",
    ),
    make_row(
        MessageKind.SYSCTL_DENIED,
        "etting key",
        r"[Ss]etting key \\*[\"'\u2018](?P<key>net[.\w/-]+)\\*[\"'\u2019](?:, ignoring|):? "
        r"?(?P<error>Permission denied|Read-only file system|"
        r"Operation not permitted|Invalid argument|Device or resource busy)",
    ),
    make_row(
        MessageKind.SYSCTL_DENIED,
        "on key",
        (
            r"sysctl: (?P<error>permission denied|cannot stat /proc/sys/net/\S+)[^\n]{0,12}on key "
            r"[\"'](?P<key>net[.\w/-]+)"
        ),
    ),
    make_row(
        MessageKind.SYSCTL_DENIED,
        "error setting",
        r"sysctl: error setting key [\"'](?P<key>net[.\w/-]+)[\"']: (?P<error>[\w -]+)",
    ),
    make_row(
        MessageKind.SYSCTL_DENIED,
        "cannot stat /proc/sys/net/",
        (
            r"sysctl: cannot stat (?P<file>/proc/sys/net/[\w./-]+): (?P<error>No such file or "
            r"directory)"
        ),
    ),
    make_row(
        MessageKind.SYSCTL_DENIED,
        "EROFS",
        r"open(?:at)?\(.*\"(?P<file>/proc/sys/net/[^\"]+)\".*= -1 (?P<error>EROFS|EACCES|EPERM)",
    ),
    # Sockets that need a right
    make_row(
        MessageKind.RAW_SOCKET_DENIED,
        "peration not permitted",
        r"(?:[Oo]pen a socket for (?P<call>LPF|BPF)|(?P<raw>socket\(AF_PACKET[^)]*\)|SOCK_RAW|"
        r"raw socket|packet socket|ICMP socket)[^\n]{0,40}): "
        r"[Oo]peration not permitted",
    ),
    make_row(
        MessageKind.RAW_SOCKET_DENIED,
        "EPERM",
        r"(?P<call>socket)\((?:AF_PACKET|AF_INET6?|PF_PACKET), SOCK_RAW.*= -1 EPERM",
    ),
)
