"""Which findings are new, open, gone or back: pure decisions over recorded runs."""
