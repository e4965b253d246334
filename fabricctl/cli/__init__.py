"""The command line: one file per command group; the only place that prints and picks the exit code."""
