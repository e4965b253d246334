"""Why the cabling is wrong: the largest explanations first."""
