"""provision: BMC, MAAS, playbooks, bring-up and replacement of nodes.

It may import anything of ``fabricctl`` except ``fabricctl.cli``; nothing in ``fabricctl`` but its ``cli``
imports it.
"""
