"""Adapters and pure logic put together: one module per job an operator asks for."""
