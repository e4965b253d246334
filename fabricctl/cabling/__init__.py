"""The verdict: an intended fabric against an observed one (see ``fabricctl.cabling.verify``)."""
