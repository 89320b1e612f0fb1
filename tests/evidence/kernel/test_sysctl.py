"""sysctl, sysctl.d, and files of /proc/sys."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.documents.document import split_document
from podpath.evidence.kernel.sysctl import spell_key
from podpath.evidence.node_records import SysctlRecord
from podpath.evidence.records import MessageRecord, Reading
from podpath.net.messages import MessageKind
from tests.evidence.consoles import block, read, recorded


def settings(reading: Reading) -> dict[str, str]:
    """Return the values of a reading by key."""
    return {
        record.key: record.value
        for record in reading.records
        if isinstance(record, SysctlRecord) and not record.missing
    }


def test_a_listing_is_read() -> None:
    """Every line of `sysctl -a` is a setting; a value may be of several words."""
    reading = read(recorded("sysctl-a"))

    assert (460, ()) == (len(reading.records), reading.gaps)
    assert ("0", "1", "4096\t131072\t33554432") == tuple(
        settings(reading)[key]
        for key in (
            "net.ipv4.ip_forward",
            "net.bridge.bridge-nf-call-iptables",
            "net.ipv4.tcp_rmem",
        )
    )


def test_a_dot_in_a_device_name_is_spelled_as_sysctl_does() -> None:
    """`eth0.100` is one name, in the listing and in a path."""
    key = "net.ipv4.conf.eth0/100.rp_filter"

    assert key in settings(read(recorded("sysctl-a")))
    assert key in settings(read(recorded("proc-sys-grep")))
    assert key in settings(read(recorded("proc-sys-head")))
    assert key == spell_key("net/ipv4/conf/eth0.100/rp_filter")
    assert key == spell_key(key)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "proc-sys-cat",
            {"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.tcp_rmem": "4096\t131072\t33554432"},
        ),
        ("sysctl-n", {"net.ipv4.ip_forward": "0", "net.ipv4.conf.all.rp_filter": "0"}),
        ("sysctl-one", {"net.ipv4.ip_forward": "0"}),
        ("proc-sys-head", {"net.ipv4.ip_forward": "0", "net.ipv4.conf.eth0/100.rp_filter": "0"}),
    ],
)
def test_values_get_their_names(name: str, values: dict[str, str]) -> None:
    """From the line, from the command, or from the heading above."""
    assert values == settings(read(recorded(name)))


def test_a_loop_that_echoes_path_and_value_is_read() -> None:
    """`for f in ...; do echo $f $(cat $f); done` puts a blank between them."""
    assert {"net.ipv4.conf.all.rp_filter": "2"} == settings(
        read(block("/proc/sys/net/ipv4/conf/all/rp_filter 2"))
    )


def test_braces_in_the_command_are_expanded() -> None:
    """A shell prints the files in the order of the braces."""
    reading = read(block("1\n2", "cat /proc/sys/net/ipv4/conf/{all,eth0.5}/rp_filter"))

    assert {"net.ipv4.conf.all.rp_filter": "1", "net.ipv4.conf.eth0/5.rp_filter": "2"} == settings(
        reading
    )


@pytest.mark.parametrize("command", ["conntrack -C", "sudo conntrack --count"])
def test_the_count_of_connections_is_a_sysctl(command: str) -> None:
    """conntrack prints the same number without its name."""
    assert {"net.netfilter.nf_conntrack_count": "262144"} == settings(
        read(block("262144", command))
    )


@pytest.mark.parametrize(
    "command",
    [
        "cat /proc/sys/net/ipv4/conf/*/rp_filter",
        "cat /proc/sys/net/ipv4/ip_forward | tr 0 1",
        "cat /etc/motd",
        None,
    ],
)
def test_a_value_that_no_command_names_is_not_read(command: str | None) -> None:
    """A pattern or a pipe hides which file a line is from."""
    assert None is recognition.recognise(block("1", command))


@pytest.mark.parametrize(
    "line",
    [
        (
            "sysctl: cannot stat /proc/sys/net/bridge/bridge-nf-call-iptables: No such file or "
            "directory"
        ),
        "cat: /proc/sys/net/bridge/bridge-nf-call-iptables: No such file or directory",
        "cat: /proc/sys/net/bridge/bridge-nf-call-iptables: 没有那个文件或目录",
        "cat: /proc/sys/net/bridge/bridge-nf-call-iptables: Datei oder Verzeichnis nicht gefunden",
        'sysctl: error: "net.bridge.bridge-nf-call-iptables" is an unknown key',
        (
            "ls: cannot access '/proc/sys/net/bridge/bridge-nf-call-iptables': No such file or "
            "directory"
        ),
    ],
)
def test_a_key_that_does_not_exist_is_a_fact(line: str) -> None:
    """It means that the module is not loaded, in whatever language it is said."""
    records = read(block(line)).records

    assert [("net.bridge.bridge-nf-call-iptables", "", True)] == [
        (one.key, one.value, one.missing) for one in records if isinstance(one, SysctlRecord)
    ]


def test_a_missing_key_takes_no_value() -> None:
    """Of two files, one missing, the value is the other one's."""
    reading = read(block(
        "cat: /proc/sys/net/bridge/x: No such file or directory\n1",
        "cat /proc/sys/net/bridge/x /proc/sys/net/ipv4/ip_forward",
    ))  # fmt: skip

    assert {"net.ipv4.ip_forward": "1"} == settings(reading)
    assert 3 == sum(
        isinstance(record, SysctlRecord) for record in read(recorded("sysctl-missing")).records
    )


def test_an_empty_value_is_one_in_a_listing_only() -> None:
    """`ip_local_reserved_ports` is empty by default; a lone line that ends at the sign was cut."""
    rows = [f"net.ipv4.conf.veth{number}.rp_filter = 0" for number in range(30)]
    listing = read(block("\n".join([*rows, "net.ipv4.ip_local_reserved_ports = "])))

    assert ("", ()) == (settings(listing)["net.ipv4.ip_local_reserved_ports"], listing.gaps)
    assert [1] == [
        gap.span.line
        for gap in read(block("net.ipv4.ip_forward =\nnet.ipv4.tcp_syncookies = 1")).gaps
    ]


def test_a_key_that_was_never_set_is_no_gap() -> None:
    """sysctl complains of it among the output, even to root."""
    reading = read(
        block('net.ipv4.ip_forward = 1\nsysctl: reading key "net.ipv6.conf.all.stable_secret"')
    )

    assert ({"net.ipv4.ip_forward": "1"}, ()) == (settings(reading), reading.gaps)


def test_permission_denied_is_a_message() -> None:
    """It says nothing about the value, and is kept as what the kernel said."""
    reading = read(
        block(
            "net.ipv4.ip_forward = 1\nsysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'"
        )
    )

    said = [
        (record.kind, record.span.line)
        for record in reading.records
        if isinstance(record, MessageRecord)
    ]
    assert ({"net.ipv4.ip_forward": "1"}, [(MessageKind.SYSCTL_DENIED, 2)]) == (
        settings(reading),
        said,
    )


def test_a_configuration_file_says_what_is_wanted() -> None:
    """Its lines are marked; comments and `-key` lines are headings."""
    text = (
        "# routing\nnet.ipv4.ip_forward=1\n; old\nnet/ipv4/conf/eth0.5/rp_filter = 0\n"
        "-net.ipv4.conf.lo.rp_filter\n"
    )
    for source in (
        block(text, name="etc/sysctl.d/99-k8s.conf"),
        block(text, "cat /etc/sysctl.d/99-k8s.conf"),
    ):
        reading = read(source)
        assert {"net.ipv4.ip_forward": "1", "net.ipv4.conf.eth0/5.rp_filter": "0"} == settings(
            reading
        )
        assert {True} == {
            one.configured for one in reading.records if isinstance(one, SysctlRecord)
        }
        assert () == reading.gaps


def test_what_sysctl_system_applies_is_in_force() -> None:
    """`sysctl --system` prints each file and what it set."""
    reading = read(
        block(
            "* Applying /usr/lib/sysctl.d/50-default.conf ...\nnet.ipv4.conf.all.rp_filter = 2",
            "sysctl --system",
        )
    )

    assert [False] == [one.configured for one in reading.records if isinstance(one, SysctlRecord)]
    assert () == reading.gaps


def test_a_remark_behind_a_value_is_not_part_of_it() -> None:
    """People mark the line that matters."""
    assert {"net.ipv4.conf.all.rp_filter": "1"} == settings(
        read(block("net.ipv4.conf.all.rp_filter = 1   # <-- here"))
    )


@pytest.mark.parametrize(
    "text",
    [
        "net.ipv4.ip_forward must be 1 on every node",
        "net.ipv4.ip_forward = 1 must be set on every node",
        "Set net.ipv4.ip_forward = 1",
        "The file /proc/sys/net/ipv4/ip_forward holds it",
        "network = 10.0.0.0",
    ],
)
def test_sentences_are_no_settings(text: str) -> None:
    """Prose that names a sysctl does not state its value."""
    assert None is recognition.recognise(block(text))


STATED = "sysctl net.ipv4.ip_forward=0"


@pytest.mark.parametrize(
    ("before", "line", "is_state"),
    [
        ("", STATED, True),
        ("On the node:\n", STATED, True),
        ("The setting in force is:\n", "sysctl net.bridge.bridge-nf-call-iptables = 1", True),
        ("I ran this:\n", STATED, False),
        ("We fixed it by:\n", STATED, False),
        ("", "sysctl -w net.ipv4.ip_forward=0", False),
        ("", f"root@n1:~# {STATED}", False),
    ],
)
def test_a_bare_assignment_says_what_is_set(before: str, line: str, *, is_state: bool) -> None:
    """Without a prompt, `-w` and words of having done it; either way it is read as something."""
    lines = [*before.splitlines(), "```", line, "```"]
    readings = [recognition.read(source) for source in split_document("ticket.md", lines)]
    records = [record for reading in readings if reading is not None for record in reading.records]
    assert [is_state] == [isinstance(record, SysctlRecord) for record in records]
