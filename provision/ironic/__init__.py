"""The Ironic driver."""
