"""`podpath completion`: the shell's completion script."""

from __future__ import annotations

from typing import cast

import click
from click.shell_completion import ShellComplete, get_completion_class

from podpath.cli.main import podpath


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    Examples:
      eval "$(podpath completion bash)"
      podpath completion zsh > "${fpath[1]}/_podpath"
      podpath completion fish > ~/.config/fish/completions/podpath.fish
    """  # noqa: D301  # click wants the backspace itself
    kind = cast("type[ShellComplete]", get_completion_class(shell))
    click.echo(kind(podpath, {}, "podpath", "_PODPATH_COMPLETE").source())
