"""Reading a site file: text in, ``Site`` out, every error with file, line, key and the nearest valid word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fabricctl.errors import SiteError

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


class SiteErrors(SiteError):  # noqa: N818 - several of them
    """Several things wrong with one site file; as text the first one and how many more.

    :param errors: all of them in the file's order, at least two.
    """

    def __init__(self, errors: Sequence[SiteError]) -> None:
        first = errors[0]
        more = f"and {len(errors) - 1} more; fabricctl site check {first.path} lists them"
        super().__init__(first.message, path=first.path, line=first.line, hint=more)
        self.errors = tuple(errors)

    def at(self, path: str) -> SiteErrors:
        """Return the same errors carrying the file's path."""
        return SiteErrors([SiteError(e.message, path=e.path or path, line=e.line) for e in self.errors])


def load_site(text: str, path: str) -> Site:
    """Read a site file.

    :param text: YAML.
    :param path: the file as the operator wrote it, for messages and relative plan files.
    :raises SiteError: the first error; as :class:`SiteErrors` when there are several.
    """
    from pydantic import ValidationError  # with the schema a fifth of a second: only when a site is read

    from fabricctl.site.problems import problems_of
    from fabricctl.site.references import reference_problems
    from fabricctl.site.schema import Site
    from fabricctl.site.yaml_lines import read_yaml

    document = read_yaml(text, path)
    if document.data is None:
        raise SiteError("expected a site file with at least a name, found nothing", path=path)
    site = None
    try:
        site = Site.model_validate(document.data).read_from(document, path)
        problems = reference_problems(site)
    except ValidationError as exc:
        problems = problems_of(exc)
    errors = [SiteError(p.text, path=path, line=document.line_of(p.keys)) for p in problems]
    errors.sort(key=lambda error: error.line)
    if len(errors) > 1:
        raise SiteErrors(errors)
    if errors:
        raise errors[0]
    assert site is not None
    return site
