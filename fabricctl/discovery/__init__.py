"""Observed cabling: parsers from text to an ``Observation`` (see ``fabricctl.discovery.model``)."""
