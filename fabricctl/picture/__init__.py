"""The picture: one self-contained HTML file, and a static SVG."""
