"""What BMCs say and what to ask of them: values and decisions over Redfish bodies, no I/O."""
