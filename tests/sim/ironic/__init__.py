"""Ironic and the BMC emulator of sushy-tools, as they come from PyPI, running on loopback.

Used by tests as a context manager, and by hand::

    python -m tests.sim.ironic --folder FOLDER    # writes a site file there; Ctrl-C ends it
"""

from __future__ import annotations

from tests.sim.ironic.services import IronicServices, IronicServicesError, ironic_services
from tests.sim.ironic.systems import BmcSystem

__all__ = ["BmcSystem", "IronicServices", "IronicServicesError", "ironic_services"]
