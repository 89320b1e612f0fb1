"""What the commands on the pages for learners print: written into them, and compared by tests.

    python scripts/page_answers.py            # write
    python scripts/page_answers.py --kernel   # those of experiments too, as root, on this kernel

A block of commands that is followed by `<!-- answer -->` holds commands of podpath, run from the
repository's folder; one that is followed by `<!-- kernel -->` is a script, run by bash in network
and mount namespaces of its own. What is printed stands in the block below.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from podpath.cli.main import run

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs/howto", "docs/explain")
PAGES = (ROOT / "docs" / "tutorial.md",)
BLOCK = re.compile(
    r"```sh\n(?P<commands>(?:(?!```)[^\n]*\n)+)```\n\n<!-- (?P<kind>answer|kernel) -->\n"
    r"(?P<shown>.*?)<!-- end -->\n",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Example:
    """Commands on a page, and the answer that stands below them."""

    commands: str
    kind: str
    shown: str

    def answer(self) -> str:
        """Run the commands, and return what they print, as it has to stand on the page."""
        printed = ask(self.commands) if self.kind == "answer" else try_out(self.commands)
        lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
        return "```text\n" + "\n".join(lines) + "\n```\n"


def list_pages() -> list[Path]:
    """Return the pages whose commands are run."""
    found = [path for name in FOLDERS for path in sorted((ROOT / name).glob("*.md"))]
    return [*PAGES, *found]


def list_examples(page: Path) -> list[Example]:
    """Return the examples of a page in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Example(block["commands"], block["kind"], block["shown"]) for block in BLOCK.finditer(text)
    ]


def ask(commands: str) -> str:
    """Run commands of podpath, and return what they print."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with chdir(ROOT), redirect_stdout(printed):
        for line in commands.replace("\\\n", " ").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "podpath", line
            run(arguments)
    printed.seek(0)
    return printed.read()


def try_out(script: str) -> str:
    """Run a script in a world of its own, which ends with it, and return what it prints."""
    world = ("unshare", "--net", "--mount", "--", "bash", "-euc")
    setup = "mount -t tmpfs none /run\nmount -t sysfs none /sys\nip link set lo up\n"
    done = subprocess.run(
        [*world, setup + script], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def renew(page: Path, *, kernel: bool) -> None:
    """Write the answers into a page."""

    def replace(block: re.Match[str]) -> str:
        if block["kind"] == "kernel" and not kernel:
            return block[0]
        answer = Example(block["commands"], block["kind"], block["shown"]).answer()
        start, end = block.span("shown")
        return block[0][: start - block.start()] + answer + block[0][end - block.start() :]

    text = page.read_text(encoding="utf-8")
    page.write_text(BLOCK.sub(replace, text), encoding="utf-8")


if __name__ == "__main__":
    for each in list_pages():
        renew(each, kernel="--kernel" in sys.argv)
