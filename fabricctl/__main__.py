"""``python -m fabricctl``: the command line without the console script."""

from fabricctl.cli.main import run

run()
