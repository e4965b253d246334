"""HTTP to whoever installs machines: what MAAS and Ironic have in common below what their answers mean."""
