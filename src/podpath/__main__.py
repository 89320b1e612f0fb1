"""`python -m podpath` is the command `podpath`."""

from podpath.cli.main import main

main()
