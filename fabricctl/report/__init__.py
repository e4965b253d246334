"""A verdict made readable: terminal screen, JSON, CSV, Markdown, JUnit, Prometheus, HTML. Pure text in, text out."""
