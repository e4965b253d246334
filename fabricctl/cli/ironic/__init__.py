"""``fabricctl ironic``: one file per command, registered in ``group.py``."""
