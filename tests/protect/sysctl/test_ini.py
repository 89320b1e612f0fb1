"""Files of sections are read line by line."""

from __future__ import annotations

from pathlib import Path

from podpath_protect.sysctl.ini import list_files, read_entries, scan_entries


def test_entries_know_their_section_and_line() -> None:
    """Comments and lines that are none are passed over."""
    found = list(scan_entries("# x=y\n[a]\nb = c d \n;e=f\nnothing\n[g h]\nk=\n"))

    assert [(entry.section, entry.key, entry.value, entry.line) for entry in found] == [
        ("a", "b", "c d", 3),
        ("g h", "k", "", 7),
    ]


def test_a_file_that_is_not_there_has_no_entries(tmp_path: Path) -> None:
    """What cannot be read says nothing."""
    assert read_entries(tmp_path / "none") == ()


def test_the_first_directory_counts(tmp_path: Path) -> None:
    """A file hides one of the same name in a later directory."""
    for directory, name in (("a", "1.conf"), ("b", "1.conf"), ("b", "0.conf")):
        (tmp_path / directory).mkdir(exist_ok=True)
        (tmp_path / directory / name).touch()

    assert list_files(tmp_path, ("a", "b"), "*.conf") == (
        tmp_path / "b/0.conf",
        tmp_path / "a/1.conf",
    )
