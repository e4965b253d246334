"""Intended cabling: every plan format ends in one ``Fabric`` (see ``fabricctl.plan.model``)."""
