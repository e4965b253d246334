"""Canonical MAAS behind the provisioner interface: a client of our own, and an adapter of python-libmaas.

MAAS is spoken to as its release 3.7.3 behaves. Many sites run it over plain HTTP, MAAS's own default: the API key and
the BMC passwords then cross the network readable. Where it has a certificate, give ``https://`` in the site file.
"""
