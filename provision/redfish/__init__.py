"""Speaking Redfish: transports, sessions, trust, retries. I/O without decisions about nodes."""
