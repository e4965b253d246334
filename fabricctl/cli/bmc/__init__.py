"""``fabricctl bmc``: one file per group of commands, registered in ``group.py``."""
