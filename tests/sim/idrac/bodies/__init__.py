"""Resource bodies of the simulated server, generated from its description and shaped after captures."""
