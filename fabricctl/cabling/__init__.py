"""cabling."""
