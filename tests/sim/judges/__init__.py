"""Programs of others that judge the simulated BMC: each runs in an environment of its own, none is imported here."""
