"""`podpath capture`: what it prints of captures alone, its filters, its schema and its exit
codes.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from podpath.cli.main import podpath
from podpath.collect import captures
from tests.capture import frames
from tests.checks.made_captures import CLIENT, SERVER, exchange, handshake, tcp

WITHOUT_EXTRA = (
    "import sys; sys.modules['numpy'] = sys.modules['podpath_capture'] = None; "
    "from podpath.cli.main import main; main()"
)
"""The command where `podpath[capture]` is not installed."""
LOST = (*handshake(), tcp(1.04, f"{SERVER} > {CLIENT}", "S.", 77_000, 1001))
OTHER = "10.7.0.8.52000"


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """Write a printed capture of a connection whose ACK is lost, and of one that works."""
    path = tmp_path / "eth0.txt"
    path.write_text(
        "\n".join((*LOST, *handshake(2.0, OTHER, first=9000), *exchange(2.1, OTHER))) + "\n"
    )
    return path


def answer(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Run the command with `--json`; what it prints keeps to its schema."""
    done = CliRunner().invoke(podpath, ["capture", "--json", *map(str, arguments)])
    document: dict[str, Any] = json.loads(done.stdout)
    schema = json.loads(
        (Path(__file__).parents[2] / "src/podpath/report/schema/capture-v1.json").read_text()
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    return done.exit_code, document


def test_fault_of_a_printed_capture(printed: Path) -> None:
    """The first finding is the lost ACK, both connections are listed, and the exit code says that a
    fault was found.
    """
    code, document = answer(printed)

    assert (1, "fault", "lost-ack") == (code, document["verdict"], document["findings"][0]["check"])
    assert {"S1": 2} == document["states"]
    assert 2 == len(document["connections"])


def test_text_says_what_the_document_says(printed: Path) -> None:
    """The claim is the headline; points and connections follow."""
    shown = CliRunner().invoke(podpath, ["capture", str(printed)])

    assert shown.output.startswith(
        "FAULT: The handshake's ACK of tcp 10.7.0.5:41000 > 198.18.4.9:443 is lost"
    )
    assert "\nCaptured\n" in shown.output
    assert "\nConnections\n" in shown.output


@pytest.mark.parametrize(
    "filters",
    [
        ("--connection", f"tcp {OTHER} > {SERVER}"),
        ("--host", "10.7.0.8"),
        ("--connection", "198.18.4.9:443 > 10.7.0.8"),
        ("--port", "52000"),
    ],
)
def test_filters_narrow_to_a_connection(printed: Path, filters: tuple[str, ...]) -> None:
    """Whatever names the connection that works shows it alone, and nothing wrong."""
    code, document = answer(printed, *filters)

    assert (0, "none", []) == (code, document["verdict"], document["findings"])
    assert ["tcp 10.7.0.8:52000 > 198.18.4.9:443"] == [
        one["connection"] for one in document["connections"]
    ]


def test_filter_that_nothing_fits_is_a_usage_error(printed: Path, tmp_path: Path) -> None:
    """The message names connections that there are; nonsense is refused."""
    for words, expected in (
        ("10.9.9.9", "they show tcp 10.7.0.5:41000"),
        ("10.9.9", "expected an address"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "podpath", "capture", "--host", words, str(printed)],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip

        assert done.returncode == 2
        assert expected in done.stderr


def test_packed_capture_and_printed_one_say_the_same(tmp_path: Path) -> None:
    """A binary capture of the same packets leads to the same finding, its lines being packet
    numbers.
    """
    ends, back = ("10.7.0.5", "198.18.4.9"), ("198.18.4.9", "10.7.0.5")
    packets = [
        frames.ethernet(
            0x0800,
            frames.ipv4(6, frames.tcp(0x02, ports=(41000, 443), numbers=(1000, 0)), ends=ends),
        ),
        frames.ethernet(
            0x0800,
            frames.ipv4(6, frames.tcp(0x12, ports=(443, 41000), numbers=(77_000, 1001)), ends=back),
        ),
        frames.ethernet(
            0x0800,
            frames.ipv4(6, frames.tcp(0x10, ports=(41000, 443), numbers=(1001, 77_001)), ends=ends),
        ),
        frames.ethernet(
            0x0800,
            frames.ipv4(6, frames.tcp(0x12, ports=(443, 41000), numbers=(77_000, 1001)), ends=back),
        ),
    ]
    path = tmp_path / "eth0.pcap.gz"
    path.write_bytes(gzip.compress(frames.pcap(packets)))
    code, document = answer(path)

    assert (1, ["lost-ack"]) == (code, [finding["check"] for finding in document["findings"]])
    assert 4 == document["findings"][0]["evidence"][0]["line"]
    assert [4] == [point["packets"] for point in document["points"]]


def test_capture_without_packets_is_undecided(tmp_path: Path) -> None:
    """A text without a packet gives nothing to judge by."""
    path = tmp_path / "routes.txt"
    path.write_text("default via 10.7.0.1 dev eth0\n")

    assert (3, "undecided") == (answer(path)[0], answer(path)[1]["verdict"])


def test_unreadable_input_is_refused(tmp_path: Path) -> None:
    """A file that is not there ends with exit code 2."""
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "capture", str(tmp_path / "none.pcap")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (2, "") == (done.returncode, done.stdout)


def test_printed_captures_need_no_numpy(printed: Path) -> None:
    """Without the extra, text is read as ever, and a capture file is refused with what to
    install.
    """
    binary = printed.with_name("eth0.pcap")
    binary.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    shown, refused = (
        subprocess.run(
            [sys.executable, "-c", WITHOUT_EXTRA, "capture", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        for path in (printed, binary)
    )

    assert (1, "") == (shown.returncode, shown.stderr)
    assert "lost beyond" in shown.stdout
    assert refused.returncode == 2
    assert "pip install 'podpath[capture]'" in refused.stderr


def two_points(folder: Path) -> tuple[Path, Path]:
    """Write captures of two points, the second of which does not show the client's ACK."""
    there, back = ("10.7.0.5", "198.18.4.9"), ("198.18.4.9", "10.7.0.5")
    syn = frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(0x02, ports=(41000, 443), numbers=(1000, 0)), ends=there)
    )
    answer_ = frames.ethernet(
        0x0800,
        frames.ipv4(6, frames.tcp(0x12, ports=(443, 41000), numbers=(77_000, 1001)), ends=back),
    )
    ack = frames.ethernet(
        0x0800,
        frames.ipv4(6, frames.tcp(0x10, ports=(41000, 443), numbers=(1001, 77_001)), ends=there),
    )
    whole = frames.pcap([syn, answer_, ack, answer_, answer_])
    near, far = folder / "near.pcap", folder / "far.pcap"
    near.write_bytes(whole)
    size = 16 + len(syn)
    far.write_bytes(
        whole[:24] + b"".join(whole[24 + at * size : 24 + (at + 1) * size] for at in (0, 1, 3, 4))
    )
    return near, far


def test_loss_between_two_captures_is_named(tmp_path: Path) -> None:
    """The ACK that the second point does not show is lost between the two, and quoted where it was
    seen last.
    """
    code, document = answer(*two_points(tmp_path))
    lost = next(finding for finding in document["findings"] if finding["check"] == "lost-between")

    assert code == 1
    assert "ACK is lost between near.pcap and far.pcap" in lost["claim"]
    assert (str(tmp_path / "near.pcap"), 3) == (
        lost["evidence"][0]["source"],
        lost["evidence"][0]["line"],
    )


def test_ladder_is_drawn_in_the_terminal_and_as_svg(tmp_path: Path) -> None:
    """The connection that fails is drawn across both points, its lost packet marked, and written as
    a picture.
    """
    picture = tmp_path / "ladder.svg"
    files = [str(path) for path in two_points(tmp_path)]
    done = CliRunner().invoke(podpath, ["capture", "--ladder", "--svg", str(picture), *files])

    assert done.exit_code == 1
    assert "ACK lost between A and B" in done.output
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_ladder_of_printed_captures_alone_is_refused_or_drawn(
    printed: Path, tmp_path: Path
) -> None:
    """A drawing that cannot be made, or not be written, ends with exit code 2 and says why."""
    for arguments in (
        ("--ladder", "--host", "10.9.9.9"),
        ("--svg", str(tmp_path / "none" / "x.svg")),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "podpath", "capture", *arguments, str(printed)],
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 2
        assert done.stderr.startswith("podpath: ")


def test_ladder_is_drawn_of_a_connection_with_bytes_that_nobody_captured(tmp_path: Path) -> None:
    """A gap in what was captured is no reason not to draw the rest."""
    ends = ("10.7.0.5", "198.18.4.9")
    packets = [
        frames.ethernet(
            0x0800,
            frames.ipv4(
                6, frames.tcp(0x18, ports=(41000, 443), numbers=(seq, 1), data=b"x" * 10), ends=ends
            ),
        )
        for seq in (1000, 5000)
    ]
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap(packets))
    done = CliRunner().invoke(podpath, ["capture", "--ladder", str(path)])

    assert done.exit_code == 0, done.output
    assert "#2" in done.output


def test_connection_of_a_long_capture_is_shown_where_it_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long capture only what tells of a failure is looked at, and what is asked about."""
    monkeypatch.setattr(captures, "WHOLE", 2)
    packets = []
    for port in (41000, 41001):
        for back, flags, numbers in (
            (False, 0x02, (1000, 0)),
            (True, 0x12, (7, 1001)),
            (False, 0x10, (1001, 8)),
        ):
            ports, ends = (
                ((443, port), ("198.18.4.9", "10.7.0.5"))
                if back
                else ((port, 443), ("10.7.0.5", "198.18.4.9"))
            )
            packets.append(
                frames.ethernet(
                    0x0800,
                    frames.ipv4(6, frames.tcp(flags, ports=ports, numbers=numbers), ends=ends),
                )
            )
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap(packets))
    _, whole = answer(path)
    _, asked = answer(path, "--port", 41001)

    assert ([], {"S1": 2}) == (whole["connections"], whole["states"])
    assert [("tcp 10.7.0.5:41001 > 198.18.4.9:443", 4)] == [
        (one["connection"], one["evidence"]["line"]) for one in asked["connections"]
    ]


def test_connections_are_measured_where_asked(tmp_path: Path) -> None:
    """The table stands in the answer, the objects in its JSON, and all of it in a CSV file."""
    path, table = tmp_path / "eth0.pcap", tmp_path / "table.csv"
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    _, plain = answer(path, "--csv", table)
    _, measured = answer(path, "--connections", "--port", "80")
    ((one),) = measured["measured"]

    assert "measured" not in plain
    assert ("S0", "S", 1, None) == (
        one["state"], one["history"], one["client_packets"], one["rtt"]
    )  # fmt: skip
    assert len(table.read_text().splitlines()) == 2


def test_measures_are_written_as_parquet(tmp_path: Path) -> None:
    """With the columns of the CSV file, and numbers as numbers."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path, csv_file, file = (tmp_path / name for name in ("eth0.pcap", "table.csv", "table.parquet"))
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    answer(path, "--csv", csv_file, "--parquet", file)
    table = parquet.read_table(file)
    ((row),) = table.to_pylist()

    assert csv_file.read_text().splitlines()[0].split(",") == table.column_names
    assert ("S0", 1, 0, None, None) == (
        row["state"], row["client_packets"], row["dns_queries"], row["rtt"], row["throughput"]
    )  # fmt: skip


ALONE = """
import os, sys
from podpath.cli.main import run
run(["capture", sys.argv[1]])
assert "numpy" in sys.modules
sys.exit(f"{len(os.listdir('/proc/self/task'))} threads" if len(os.listdir("/proc/self/task")) > 1 else 0)
"""  # noqa: E501


def test_numpy_starts_no_threads(tmp_path: Path) -> None:
    """The library of matrices inside of NumPy is told to start none: nobody multiplies any, and
    each costs time to start.
    """
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))]))
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path)], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
