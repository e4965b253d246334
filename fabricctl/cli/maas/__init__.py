"""``fabricctl maas``: one file per command, registered in ``group.py``."""
