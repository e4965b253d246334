"""The MAAS driver."""
