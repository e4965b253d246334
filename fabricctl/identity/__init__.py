"""Which discovered switch is which planned one."""
