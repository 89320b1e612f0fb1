"""What must not be in an image: each finding is a line, and an image with one is not written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from scripts.container.files import ImageFile, leads

MOST = 120_000_000
"""How many bytes the files of an image may have together."""
_SPECIAL = 0o6000
_ANYBODY = 0o002
_STICKY = 0o1000
_FORBIDDEN = (
    (
        "a compiler or an installer",
        re.compile(
            r"(?:.*/)?(?:[\w-]*(?:gcc|g\+\+|clang|cpp)(?:-[\d.]+)?|cc|c\+\+|as|ld|make|perl[\d.]*|"
            r"pip[\d.]*|apt(?:-get)?|dpkg|gdb)"
        ),
    ),
    ("a cache", re.compile(r"var/(?:cache|lib/apt)/.*|.*\.(?:deb|whl)|root/\.cache/.*")),
    ("a history", re.compile(r"(?:.*/)?\.\w*history")),
    (
        "a secret",
        re.compile(
            r"(?:.*/)?(?:\.?netrc|\.pypirc|\.git-credentials|\.git|\.ssh|pip\.conf|id_\w+|shadow-?|"
            r"kubeconfig|\.docker)(?:/.*)?"
        ),
    ),
)
_KEY = re.compile(rb"^-----BEGIN (?:\w+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}", re.MULTILINE)
_ADDRESS = re.compile(rb"https?://[^\s/@:'\"{}<>]+:[^\s/@:'\"{}<>]{8,}@")
_MODULES = (".py", ".pyc")
"""Where addresses with made-up passwords are examples in docstrings."""


def scan_tree(tree: Mapping[str, ImageFile]) -> Iterator[str]:
    """Yield what is wrong with the files of an image."""
    size = sum(len(file.data) for file in tree.values())
    if size > MOST:
        yield f"expected at most {MOST / 1e6:.0f} MB, saw {size / 1e6:.1f} MB"
    for name, file in sorted(tree.items()):
        for finding in _scan_file(name, file):
            yield f"/{name}: {finding}"
        if file.target and not leads(tree, name):
            yield f"/{name}: a link to nothing: {file.target}"


def _scan_file(name: str, file: ImageFile) -> Iterator[str]:
    if file.mode & _SPECIAL:
        yield f"setuid or setgid ({file.mode:o})"
    if not file.target and file.mode & _ANYBODY and not (file.folder and file.mode & _STICKY):
        yield f"anybody may write it ({file.mode:o})"
    for what, pattern in _FORBIDDEN:
        if pattern.fullmatch(name) and not file.folder:
            yield what
    if _KEY.search(file.data):
        yield "a private key"
    if not name.endswith(_MODULES) and _ADDRESS.search(file.data):
        yield "an address with a password"
