"""The node record: identities, states and what may become of them. Values and decisions, no storage."""
