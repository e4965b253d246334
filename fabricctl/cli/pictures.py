"""The picture of a verdict as the command writes it: page and static SVG from one set of data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricctl.cabling.verdict import Verdict
    from fabricctl.discovery.model import Observation
    from fabricctl.picture.data import PictureData
    from fabricctl.picture.former import Former
    from fabricctl.workflows.verify_cabling import Intent


class Pictures:
    """What ``--html``, ``--svg`` and ``--compare`` ask for, and HTML reports; the data are made when first needed.

    :param html: and :param svg: files to write, empty for none. :param compare: an earlier report, empty for none.
    """

    def __init__(self, html: str, svg: str, compare: str) -> None:
        self.html, self.svg, self.compare = html, svg, compare
        self._made: PictureData | None = None

    @property
    def paths(self) -> list[str]:
        """Files it writes."""
        return [path for path in (self.html, self.svg) if path]

    def take(self, intent: Intent, observation: Observation, verdict: Verdict, made: datetime) -> None:
        """Remember the verdict of this pass.

        :raises InputError: the earlier report cannot be read, or is one of another fabric.
        """
        self._of, self._made = (intent, observation, verdict, made), None
        if self.former is not None:  # a file that cannot be used is said before anything is written
            from fabricctl.workflows.picture_extras import check_former

            check_former(self.former, verdict, self.compare)

    @cached_property
    def former(self) -> Former | None:
        """The earlier run."""
        if not self.compare:
            return None
        from fabricctl.workflows.picture_extras import load_former

        return load_former(self.compare)

    @property
    def data(self) -> PictureData:
        """The data of the last verdict."""
        if self._made is None:
            from fabricctl.picture.data import picture_data
            from fabricctl.workflows.picture_extras import picture_extras

            intent, observation, verdict, made = self._of
            extras = picture_extras(intent, verdict, made=made, former=self.former, observation=observation)
            self._made = picture_data(verdict, extras)
        return self._made

    def page(self) -> str:
        """The HTML page."""
        from fabricctl.picture.page import render

        return render(self.data)

    def documents(self) -> Iterator[tuple[str, str]]:
        """(path, text) of every picture asked for."""
        if self.html:
            yield self.html, self.page()
        if self.svg:
            from fabricctl.picture.svg import render_svg

            yield self.svg, render_svg(self.data)
