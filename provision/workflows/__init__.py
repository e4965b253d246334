"""Workflows: adapters driven by the decisions of the pure parts."""
