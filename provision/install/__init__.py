"""Installing hosts: values and decisions, whoever installs them."""
