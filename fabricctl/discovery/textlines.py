"""Lines of a discovery text, within bounds: what every parser that reads line by line begins with.

Nothing a tool prints comes near the bounds: a node description has at most 64 bytes (InfiniBand specification,
NodeDescription), and a line of any format here names two of them. A longer line is no line of such a tool, and an
expression that looks for its parts could take minutes to find that out.
"""

from __future__ import annotations

from fabricctl.errors import DiscoveryError

LONGEST_LINE = 4096
"""Characters of a line without the white space at its end."""


def lines_of(text: str, path: str = "", first: int = 1) -> list[str]:
    """The lines of a text, without line ends and white space before them.

    :param path: the file, for messages; :param first: number of the first line.
    :raises DiscoveryError: a line is longer than ``LONGEST_LINE``.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    if max(map(len, lines)) > LONGEST_LINE:
        number, line = next(pair for pair in enumerate(lines, first) if len(pair[1]) > LONGEST_LINE)
        message = f"the line is longer than {LONGEST_LINE:,} characters: it begins with {shown(line, 60)}"
        raise DiscoveryError(message, path=path, line=number)
    return lines


def shown(text: str, most: int = 100) -> str:
    """A foreign text for a message: trimmed, quoted, control characters escaped, at most ``most`` characters."""
    text = text.strip()
    return repr(text if len(text) <= most else text[: most - 3] + "...")
