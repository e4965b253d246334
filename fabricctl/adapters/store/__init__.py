"""The state store of a site: SQLAlchemy on SQLite or PostgreSQL; no other code knows SQL."""
