"""provision: BMC, MAAS, playbooks, bring-up and replacement of nodes.

It may import anything of ``fabricctl`` except ``fabricctl.cli``; nothing in ``fabricctl`` but its ``cli``
imports it. Its first modules arrive with the BMC driver; until then the package holds no commands.
"""
