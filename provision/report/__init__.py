"""Results of provisioning as screens, JSON and CSV: values in, text out."""
