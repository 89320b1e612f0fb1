"""Lines as tcpdump prints them, made for tests: usual ones, and such that almost are."""

from __future__ import annotations

from hypothesis import strategies as st

_START = st.sampled_from(
    [
        "22:13:20.123456 ", "2023-11-14 22:13:20.000030 ", "2023-13-40 22:13:20.000030 ",
        "1700000000.123456 ", " 00:00:00.001000 ", "    7  22:13:20.123456 ",
        "1234567  22:13:20.123456 ", "12345  1700000000.123456 ", "   12   00:00:00.000001 ",
        "22:13:20.xxxxxx ", "22:13:20.1 ", "-00:00:00.000137 ", "",
    ]
)  # fmt: skip
_PLACE = st.sampled_from(
    [
        "",
        "",
        "veth0a1b2c3 In  ",
        "eth0  Out ",
        "cni0  B   ",
        "a-name-of-16-byt In  ",
        "a-name-of-17-byte In  ",
        "? In  ",
        "Out ",
    ]
)
_MACS = "0a:58:0a:f4:01:0a > 0A:58:0a:f4:01:0b, ", "0a:58:0a:f4:01:0a > ff:ff:ff:ff:ff:ff, "
_FOUR = st.sampled_from(
    [
        "IP ",
        *(
            f"{mac}ethertype IPv4 (0x0800), length {length}: "
            for mac in _MACS
            for length in (9, 74)
        ),
    ]
)
_SIX = st.sampled_from(["IP6 ", *(f"{mac}ethertype IPv6 (0x86dd), length 94: " for mac in _MACS)])
_ADDRESS4 = st.sampled_from(
    ["10.0.0.1", "10.244.1.250", "255.255.255.255", "10.0.0.256", "10.0.0.01", "0.0.0.0", "10.0.1"]
)
_ADDRESS6 = st.sampled_from(
    [
        "fd00::a00:1",
        "::1",
        "fe80::",
        "2001:db8:1111:2222:3333:4444:5555:6666",
        "fd00::1::2",
        "::ffff:10.0.0.1",
        "fd00",
    ]
)
_PORT = st.sampled_from([".0", ".80", ".65535", ".65536", ".99999", ".123456", ".http", ""])
_NUMBER = st.sampled_from([0, 1, 19, 12345678, 123456789, 4294967295, 9999999999, 12345678901])
_LENGTH = st.sampled_from([0, 18, 1448, 64240, 9999999])
_FLAGS = st.sampled_from(["S", "S.", ".", "P.", "F.", "R", "FPU", "SEW", "none", "Sx", "SFRPUEW."])
_OPTIONS = st.sampled_from(
    [
        "", "nop,nop,TS val 1116305200 ecr 3718914024",
        "mss 1410,sackOK,TS val 1116305199 ecr 0,nop,wscale 10", "mss 1460",
        "nop,nop,TS val 12345678 ecr 4294967295,nop,nop,sack 1 {164:1164}",
        "mss 1460,nop,wscale 8,nop,nop,sackOK", "nop,nop,sack 2 {1:2}{3:4}", "mss 65535,sackOK,eol",
        "md5 valid", "mss 1460,nop,nop,TS val 5 ecr 0,sackOK,eol", "eol",
    ]
)  # fmt: skip
_TAIL = st.sampled_from(
    ["", "", ": HTTP: GET / HTTP/1.1", ": , ", " [|http]", ": BGP, length: 5", "x", ".5"]
)
_NAMES = st.sampled_from(
    [
        "4660+ A? svc.default.svc.cluster.local. (47)", "4660* 1/0/0 A 10.96.0.100 (92)",
        "4661 NXDomain 0/0/0 (28)", "9 (7) ", "4660+ A? length.example. (35)", "1 op7 [|domain]",
        "12 Type6166 (Class 31066)? <BAD PTR> [|domain]", "1 ()", "1 (1234567)",
        "5 stat, length 12", "7 ((12)", "77777 (1234567890)", "1 (5)",
    ]
)  # fmt: skip


@st.composite
def _segments(draw: st.DrawFn) -> str:
    """Draw what is printed of a TCP segment."""
    seq, ack = draw(_NUMBER), draw(_NUMBER)
    numbers = draw(st.sampled_from(["", f" seq {seq},", f" seq {seq}:{draw(_NUMBER)},"])) + draw(
        st.sampled_from(["", f" ack {ack},"])
    )
    window = draw(st.sampled_from([0, 502, 65535, 99999]))
    options = draw(_OPTIONS)
    shown = f" options [{options}]," if options else ""
    odd = draw(st.sampled_from(["", "", "", " urg 3,", " cksum 0x16f0 (correct),"]))
    return (
        f"Flags [{draw(_FLAGS)}],{numbers} win {window},{odd}{shown} length "
        f"{draw(_LENGTH)}{draw(_TAIL)}"
    )


@st.composite
def packet_lines(draw: st.DrawFn) -> str:
    """Draw a line that tcpdump prints of a packet, or one that differs from it a little."""
    six = draw(st.booleans())
    address, kind = (_ADDRESS6, _SIX) if six else (_ADDRESS4, _FOUR)
    name = "ICMP6," if six else "ICMP"
    kind_of_echo, identifier = (
        draw(st.sampled_from(["request", "reply"])),
        draw(st.sampled_from([7, 65535, 70000])),
    )
    echo = f"{name} echo {kind_of_echo}, id {identifier}, seq 3, length 64"
    ported = draw(st.sampled_from([True, True, True, False]))
    ports = (draw(_PORT), draw(_PORT)) if ported else ("", "")
    text = (
        draw(st.one_of(_segments(), st.sampled_from([f"UDP, length {draw(_LENGTH)}"]), _NAMES))
        if ported
        else echo
    )
    return (
        f"{draw(_START)}{draw(_PLACE)}{draw(kind)}{draw(address)}{ports[0]} > "
        f"{draw(address)}{ports[1]}: {text}"
    )


@st.composite
def _verbose_packets(draw: st.DrawFn) -> str:
    """Draw the two lines that `-v` prints of a packet, with little that is not usual."""
    flags = draw(st.sampled_from(["DF", "none", "+", "DF, rsvd"]))
    offset, size = (
        draw(st.sampled_from([0, 0, 0, 72])),
        draw(st.sampled_from([0, 20, 60, 1500, 65535])),
    )
    protocol = draw(
        st.sampled_from(["TCP (6)", "TCP (6)", "UDP (17)", "ICMP (1)", "unknown (255)"])
    )
    rest = draw(st.sampled_from(["", "", ", options (RA)", ", bad cksum 0 (->6c4)!"]))
    tos = draw(st.sampled_from(["0x0", "0xb8", "0x2,ECT(0)"]))
    link = draw(
        st.sampled_from(
            ["IP ", "0a:58:0a:f4:01:0a > 0a:58:0a:f4:01:0b, ethertype IPv4 (0x0800), length 74: "]
        )
    )
    head = (
        f"(tos {tos}, ttl {draw(st.integers(0, 255))}, id {draw(st.integers(0, 65535))}, offset "
        f"{offset}, flags [{flags}]"
    )
    sums = draw(
        st.sampled_from(["", "[udp sum ok] ", "[bad udp cksum 0x58ad -> 0x2ab4!] ", "[no cksum] "])
    )
    body = draw(
        st.one_of(
            _segments(),
            st.just("ICMP echo reply, id 7, seq 3, length 64"),
            _NAMES.map(lambda text: f"{sums}{text}"),
        )
    )
    ends = "10.0.0.1 > 10.0.0.2" if body.startswith("ICMP") else "10.0.0.1.5 > 10.0.0.2.53"
    indent = draw(st.sampled_from(["    ", "    ", "\t", ""]))
    return (
        f"{draw(_START)}{link}{head}, proto {protocol}, length {size}{rest})\n"
        f"{indent}{ends}: {body}"
    )


def any_lines() -> st.SearchStrategy[str]:
    """Draw packets' lines, and what stands between them in a paste."""
    return st.one_of(
        packet_lines(),
        packet_lines(),
        _verbose_packets(),
        st.sampled_from(
            ["", "    10.0.0.1.5 > 10.0.0.2.80: Flags [S], seq 1, win 5, length 0",
             "\t0x0000:  4500 0034", "a note", "^C",
             "22:13:20.123456 ARP, Request who-has 10.0.0.3 tell 10.0.0.2, length 28",
             "3 packets captured", "   ",
             ("22:13:20.1 IP (tos 0x0, ttl 62, id 0, offset 0, flags [DF], proto TCP (6), length "
             "60)"), "x" * 2100]
        ),
    )  # fmt: skip
