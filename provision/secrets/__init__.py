"""Where secrets are kept: by reference, in files of mode 0600, ansible-vault or a keyring; never in the state store."""
