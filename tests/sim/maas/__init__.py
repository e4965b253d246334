"""A stand-in for the region API of MAAS 3.7.3, on loopback; see ``process.py`` (in a test) and ``__main__.py``."""
