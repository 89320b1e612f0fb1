"""A document is split into commands and their outputs, wherever its prose stands."""

from __future__ import annotations

import pathlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.evidence.documents.document import split_document
from podpath.net.provenance import Source

TICKETS = pathlib.Path(__file__).parents[2] / "data" / "tickets"

INCIDENTS = pathlib.Path(__file__).parents[3] / "examples" / "incidents"

FENCED = """\
# Pods cannot reach the API

On the bad node:

```console
$ sudo ip route
default via 10.0.0.1 dev eth0
10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.7

# the rules, too
$ iptables -S FORWARD
-P FORWARD DROP
-A FORWARD -m conntrack --ctstate INVALID -j DROP
$ modprobe br_netfilter
```

and on a good one:

```
[root@w2 ~]# ip route
default via 10.0.0.1 dev eth0
```
"""
PLAIN = """\
When the pod talks to the service there is no answer.

  1. The pod sends a SYN
  2. Conntrack keeps it:

    root@ip-10-1-1-4:/home/admin# conntrack -L|grep 10.9.0.3
    tcp      6 118 SYN_SENT src=10.4.0.5 dst=10.9.0.3 sport=5084 dport=80 [UNREPLIED] src=10.4.0.6 dst=10.4.0.5 sport=80 dport=84

  3. The other pod answers, and that is not translated back

Here is what we saw:

root@ip-10-1-1-4:/home/admin# tcpdump -i cni0 -n
SYN of the client:
15:26:01.221833 IP 10.4.0.5.5084 > 10.9.0.3.80: Flags [S], seq 50, win 26733, length 0

SYN+ACK:
15:26:01.222151 IP 10.4.0.6.80 > 10.4.0.5.5084: Flags [S.], seq 28, ack 51, win 26697, length 0

The rules that matter here:

-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES

-A KUBE-SERVICES -d 10.9.0.3/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-AAAA

If we use the pod's own address, then the connection works.
"""  # noqa: E501


def _split(text: str) -> tuple[Source, ...]:
    return split_document("ticket.md", text.split("\n"))


def _shape(sources: tuple[Source, ...]) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(source.command, tuple(source.lines)) for source in sources]


def test_commands_in_a_fence_part() -> None:
    """Each prompt starts a source; a comment belongs to none; what changes the node stands with its
    own line.
    """
    sources = _split(FENCED)
    assert [
        ("ip route", 7, 2), ("iptables -S FORWARD", 12, 2), ("modprobe br_netfilter", 14, 1),
        ("ip route", 21, 1),
    ] == [(source.command, source.first_line, len(source.lines)) for source in sources]  # fmt: skip
    assert ("$ modprobe br_netfilter",) == sources[2].lines


def test_labels_introduce_blocks() -> None:
    """The prose above a block is its label, and a comment within it too."""
    assert ["On the bad node:", "the rules, too", "the rules, too", "and on a good one:"] == [
        source.label for source in _split(FENCED)
    ]


def test_prompts_name_hosts() -> None:
    """The prompt is kept."""
    assert "[root@w2 ~]#" == _split(FENCED)[-1].prompt


def test_plain_text_has_no_fences() -> None:
    """Outputs are found between prose by prompts and by the shape of their lines; notes between
    packets stay with them.
    """
    sources = _split(PLAIN)
    assert ["conntrack -L|grep 10.9.0.3", "tcpdump -i cni0 -n", None] == [
        source.command for source in sources
    ]
    assert sources[0].lines[0].startswith("tcp      6 118")
    assert 5 == len(sources[1].lines)
    chains = [" ".join(re.findall(r"^-A \S+", line)) for line in sources[2].lines]
    assert ["-A PREROUTING", "", "-A KUBE-SERVICES"] == chains
    assert "The rules that matter here:" == sources[2].label


@pytest.mark.parametrize("folder", sorted(TICKETS.iterdir()), ids=lambda folder: folder.name)
def test_fences_do_not_matter(folder: pathlib.Path) -> None:
    """The same console lines give the same sources with their fences and without."""
    fenced = split_document("a", (folder / "console.md").read_text().split("\n"))
    bare = split_document("a", (folder / "console.txt").read_text().split("\n"))
    assert _shape(fenced) == _shape(bare)


@pytest.mark.parametrize(
    "ticket", sorted(INCIDENTS.glob("*/ticket.md")), ids=lambda ticket: ticket.parent.name
)
def test_prose_does_not_matter(ticket: pathlib.Path) -> None:
    """A ticket of which only the console lines are left gives the same sources."""
    text = ticket.read_text("utf-8")
    console = "\n".join(re.findall(r"```[^\n]*\n(.*?)```", text, re.DOTALL))
    assert _shape(_split(text)) == _shape(_split(console))


def test_wrapped_commands_are_joined() -> None:
    """A command over several lines is one, and its lines are its evidence where it changes
    something.
    """
    text = (
        "```\n$ cilium install --version=1.11.1 \\\n    --helm-set bpf.masquerade=true\n$ ip a\n"
        "1: lo: <LOOPBACK> mtu 9\n```"
    )
    first, second = _split(text)
    assert "cilium install --version=1.11.1 --helm-set bpf.masquerade=true" == first.command
    assert 2 == len(first.lines)
    assert ("ip a", 5) == (second.command, second.first_line)


def test_another_shells_prompt_within_a_session() -> None:
    """Below a user's command stands one of root: an output of it follows. A comment in a file is
    none, though it spells a command.
    """
    lines = ["```", "$ kubectl get no a -o jsonpath={.spec.podCIDR}", "10.244.1.0/24"]
    lines += ["# ip -4 -br addr show cni0", "cni0   UP   10.244.1.1/24", "```", ""]
    lines += ["```", "$ cat up.sh", "set -e", "# ip route flush cache", "exit 0", "```"]

    assert ["kubectl", "ip", "cat"] == [
        (source.command or "").split()[0] for source in split_document("t.md", lines)
    ]


def test_a_silent_command_is_a_source() -> None:
    """A command that printed nothing is a source without lines, which still can be quoted."""
    source = _split("```\n# lsmod | grep br_netfilter\n# ip a\n1: lo: <LOOPBACK> mtu 9\n```")[0]
    assert ("lsmod | grep br_netfilter", ()) == (source.command, source.lines)


def test_entities_are_decoded() -> None:
    """`&gt;` and its like are the characters they stand for, and numbers stay right."""
    source = _split(
        "<p>x</p>\n<pre>\n# ip -o link\n1: lo: &lt;LOOPBACK&gt; mtu 65536 &amp;\n</pre>"
    )[0]
    assert (("1: lo: <LOOPBACK> mtu 65536 &",), 4) == (source.lines, source.first_line)


def test_quoted_console_is_read() -> None:
    """A ticket that is quoted in a mail keeps its commands."""
    source = _split(
        "> we see this:\n> $ ip route\n> default via 10.0.0.1 dev eth0\n\nWhat is wrong with it?"
    )[0]
    assert ("ip route", ("default via 10.0.0.1 dev eth0",)) == (source.command, source.lines)


def test_the_head_of_a_ping_is_read_where_it_alone_is_quoted() -> None:
    """Its own full stop makes no prose of it, and what follows belongs to it."""
    source = _split(
        "It fails:\n\n> PING db.lan (10.0.0.7) 56(84) bytes of data.\n^C\n"
        "--- db.lan ping statistics ---\n"
        "3 packets transmitted, 0 received, 100% packet loss, time 2040ms\n\nWhy?"
    )[0]
    assert "PING db.lan (10.0.0.7) 56(84) bytes of data." == source.lines[0]
    assert "3 packets" in source.lines[-1]


def test_a_shell_in_a_pod_is_followed() -> None:
    """Commands typed after `kubectl exec -it` run in the pod, until its shell is left."""
    text = """```
$ kubectl exec -it -n prod web-0 -- sh
/ # ip route
default via 10.4.0.1 dev eth0
/ # exit
$ ip route
default via 10.0.0.1 dev eth0
```"""
    assert [("ip route", "pod/prod/web-0"), ("ip route", None)] == [
        (source.command, source.netns) for source in _split(text) if source.lines
    ]


def test_request_lines_of_curl_are_output() -> None:
    """`> GET /` is what curl sent, not a prompt."""
    source = _split("```\n$ curl -v 10.0.0.9\n> GET / HTTP/1.1\n> Host: 10.0.0.9\n>\n```")[0]
    assert 3 == len(source.lines)


def test_an_unclosed_fence_is_none() -> None:
    """A fence that is never closed does not turn the text below into console."""
    text = (
        "```\n$ ip route\ndefault via 10.0.0.1 dev eth0\n\n"
        "We think that the gateway is not the right one for these pods.\n"
    )
    assert [("ip route", ("default via 10.0.0.1 dev eth0",))] == _shape(_split(text))


def test_a_fence_within_a_fence() -> None:
    """A ticket that shows a ticket is split where the inner fences are."""
    text = "````md\nsee:\n```\n$ ip route\ndefault via 10.0.0.1 dev eth0\n```\n````"
    assert [("ip route", ("default via 10.0.0.1 dev eth0",))] == _shape(_split(text))


def test_an_unknown_block_is_kept() -> None:
    """A fenced block that nobody knows is a source too."""
    assert [(None, ("foo = bar", "baz"))] == _shape(_split("x\n```ini\nfoo = bar\nbaz\n```"))


_LINE = st.sampled_from(
    [
        "$ ip a",
        "# ip r",
        "```",
        "````",
        "> $ ip a",
        "",
        "text that is prose, and on",
        "-A X -j Y",
        "...",
        "    $ ip a",
        "{",
        "[",
        "]}",
    ]
)


@settings(max_examples=200)
@given(st.lists(_LINE | st.text(max_size=20), max_size=30))
def test_every_line_keeps_its_number(lines: list[str]) -> None:
    """Whatever the text: nothing is raised, and a source's lines stand at their numbers, in order
    and once.
    """
    seen: set[int] = set()
    for source in split_document("a", lines):
        for offset, line in enumerate(source.lines):
            number = source.first_line + offset
            assert line.strip() == "" or line.strip() in lines[number - 1].replace("&gt;", ">")
            assert line.strip() == "" or number not in seen
            seen.add(number)


def commands_with_output(text: str) -> list[tuple[str | None, tuple[str, ...]]]:
    """Return each source's command and lines."""
    found = split_document("t", text.splitlines())
    return [(source.command, tuple(source.lines)) for source in found]


def test_a_fence_that_ends_with_a_command_has_its_output_in_the_next_one() -> None:
    """Command in one fence, output in the next, with a word between or none."""
    rules = ("0:\tfrom all lookup local", "32765:\tfrom 10.0.0.0/8 lookup 100")
    text = "```\nip rule show\n```\n\nOutput:\n\n```\n" + "\n".join(rules) + "\n```\n"

    assert commands_with_output(text) == [("ip rule show", rules)]


def test_a_silent_command_stays_silent_where_the_next_output_is_another_tools() -> None:
    """`iptables-save | grep 8080` printed nothing; the routes below are not its output."""
    text = "```\n$ iptables-save | grep 8080\n```\n\n```\ndefault via 10.0.0.1 dev eth0\n```\n"

    assert commands_with_output(text) == [
        ("iptables-save | grep 8080", ()),
        (None, ("default via 10.0.0.1 dev eth0",)),
    ]


def test_a_silent_command_stays_silent_behind_a_paragraph() -> None:
    """More than two lines of prose between: the next fence tells of something else."""
    prose = "We then looked at the node.\nIt has two cards.\nThis is what a colleague sent:\n"
    text = f"```\n$ cat /etc/resolv.conf\n```\n\n{prose}\n```\nnameserver 10.96.0.10\n```\n"

    assert commands_with_output(text)[0] == ("cat /etc/resolv.conf", ())


def test_a_line_of_prose_names_the_command_of_the_fence_below() -> None:
    """A bare `1` is nothing; below the file's name it is rp_filter."""
    text = "Output of `cat /proc/sys/net/ipv4/conf/all/rp_filter`:\n\n```\n1\n```\n"

    assert commands_with_output(text) == [("cat /proc/sys/net/ipv4/conf/all/rp_filter", ("1",))]


def test_a_pods_shell_in_the_line_above_names_its_namespace() -> None:
    """What was run in a pod is the pod's."""
    text = (
        "`kubectl exec web-0 -- cat /etc/resolv.conf` shows:\n\n```\nnameserver 10.96.0.10\n```\n"
    )
    (source,) = split_document("t", text.splitlines())

    assert source.netns is not None
    assert "web-0" in source.netns


ENTRY = (
    "tcp      6 118 SYN_SENT src=10.0.0.1 dst=10.96.0.9 sport=5308 dport=80 [UNREPLIED] "
    "src=10.9.0.7 dst=10.0.0.1 sport=80 dport=5308"
)
TRAILER = "conntrack v1.4.6 (conntrack-tools): 2 flow entries have been shown."


@pytest.mark.parametrize(
    "garbage", ["tcq      6 11a garbage src=10.0.0.1 dst= zz", "the table was damaged here somehow"]
)
@pytest.mark.parametrize("place", [1, 2])
def test_a_listing_keeps_its_command_whose_trailer_comes_first(garbage: str, place: int) -> None:
    """Standard error comes before standard output through a pipe, and a damaged line amid entries
    is no prose.
    """
    printed = [TRAILER, ENTRY, ENTRY]
    printed.insert(place, garbage)
    text = "\n".join(
        [
            "root@n1:~# conntrack -L 2>&1",
            *printed,
            "root@n1:~# ip route",
            "default via 10.0.0.1 dev eth0",
        ]
    )

    assert commands_with_output(text) == [
        ("conntrack -L 2>&1", tuple(printed)),
        ("ip route", ("default via 10.0.0.1 dev eth0",)),
    ]


def test_marks_of_people_on_lines_are_taken_off() -> None:
    """Bold lines of an output, a quotation's sign right before a prompt, and Markdown's escapes."""
    (source,) = _split(
        "Nothing works.\n\n>root@box:~# ip r\n**default dev br0 scope link metric 204**\n"
        "default via 192.0.2.1 dev wlan0 metric 303\n"
    )
    assert ("ip r", "default dev br0 scope link metric 204") == (source.command, source.lines[0])
    (escaped,) = _split(
        "Look at it.\n\n[root@node1 \\~\\]\\# ip route\n10.0.0.0/8 via 192.0.2.1 dev eth0\n"
    )
    assert ("[root@node1 ~]#", "ip route") == (escaped.prompt, escaped.command)


def test_marks_of_people_on_words_stay() -> None:
    """A bold sentence is no output."""
    assert () == _split("**The default route is gone.**\n\nAnd a \\* in a sentence.\n")


def test_an_output_behind_an_arrow() -> None:
    """A command with what it printed behind an arrow is an output of one line."""
    text = (
        "Checked:\n\n- `iptables -S | grep -c KUBE` \u2192 1270\n"
        "sysctl net.ipv4.ip_forward -> net.ipv4.ip_forward = 0\nthe packet goes eth0 -> eth1\n"
    )
    assert [
        ("iptables -S | grep -c KUBE", ("1270",)),
        ("sysctl net.ipv4.ip_forward", ("net.ipv4.ip_forward = 0",)),
    ] == [(source.command, source.lines) for source in _split(text)]


@pytest.mark.parametrize("count", [3, 40, 700, 30_000])
def test_a_json_value_is_one_source_however_long_it_is(count: int) -> None:
    """Two lines for each of its objects; what follows is not of it."""
    objects = ",\n".join(f'{{\n"name": "web-{number}"}}' for number in range(count))
    value = f"[\n{objects}\n]"

    (listing, links) = _split(f"```\n$ kubectl get -o json\n{value}\n$ ip link\n1: lo: mtu 9\n```")

    assert tuple(value.split("\n")) == listing.lines
    assert "ip link" == links.command


@pytest.mark.parametrize("line", ["[", "{", '{"a": {', '[{"b": ['])
def test_json_that_never_ends_is_no_long_work(line: str) -> None:
    """Each line begins a value; how much is looked at in vain is bounded."""
    text = "\n".join([line] * 20_000)

    assert text == "\n".join(one for source in _split(f"```\n{text}\n```") for one in source.lines)
