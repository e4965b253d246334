"""The light by which a node is found in its rack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Light:
    """An identify light as a resource shows it.

    :param path: of the resource; :param on: whether it marks the node; :param shown: the wire's value as text.
    :param on_body: and ``off_body``: what to write.
    """

    path: str
    on: bool
    shown: str
    on_body: Mapping[str, Any]
    off_body: Mapping[str, Any]

    @property
    def words(self) -> str:
        """``off``; where the wire has another word for it, ``off, shown as Lit``."""
        word = "on" if self.on else "off"
        return word if self.shown == word else f"{word}, shown as {self.shown}"


def read_light(body: Mapping[str, Any], *, idrac: bool = False) -> Light | None:
    """The light of a system or chassis, None when it shows none.

    ``LocationIndicatorActive`` where it is there; ``IndicatorLED``, which it replaced, else. An iDRAC9 6.x shows
    ``IndicatorLED: Lit`` while nothing is marked (capture of an R750), and ``Blinking`` for a marked node.
    """
    path, active, led = body.get("@odata.id"), body.get("LocationIndicatorActive"), body.get("IndicatorLED")
    if not isinstance(path, str):
        return None
    if isinstance(active, bool):
        key = "LocationIndicatorActive"
        return Light(path, active, "on" if active else "off", {key: True}, {key: False})
    if not isinstance(led, str) or not led:
        return None
    allowed = body.get("IndicatorLED@Redfish.AllowableValues")
    known = allowed if isinstance(allowed, list) else ["Blinking", "Lit", "Off"]
    lights = "Blinking" if "Blinking" in known else "Lit"
    dark = "Lit" if idrac else "Off"
    marked = led == "Blinking" or (led == "Lit" and not idrac)
    return Light(path, marked, led, {"IndicatorLED": lights}, {"IndicatorLED": dark})
